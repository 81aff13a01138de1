#!lua flags=allow-oom
-- queue_purge.lua: removes jobs in any state.
-- KEYS  1 jobs  2 ids  3 waiting  4 ranked  5 delayed  6 dead  7 done  8 leased
-- ARGV  1 which: w waiting, y delayed, x dead, d done, l leased, a all
--       2 how many at most, up to 128; fewer if long  3 '1': leased ones, too
-- Returns {removed, 1 if there is more to do}. Errors: VERSION, LEASED.
-- Invariant: a leased job goes only if l or a and '1' ask for it; its worker is
-- then told that it is gone. Records are removed before numbers in places.
local v, most, gone = redis.call('HGET', KEYS[1], 'version'), ARGV[2] + 0, 0
local held, more, bytes = redis.call('ZCARD', KEYS[8]), 0, 0
if v ~= '1' and v then return redis.error_reply('VERSION ' .. v) end
if held > 0 and string.find('al', ARGV[1], 1, true) and ARGV[3] ~= '1' then
    return redis.error_reply('LEASED ' .. held .. ' jobs are leased')
end
local lists, del, ids, holes = {}, {}, {}, 0
for k, letters in ipairs({'wWa', 'wWa', 'yWa', 'xXa', 'dDa', 'lLa'}) do
    local on = string.find(letters, ARGV[1], 1, true) and most > gone
    local list = on and redis.call(k == 1 and 'LRANGE' or 'ZRANGE', KEYS[k + 2],
        0, most - gone - 1) or {}
    for i, name in ipairs(list) do
        local n = string.match(name, '^%d+') or ''
        bytes = bytes + redis.call('HSTRLEN', KEYS[1], n)
        if gone + i > 1 and bytes > 1048576 then list[i], more = nil, 1 end
        local q = list[i] and redis.call('HMGET', KEYS[1], n, n .. 's') or {}
        local v, s = q[1] or '', q[2] or 'W'
        if k == 1 and v == '' and list[i] then holes = holes + 1 end
        if list[i] and string.sub(s, 1, 1) == string.sub(letters, 2, 2) then
            for _, f in ipairs({'', 's', 'r'}) do del[#del + 1] = n .. f end
            local kind, len, at = string.match(v,
                '^%+........%-?%d+,%d+,(%d+),(%d+),%d+;()')
            local id = at and v:sub(at + kind, at + kind + len - 1) or ''
            local own = redis.call('HGET', KEYS[2], id) or ''
            if string.match(own, '^%d+') == n then ids[#ids + 1] = id end
        end
    end
    lists[k], gone = list, gone + #list
end
if #del > 0 then redis.call('HDEL', KEYS[1], unpack(del)) end
if #ids > 0 then redis.call('HDEL', KEYS[2], unpack(ids)) end
if holes > 0 then redis.call('HINCRBY', KEYS[1], 'holes', -holes) end
for k, list in ipairs(lists) do
    if k == 1 and #list > 0 then redis.call('LPOP', KEYS[3], #list)
    elseif #list > 0 then redis.call('ZREM', KEYS[k + 2], unpack(list)) end
end
return {gone, gone == most and 1 or more}
