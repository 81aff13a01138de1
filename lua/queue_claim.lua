#!lua flags=allow-oom
-- queue_claim.lua: the next jobs are leased.
-- KEYS  1 jobs  2 waiting  3 ranked  4 leased
-- ARGV  1 worker  2 op  3 lease in ms  4 how many at most, at least 1
-- Returns {us of the server, when more are due, how many were passed over, or
-- -1: others are held back, then number, record, state of each}; or {} when
-- this op was done: queue_held tells what came of it. Errors: VERSION.
-- Invariant: a job is leased, with a larger token than any, before it stops
-- waiting. What has no record, or is leased or over, waits no more.
local t, want, get, held = redis.call('TIME'), tonumber(ARGV[4]), {}, ''
local now, set, add, seen = t[1] * 1000000 + t[2], {}, {}, {}
local list, k = redis.call('LRANGE', KEYS[2], 0, want - 1), 0
local front, rank = #list, #list < want and
    redis.call('ZRANGE', KEYS[3], 0, want - #list - 1) or {}
for _, n in ipairs(rank) do list[#list + 1] = n end
for i, n in ipairs(list) do get[2 * i - 1], get[2 * i] = n, n .. 's' end
local q = redis.call('HMGET', KEYS[1], 'version', 'c' .. ARGV[1], 'fence',
    'stopped', 'due', 'limit', unpack(get))
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if string.match(q[2] or '', '^%d+') == ARGV[2] then return {} end
local room = q[4] and 0 or q[6] and q[6] - redis.call('ZCARD', KEYS[4]) or want
local token, reply = math.max(tonumber(q[3]) or 0, now - 1),
    {now, q[5] or '', 0}
for i, n in ipairs(list) do
    local rec, s = q[5 + 2 * i], q[6 + 2 * i] or 'W 0 0 0 0 -'
    local rest = rec and not seen[n] and string.match(s, '^W %d+ (.*)$')
    if rest and #add >= 2 * room then break end
    k, seen[n] = i, true
    if rest then
        token, held = token + 1, held .. ' ' .. n
        s = string.format('L %.0f ', token) .. string.sub(rest, 1, 256)
        s, add[#add + 1] = s .. ' ' .. ARGV[1], math.floor(now / 1000) + ARGV[3]
        add[#add + 1], set[#set + 1], set[#set + 2] = n, n .. 's', s
        for _, v in ipairs({n, rec, s}) do reply[#reply + 1] = v end
    end
end
reply[3] = k < #list and -1 or k - #add / 2
if #add > 0 then
    redis.call('ZADD', KEYS[4], unpack(add))
    redis.call('HSET', KEYS[1], 'fence', string.format('%.0f', token),
        'c' .. ARGV[1], ARGV[2] .. held, unpack(set))
end
if front > 0 and k > 0 then redis.call('LPOP', KEYS[2], math.min(k, front)) end
if k > front then redis.call('ZREM', KEYS[3], unpack(rank, 1, k - front)) end
return reply
