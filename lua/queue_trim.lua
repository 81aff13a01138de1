#!lua flags=allow-oom
-- queue_trim.lua: what was kept long enough goes.
-- KEYS  1 jobs  2 done  3 dead  4 ids
-- ARGV  1 how many done ones may be kept  2 how many dead ones  3 ms for which
--       dead ones are kept, 0: for ever  4 how many go at most, up to 128, of
--       long ones fewer
-- Returns {gone, 1 when there is more to do}. Errors: VERSION.
-- Invariant: only what has ended goes. Records go before their places, so that
-- a step that fails in the middle is done again.
local t, most, gone, more = redis.call('TIME'), tonumber(ARGV[4]), 0, 0
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local v, bytes = redis.call('HGET', KEYS[1], 'version'), 0
if v ~= '1' and v then return redis.error_reply('VERSION ' .. v) end
local function trim(place, letter, room, till)
    local over = math.max(redis.call('ZCARD', place) - room,
        redis.call('ZCOUNT', place, '-inf', till))
    if over > most then more = 1 end
    if math.min(over, most) <= 0 then return end
    local list = redis.call('ZRANGE', place, 0, math.min(over, most) - 1)
    local get, del, ids = {}, {'-'}, {'-'}
    for i, n in ipairs(list) do
        bytes = bytes + redis.call('HSTRLEN', KEYS[1], n)
        if i > 1 and bytes > 1048576 then list[i], more = nil, 1
        else get[2 * i - 1], get[2 * i] = n, n .. 's' end
    end
    local q = redis.call('HMGET', KEYS[1], unpack(get))
    for i, n in ipairs(list) do
        if string.sub(q[2 * i] or letter, 1, 1) == letter then
            for _, v in ipairs({n, n .. 's', n .. 'r'}) do del[#del + 1] = v end
            local kind, len, at = string.match(q[2 * i - 1] or '',
                '^%+........%-?%d+,%d+,(%d+),(%d+),%d+;()')
            local id = at and string.sub(q[2 * i - 1], at + kind,
                at + kind + len - 1) or ''
            local own = id ~= '' and redis.call('HGET', KEYS[4], id) == n
            ids[#ids + 1] = own and id or nil
        end
    end
    redis.call('HDEL', KEYS[1], unpack(del))
    redis.call('HDEL', KEYS[4], unpack(ids))
    redis.call('ZREM', place, unpack(list))
    gone, most = gone + #list, most - #list
end
trim(KEYS[2], 'D', ARGV[1], ms)
trim(KEYS[3], 'X', ARGV[2], ARGV[3] == '0' and '-inf' or ms - ARGV[3])
return {gone, more}
