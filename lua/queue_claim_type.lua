#!lua flags=allow-oom
-- queue_claim_type.lua: leases the next jobs of one type.
-- KEYS  1 jobs  2 waiting  3 ranked  4 leased
-- ARGV  as of queue_claim, then 6 type  7 score to begin after, -inf at first
-- Returns as queue_claim, but third a letter, then where to go on: m more may
-- follow, e the end, h throttled; or w alone: queue_rank comes first.
-- Invariant: as of queue_claim.
local t, want, at, gone, k = redis.call('TIME'), ARGV[4] + 0, ARGV[7], {}, 0
local got, sum, top, get, add, set, held, rec = 0, 0, 1048576, {}, {}, {}, ''
local now, q = t[1] * 1000000 + t[2], redis.call('HMGET', KEYS[1], 'version',
    'c' .. ARGV[1], 'fence', 'stopped', 'due', 'limit')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if string.match(q[2] or '0', '^%d+') + 0 >= ARGV[2] + 0 then return {} end
local reply, token = {now, q[5] or '', 'w'}, math.max(q[3] or 0, now - 1)
if redis.call('LLEN', KEYS[2]) > 0 then return reply end
local list = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. at, '+inf',
    'WITHSCORES', 'LIMIT', 0, 128)
local room = q[4] and 0 or q[6] and q[6] - redis.call('ZCARD', KEYS[4]) or 999
for i = 1, #list, 2 do get[i], get[i + 1] = list[i], list[i] .. 's' end
for i = 1, #list, 2 do
    local n, j, to = list[i], (i - 1) % 32, math.min(i + 31, #list)
    rec = j > 0 and rec or redis.call('HMGET', KEYS[1], unpack(get, i, to))
    local v, s = rec[j + 1] or '', rec[j + 2] or 'W 0 0 0 0 -'
    local rest = string.match(string.sub(s, 1, 256), '^W %d+ (.*)$')
    local long, p = string.match(v, '^%+........%-?%d+,%d+,(%d+),%d+,%d+;()')
    local own = p and rest and string.sub(v, p, p + long - 1) == ARGV[6]
    sum = sum + #v + #s + #ARGV[1] + 99
    if k > 0 and sum > top or own and got >= math.min(want, room) then break end
    if own or v == '' or not rest then gone[#gone + 1] = n end
    if own then
        got, token, held = got + 1, token + 1, held .. ' ' .. n
        s = string.format('L %.0f ', token) .. rest .. ' ' .. ARGV[1]
        add[2 * got - 1], add[2 * got] = math.floor(now / 1000) + ARGV[3], n
        set[2 * got - 1], set[2 * got] = n .. 's', s
        reply[3 * got + 1], reply[3 * got + 2], reply[3 * got + 3] = n, v, s
    end
    k, at, top = i + 1, list[i + 1], got > 0 and ARGV[5] + 0 or top
end
reply[3] = (k == #list and k < 256 and 'e' or got >= room and 'h' or 'm') .. at
if #gone == 0 then return reply end
if got > 0 then redis.call('ZADD', KEYS[4], unpack(add)) end
redis.call('HSET', KEYS[1], 'fence', string.format('%.0f', token),
    'c' .. ARGV[1], ARGV[2] .. ' ' .. held, unpack(set))
redis.call('ZREM', KEYS[3], unpack(gone))
return reply
