#!lua flags=allow-oom
-- queue_pick.lua: the next jobs of one type are leased.
-- KEYS  1 jobs  2 waiting or ranked  3 leased
-- ARGV  1 worker  2 op  3 lease in ms  4 how many at most  5 type  6 where to
--       begin, 0 at first  7 how many to look at, up to 1000  8 w or r
-- Returns as queue_claim does, but third: where to go on, or -1: that was all.
-- Invariant: as queue_claim's. Where a job waited there is no job any more.
local t, from, get, size = redis.call('TIME'), tonumber(ARGV[6]), {}, 0
local now, set, add, held, gone, k = t[1] * 1000000 + t[2], {}, {}, '', {}, 0
local list = redis.call(ARGV[8] == 'w' and 'LRANGE' or 'ZRANGE', KEYS[2], from,
    from + ARGV[7] - 1)
for i, n in ipairs(list) do get[2 * i - 1], get[2 * i] = n, n .. 's' end
local q = redis.call('HMGET', KEYS[1], 'version', 'c' .. ARGV[1], 'fence',
    'stopped', 'due', 'limit', unpack(get))
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if string.match(q[2] or '0', '^%d+') + 0 >= ARGV[2] + 0 then return {} end
local room = q[4] and 0 or q[6] and q[6] - redis.call('ZCARD', KEYS[3]) or 1000
local token, reply = math.max(q[3] or 0, now - 1), {now, q[5] or '', -1}
for i, n in ipairs(list) do
    local rec, s = q[5 + 2 * i] or '', q[6 + 2 * i] or 'W 0 0 0 0 -'
    local len, at = string.match(rec, '^%+........%-?%d+,%d+,(%d+),%d+,%d+;()')
    local rest = at and string.sub(rec, at, at + len - 1) == ARGV[5] and
        not gone[n] and string.match(s, '^W %d+ (.*)$')
    if #add >= 2 * math.min(room, ARGV[4]) or size > 2 ^ 20 then break end
    k = i
    if rest then
        token, held, gone[n] = token + 1, held .. ' ' .. n, from + i - 1
        s, size = string.format('L %.0f ', token), size + #rec
        s = s .. string.sub(rest, 1, 256) .. ' ' .. ARGV[1]
        add[#add + 1], add[#add + 2] = math.floor(now / 1000) + ARGV[3], n
        set[#set + 1], set[#set + 2] = n .. 's', s
        for _, v in ipairs({n, rec, s}) do reply[#reply + 1] = v end
    end
end
local left = ARGV[8] == 'w' and 0 or #add / 2
if k < #list or #list == tonumber(ARGV[7]) then reply[3] = from + k - left end
if #add == 0 then return reply end
redis.call('ZADD', KEYS[3], unpack(add))
redis.call('HSET', KEYS[1], 'fence', string.format('%.0f', token),
    'c' .. ARGV[1], ARGV[2] .. held, unpack(set))
for n, i in pairs(gone) do
    local w = ARGV[8] == 'w'
    redis.call(w and 'LSET' or 'ZREM', KEYS[2], w and i or n, '-')
end
return reply
