#!lua flags=allow-oom
-- queue_repair.lua: puts a job that is missing in its place back there.
-- KEYS  1 jobs  2 waiting  3 ranked  4 delayed  5 leased  6 done  7 dead
-- ARGV  1 number  2 ms that its worker has to renew a lease  3 ms for which a
--       result is kept
-- Returns letters: h future numbers and tokens exceed the job's; g it had no
-- record, the rest was removed; s its state cannot be read: it is dead; y it
-- waits; l it is leased; d it is done; x it is dead; u its record or numbers
-- cannot be read: nothing changed; none: all was well. Errors: VERSION.
-- Invariant: a job in its place stays. The worker of a leased job may keep the
-- job; no other gets it for ARGV[2] ms. After y, queue_promote is to follow.
local t, n, call, did = redis.call('TIME'), ARGV[1], redis.call, ''
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local q = call('HMGET', KEYS[1], 'version', 'seq', 'fence', 'due', n, n .. 's')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if not q[5] then return call('HDEL', KEYS[1], n .. 's', n .. 'r') > 0 and 'g'
    or '' end
local is, token = string.match(q[6] or 'W 0 0 0 0 -',
    '^([WLDX]) (%d+) %d+ %d+ %d+ %S')
local rec, seq, fence = q[5], (q[2] or 0) + 0, (q[3] or 0) + 0
local high, last = math.max(n + 0, seq), math.max((token or 0) + 0, fence)
local sound = string.match(rec, #rec < 19 and '^%.....' or '^[%.%+]')
if not sound or math.max(high, last) > 2 ^ 52 then return 'u' end
local rank = string.match(rec, '^%+........(%-?%d+),') or '0'
local late, at = n .. (rank == '0' and '' or ',' .. rank), ms * 1024 + n % 1024
local place = ({L = 5, D = 6, X = 7})[is or 'X']
local there = place and is and call('ZSCORE', KEYS[place], n) or
    is == 'W' and (call('ZSCORE', KEYS[3], n) or call('ZSCORE', KEYS[4], n) or
        call('ZSCORE', KEYS[4], late) or call('LPOS', KEYS[2], n))
if high > seq or last > fence then
    call('HSET', KEYS[1], 'seq', string.format('%.0f', high), 'fence',
        string.format('%.0f', last))
    did = 'h'
end
if there then return did end
if is == 'W' then
    call('ZADD', KEYS[4], at, late)
    call('HSET', KEYS[1], 'due', string.format('%.0f',
        math.min(tonumber(q[4]) or at, at)))
    return did .. 'y'
end
call('ZADD', KEYS[place], ms + (place < 7 and ARGV[place - 3] or 0), n)
if not is then call('HSET', KEYS[1], n .. 's', 'X 0 0 0 0 -', n .. 'r',
    'xits state could not be read') end
return did .. (is and string.lower(is) or 's')
