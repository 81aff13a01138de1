#!lua flags=allow-oom
-- queue_claim.lua: the next jobs are leased.
-- KEYS  1 jobs  2 waiting  3 ranked  4 leased
-- ARGV  1 worker  2 op  3 lease in ms  4 how many at most, at least 1
-- Returns {us of the server, when more are due, how many were passed over, or
-- -1: others are held back, then number, record, state of each, up to 1 MiB and
-- what begins below}; {}: this op was done, see queue_held. Errors: VERSION.
-- Invariant: a job is leased, with a larger token than any, before it stops
-- waiting. What has no record, or is leased or over, waits no more.
local t, want, get, held = redis.call('TIME'), tonumber(ARGV[4]), {}, {}
local now, set, add, seen = t[1] * 1000000 + t[2], {}, {}, {}
local list, k, got = redis.call('LRANGE', KEYS[2], 0, want - 1), 0, 0
local bytes, front, rank = 0, #list, #list < want and
    redis.call('ZRANGE', KEYS[3], 0, want - #list - 1) or {}
for _, n in ipairs(rank) do list[#list + 1] = n end
for i, n in ipairs(list) do get[2 * i - 1], get[2 * i] = n, n .. 's' end
local q = redis.call('HMGET', KEYS[1], 'version', 'c' .. ARGV[1], 'fence',
    'stopped', 'due', 'limit', unpack(get))
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if string.match(q[2] or '0', '^%d+') + 0 >= ARGV[2] + 0 then return {} end
local room = q[4] and 0 or q[6] and q[6] - redis.call('ZCARD', KEYS[4]) or want
local token, reply = math.max(tonumber(q[3]) or 0, now - 1),
    {now, q[5] or '', 0}
for i, n in ipairs(list) do
    local rec, s, rest = q[5 + 2 * i], q[6 + 2 * i], '0 0 0 -'
    if s then rest = string.match(string.sub(s, 1, 256), '^W %d+ (.*)$') end
    if rec and rest and not seen[n] then
        if got >= room or bytes > 1048576 then break end
        got, token, held[got + 1], bytes = got + 1, token + 1, n, bytes + #rec
        s = string.format('L %.0f ', token) .. rest .. ' ' .. ARGV[1]
        add[2 * got - 1], add[2 * got] = math.floor(now / 1000) + ARGV[3], n
        set[2 * got - 1], set[2 * got] = get[2 * i], s
        reply[3 * got + 1], reply[3 * got + 2], reply[3 * got + 3] = n, rec, s
    end
    k, seen[n] = i, true
end
reply[3] = k < #list and got >= room and -1 or k - got
if got > 0 then
    redis.call('ZADD', KEYS[4], unpack(add))
    redis.call('HSET', KEYS[1], 'fence', string.format('%.0f', token),
        'c' .. ARGV[1], ARGV[2] .. ' ' .. table.concat(held, ' '), unpack(set))
end
if front > 0 and k > 0 then redis.call('LPOP', KEYS[2], math.min(k, front)) end
if k > front then redis.call('ZREM', KEYS[3], unpack(rank, 1, k - front)) end
return reply
