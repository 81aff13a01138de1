#!lua flags=allow-oom
-- queue_claim.lua: leases the next jobs.
-- KEYS  1 jobs  2 waiting  3 ranked  4 leased
-- ARGV  1 worker  2 op  3 lease in ms  4 how many, 1 at least  5 bytes at most
-- Returns {server us, when more are due, how many numbers were skipped or -1:
-- throttled, then number, record, state of each}; {}: done, see queue_recall.
-- Invariant: a job is leased, under the largest token, before it stops waiting.
local call, want, got, bytes, k, o = redis.call, ARGV[4] + 0, 0, 0, 0, -5
local t, get, held, set, add = call('TIME'), {}, {}, {}, {0, ('.'):rep(65)}
local now, ids = t[1] * 1000000 + t[2], call('LRANGE', KEYS[2], 0, want - 1)
local ms, front = math.floor(now / 1000) + ARGV[3] .. '', #ids
local rank = front < want and call('ZRANGE', KEYS[3], 0, want - front - 1) or {}
for _, n in ipairs(rank) do ids[#ids + 1] = n end
for i, n in ipairs(ids) do k, get[2 * i - 1], get[2 * i] = i, n, n .. 's' end
local function some(i) return call('HMGET', KEYS[1], 'version', 'c' .. ARGV[1],
    'fence', 'stopped', 'due', 'limit', unpack(get, i, (i == 1 or bytes > 65536)
    and math.min(i + 31, #get) or #get)) end
local q = some(1)
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if string.match(q[2] or '0', '^%d+') + 0 >= ARGV[2] + 0 then return {} end
local room = q[4] and 0 or q[6] and q[6] - call('ZCARD', KEYS[4]) or want
local token, to, most = math.max(q[3] or 0, now - 1), {}, ARGV[5] + 0
for i, n in ipairs(ids) do
    if q[2 * i - o] == nil then q, o = some(2 * i - 1), 2 * i - 7 end
    local v, s = q[2 * i - o], q[2 * i - o + 1]
    local rest = not s and '0 0 0 -' or s:sub(1, 256):match('^W %d+ (.*)$')
    if v and rest and not held[n] then
        bytes = bytes + #v + #rest + #ARGV[1] + 99
        if got >= room or got > 0 and bytes > most then k = i - 1 break end
        got, token, held[got + 1], held[n] = got + 1, token + 1, n, true
        s = string.format('L %.0f ', token) .. rest .. ' ' .. ARGV[1]
        add[2 * got + 1], add[2 * got + 2], set[2 * got - 1] = ms, n, get[2 * i]
        set[2 * got], to[3 * got - 2], to[3 * got - 1], to[3 * got] = s, n, v, s
    end
end
if got > 0 then -- a long name makes an index of what is walked through else
    call('ZADD', KEYS[4], unpack(add, got > 16 and 1 or 3))
    if got > 16 then call('ZREM', KEYS[4], add[2]) end
    call('HSET', KEYS[1], 'fence', string.format('%.0f', token), 'c' .. ARGV[1],
        ARGV[2] .. ' ' .. table.concat(held, ' '), unpack(set))
end
if k > got then call('HINCRBY', KEYS[1], 'holes', got - k) end
if front > 0 and k > 0 then call('LPOP', KEYS[2], math.min(k, front)) end
if k > front then call('ZREM', KEYS[3], unpack(rank, 1, k - front)) end
return {now, q[5] or '', k < #ids and got >= room and -1 or k - got, unpack(to)}
