#!lua flags=allow-oom
-- queue_trim.lua: deletes jobs that were kept for long enough.
-- KEYS  1 jobs  2 done  3 dead  4 ids
-- ARGV  1 how many done jobs may be kept  2 how many dead ones  3 ms for which
--       dead jobs are kept, 0: for ever  4 how many to remove at most, up to
--       128; fewer if they are long
-- Returns {removed, 1 if there is more to do}. Errors: VERSION.
-- Invariant: only jobs that have ended are removed. Records are removed before
-- the numbers in the places, so that a step that fails in the middle is done
-- again.
local t, most, more, bytes = redis.call('TIME'), tonumber(ARGV[4]), 0, 0
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local v, gone, del, ids = redis.call('HGET', KEYS[1], 'version'), 0, {}, {}
if v ~= '1' and v then return redis.error_reply('VERSION ' .. v) end
local function ended(place, letter, room, till)
    local over, get, list = math.max(redis.call('ZCARD', place) - room,
        redis.call('ZCOUNT', place, '-inf', till)), {}, {}
    if over > most - gone then over, more = most - gone, 1 end
    if over > 0 then list = redis.call('ZRANGE', place, 0, over - 1) end
    for i, n in ipairs(list) do
        bytes = bytes + redis.call('HSTRLEN', KEYS[1], n)
        if gone + i > 1 and bytes > 1048576 then list[i], more = nil, 1
        else get[2 * i - 1], get[2 * i] = n, n .. 's' end
    end
    local q = get[1] and redis.call('HMGET', KEYS[1], unpack(get))
    for i, n in ipairs(list) do
        if string.sub(q[2 * i] or letter, 1, 1) == letter then
            for _, f in ipairs({'', 's', 'r'}) do del[#del + 1] = n .. f end
            local kind, len, at = string.match(q[2 * i - 1] or '',
                '^%+........%-?%d+,%d+,(%d+),(%d+),%d+;()')
            local id = at and string.sub(q[2 * i - 1], at + kind,
                at + kind + len - 1) or ''
            ids[#ids + 1] = redis.call('HGET', KEYS[4], id) == n and id or nil
        end
    end
    gone = gone + #list
    return list
end
local done, dead = ended(KEYS[2], 'D', ARGV[1], ms), ended(KEYS[3], 'X',
    ARGV[2], ARGV[3] == '0' and '-inf' or ms - ARGV[3])
if #del > 0 then redis.call('HDEL', KEYS[1], unpack(del)) end
if #ids > 0 then redis.call('HDEL', KEYS[4], unpack(ids)) end
if #done > 0 then redis.call('ZREM', KEYS[2], unpack(done)) end
if #dead > 0 then redis.call('ZREM', KEYS[3], unpack(dead)) end
return {gone, more}
