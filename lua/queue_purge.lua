#!lua flags=allow-oom
-- queue_purge.lua: jobs go, whatever became of them.
-- KEYS  1 jobs  2 ids  3 waiting  4 ranked  5 delayed  6 dead  7 done  8 leased
-- ARGV  1 which: w waiting, y delayed, x dead, d done, l leased, a all
--       2 how many at most, up to 128  3 '1': leased ones, too
-- Returns {gone, 1 when there is more to do}. Errors: VERSION, LEASED.
-- Invariant: what is leased stays unless it was asked for; its owner is then
-- told that it is gone. Records go before their places.
local v, most, gone = redis.call('HGET', KEYS[1], 'version'), ARGV[2] + 0, 0
local held = redis.call('ZCARD', KEYS[8])
if v ~= '1' and v then return redis.error_reply('VERSION ' .. v) end
if held > 0 and string.find('al', ARGV[1], 1, true) and ARGV[3] ~= '1' then
    return redis.error_reply('LEASED ' .. held .. ' jobs are leased')
end
for k, letters in ipairs({'wWa', 'wWa', 'yWa', 'xXa', 'dDa', 'lLa'}) do
    local place, list, get, del, ids = KEYS[k + 2], {}, {}, {'-'}, {'-'}
    if string.find(letters, ARGV[1], 1, true) and most > gone then
        list = redis.call(k == 1 and 'LRANGE' or 'ZRANGE', place, 0,
            most - gone - 1)
    end
    for i, n in ipairs(list) do
        n = string.match(n, '^%d+') or ''
        get[2 * i - 1], get[2 * i] = n, n .. 's'
    end
    local q = #list > 0 and redis.call('HMGET', KEYS[1], unpack(get)) or {}
    for i = 1, 2 * #list, 2 do
        local n, rec, s = get[i], q[i] or '', q[i + 1] or 'W'
        local kind, len, at = string.match(rec,
            '^%+........%-?%d+,%d+,(%d+),(%d+),%d+;()')
        local id = at and string.sub(rec, at + kind, at + kind + len - 1) or ''
        if string.sub(s, 1, 1) == string.sub(letters, 2, 2) then
            for _, f in ipairs({'', 's', 'r'}) do del[#del + 1] = n .. f end
            local own = redis.call('HGET', KEYS[2], id) or ''
            if string.match(own, '^%d+') == n then ids[#ids + 1] = id end
        end
    end
    if #list > 0 then
        redis.call('HDEL', KEYS[1], unpack(del))
        redis.call('HDEL', KEYS[2], unpack(ids))
        gone = gone + #list
        redis.call(k == 1 and 'LPOP' or 'ZREM', place,
            unpack(k == 1 and {#list} or list))
    end
end
return {gone, gone == most and 1 or 0}
