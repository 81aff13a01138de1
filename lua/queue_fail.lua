#!lua flags=allow-oom
-- queue_fail.lua: retries, postpones or buries jobs.
-- KEYS  1 jobs  2 leased  3 delayed  4 dead
-- ARGV  1 worker  2 op  then name, token, verdict, ms to wait and error of each
--       job. A name is 'number' or 'number,rank'. Verdicts: r retry, s snooze
--       (the attempt does not count), x dead
-- Returns a letter for each job: d done, l lost, g gone. A repeat of the last
-- op gets the same letters, an older op none. Errors: VERSION.
-- The reply_to channel of a job that is dead now gets 'number x error'.
-- Invariant: a job that is not leased under its token does not change. A job is
-- in its new place before it leaves the old one. No cancelled job is retried.
local t = redis.call('TIME')
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local ask, said, out = {'version', 'f' .. ARGV[1], 'due'}, '', {}
for i = 3, #ARGV, 5 do ask[#ask + 1] = string.match(ARGV[i], '^%d+') .. 's' end
local q = redis.call('HMGET', KEYS[1], unpack(ask))
local op, before = string.match(q[2] or '', '^(%d+) (%a*)')
local due = tonumber(q[3]) or 2 ^ 53
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if op and op + 0 >= ARGV[2] + 0 then return op == ARGV[2] and before or '' end
for i = 3, #ARGV, 5 do
    local n, s = string.match(ARGV[i], '^%d+'), q[(i + 17) / 5] or ''
    local token, tries, rest = string.match(s, '^L (%d+) (%d+) (.*)$')
    said = said .. (token == ARGV[i + 1] and 'd' or s ~= '' and 'l' or 'g')
    if token == ARGV[i + 1] then
        local at = (ms + ARGV[i + 3]) * 1024 + n % 1024
        local dead = ARGV[i + 2] == 'x' or string.match(rest, '^%d+ %d+ c')
        redis.call('ZADD', KEYS[dead and 4 or 3], dead and ms or at,
            dead and n or ARGV[i])
        due = dead and due or math.min(due, at)
        redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due),
          n .. 'r', 'x' .. ARGV[i + 4], n .. 's', (dead and 'X 0 ' or 'W 0 ') ..
          tries + (ARGV[i + 2] == 's' and 0 or 1) .. ' ' .. rest)
        out[#out + 1] = n
        local rec = dead and redis.call('HGET', KEYS[1], n) or ''
        local kind, len, most, to = string.match(rec,
            '^%+........%-?%d+,%d+,(%d+),(%d+),(%d+);()')
        to = to and string.match(string.sub(rec, to + kind + len,
            to + kind + len + most - 1), '^[^r]*r(.*)$')
        if to then redis.pcall('PUBLISH', to, n .. ' x ' .. ARGV[i + 4]) end
    end
end
if #out > 0 then redis.call('ZREM', KEYS[2], unpack(out)) end
redis.call('HSET', KEYS[1], 'f' .. ARGV[1], ARGV[2] .. ' ' .. said)
return said
