#!lua flags=allow-oom
-- queue_keep.lua: jobs are done that have an id, a result or someone waiting.
-- KEYS  1 jobs  2 leased  3 done  4 results  5 ids
-- ARGV  1 worker  2 op  then number, token, id, ms for which it is kept,
--       channel of who waits, or '', and result of each
-- Returns a letter for each: d done, l lost, g gone. The same op again: the
-- same letters. Errors: VERSION.
-- Invariant: what is not leased with its token stays as it is. What is kept is
-- in `done`, by when it goes, before it is leased no more.
local t = redis.call('TIME')
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local ask, said = {'version', 'd' .. ARGV[1], 'done'}, ''
for i = 3, #ARGV, 6 do ask[#ask + 1] = ARGV[i] .. 's' end
local q = redis.call('HMGET', KEYS[1], unpack(ask))
local op, before = string.match(q[2] or '', '^(%d+) (%a*)$')
local count = tonumber(q[3]) or 0
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if op == ARGV[2] then return before end
for i = 3, #ARGV, 6 do
    local n, s, id, keep = ARGV[i], q[i / 6 + 3.5], ARGV[i + 2], ARGV[i + 3]
    local token, rest = string.match(s or '', '^L (%d+) (.*)$')
    said = said .. (token == ARGV[i + 1] and 'd' or s and 'l' or 'g')
    if token == ARGV[i + 1] then
        count = count + 1
        if tonumber(keep) > 0 then
            redis.call('HSET', KEYS[4], n, ARGV[i + 5])
            redis.call('ZADD', KEYS[3], ms + keep, n .. ',' .. id)
            redis.call('HSET', KEYS[1], n .. 's', 'D ' .. token .. ' ' .. rest)
        else
            if id ~= '' then redis.call('HDEL', KEYS[5], id) end
            redis.call('HDEL', KEYS[1], n, n .. 's')
        end
        redis.call('ZREM', KEYS[2], n)
        local who = ARGV[i + 4]
        if who ~= '' then redis.pcall('PUBLISH', who, n .. ' ' .. ARGV[i + 5]) end
    end
end
redis.call('HSET', KEYS[1], 'd' .. ARGV[1], ARGV[2] .. ' ' .. said,
    'done', count)
return said
