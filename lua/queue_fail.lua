#!lua flags=allow-oom
-- queue_fail.lua: attempts have failed: again later, or never.
-- KEYS  1 jobs  2 leased  3 delayed  4 dead  5 results
-- ARGV  1 worker  2 op  then name, token, verdict, ms to wait and error of
--       each. A name is 'number' or 'number,rank'. Verdicts: r retry, s snooze
--       (the attempt does not count), x dead
-- Returns a letter for each: d done, l lost, g gone. The same op again: the
-- same letters. Errors: VERSION.
-- Invariant: what is not leased with its token stays as it is. A job is in its
-- new place before it leaves the old one.
local t = redis.call('TIME')
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local ask, said = {'version', 'f' .. ARGV[1], 'due'}, ''
for i = 3, #ARGV, 5 do ask[#ask + 1] = string.match(ARGV[i], '^%d+') .. 's' end
local q = redis.call('HMGET', KEYS[1], unpack(ask))
local op, before = string.match(q[2] or '', '^(%d+) (%a*)$')
local due = tonumber(q[3]) or 2 ^ 53
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if op == ARGV[2] then return before end
for i = 3, #ARGV, 5 do
    local name, s, verdict = ARGV[i], q[(i - 3) / 5 + 4], ARGV[i + 2]
    local n = string.match(name, '^%d+')
    local token, tries, rest = string.match(s or '', '^L (%d+) (%d+) (.*)$')
    said = said .. (token == ARGV[i + 1] and 'd' or s and 'l' or 'g')
    if token == ARGV[i + 1] then
        local at = (ms + ARGV[i + 3]) * 1024 + n % 1024
        if verdict == 'x' then redis.call('ZADD', KEYS[4], ms, n)
        else redis.call('ZADD', KEYS[3], at, name) end
        if verdict ~= 'x' then due = math.min(due, at) end
        if verdict ~= 's' then tries = tries + 1 end
        redis.call('HSET', KEYS[5], n, ARGV[i + 4])
        redis.call('HSET', KEYS[1], n .. 's', (verdict == 'x' and 'X 0 ' or
            'W 0 ') .. tries .. ' ' .. string.sub(rest, 1, 256))
        redis.call('ZREM', KEYS[2], n)
    end
end
redis.call('HSET', KEYS[1], 'f' .. ARGV[1], ARGV[2] .. ' ' .. said,
    'due', string.format('%.0f', due))
return said
