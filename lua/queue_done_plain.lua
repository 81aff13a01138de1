#!lua flags=allow-oom
-- queue_done_plain.lua: ends done jobs of which nothing is kept.
-- KEYS  1 jobs  2 leased
-- ARGV  1 worker  2 op  then number and token of each job
-- Returns a letter for each job: d done, l lost, g gone. A repeat of the last
-- op gets the same letters, an older op none. Errors: VERSION.
-- Invariant: a job that is not leased under its token does not change. Records
-- are removed before leases, as a lease without a record counts for nothing.
local ask, gone, out, said = {'version', 'd' .. ARGV[1], 'done'}, {}, {}, {}
local find, got = string.find, 0
for i = 3, #ARGV, 2 do ask[(i + 5) / 2] = ARGV[i] .. 's' end
local q = redis.call('HMGET', KEYS[1], unpack(ask))
local op, before = string.match(q[2] or '', '^(%d+) (%a*)')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if op and op + 0 >= ARGV[2] + 0 then return op == ARGV[2] and before or '' end
for i = 3, #ARGV, 2 do
    local n, k, s = ARGV[i], 3 * got, q[(i + 5) / 2]
    local mine = s and find(s, 'L ' .. ARGV[i + 1] .. ' ', 1, true) == 1
    said[(i - 1) / 2] = mine and 'd' or s and 'l' or 'g'
    if mine then
        got = got + 1
        out[got], gone[k + 1], gone[k + 2], gone[k + 3] =
            n, n, n .. 's', n .. 'r'
    end
end
said = table.concat(said)
if got > 0 then
    redis.call('HDEL', KEYS[1], unpack(gone))
    redis.call('ZREM', KEYS[2], unpack(out))
end
redis.call('HSET', KEYS[1], 'd' .. ARGV[1], ARGV[2] .. ' ' .. said,
    'done', (tonumber(q[3]) or 0) + got)
return said
