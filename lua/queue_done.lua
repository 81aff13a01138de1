#!lua flags=allow-oom
-- queue_done.lua: ends done jobs that have an id, a reply_to or a result.
-- KEYS  1 jobs  2 leased  3 done  4 ids
-- ARGV  1 worker  2 op  then number, token, ms to keep it and result of each
-- Returns a letter for each: d done, l lost, g gone; a repeat gets the same, an
-- older op none. Channel reply_to gets 'number d result'. Errors: VERSION.
-- Invariant: a job not leased under its token does not change. A kept job is in
-- `done`, scored by the end of that time, before it leaves `leased`.
local t, said, out, free = redis.call('TIME'), '', {}, {}
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local ask = {'version', 'd' .. ARGV[1], 'done'}
for i = 3, #ARGV, 4 do
    ask[#ask + 1], ask[#ask + 2] = ARGV[i], ARGV[i] .. 's'
end
local q = redis.call('HMGET', KEYS[1], unpack(ask))
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
local op, before = string.match(q[2] or '', '^(%d+) (%a*)')
if op and op + 0 >= ARGV[2] + 0 then return op == ARGV[2] and before or '' end
for i = 3, #ARGV, 4 do
    local n, rec, s = ARGV[i], q[(i + 5) / 2], q[(i + 7) / 2] or ''
    local token, rest = string.match(s, '^L (%d+) (.*)$')
    said = said .. (token == ARGV[i + 1] and 'd' or s ~= '' and 'l' or 'g')
    if token == ARGV[i + 1] then
        local kind, len, most, at = string.match(rec or '',
            '^%+........%-?%d+,%d+,(%d+),(%d+),(%d+);()')
        local id = at and string.sub(rec, at + kind, at + kind + len - 1) or ''
        local who = at and string.match(string.sub(rec, at + kind + len,
            at + kind + len + most - 1), '^[^r]*r(.*)$')
        if ARGV[i + 2] ~= '0' then
            redis.call('ZADD', KEYS[3], ms + ARGV[i + 2], n)
            redis.call('HSET', KEYS[1], n .. 's', 'D ' .. token .. ' ' .. rest,
                n .. 'r', 'd' .. ARGV[i + 3])
        else
            redis.call('HDEL', KEYS[1], n, n .. 's', n .. 'r')
            free[#free + 1] = redis.call('HGET', KEYS[4], id) == n and id or nil
        end
        out[#out + 1] = n
        if who then redis.pcall('PUBLISH', who, n .. ' d ' .. ARGV[i + 3]) end
    end
end
if #free > 0 then redis.call('HDEL', KEYS[4], unpack(free)) end
if #out > 0 then redis.call('ZREM', KEYS[2], unpack(out)) end
redis.call('HSET', KEYS[1], 'd' .. ARGV[1], ARGV[2] .. ' ' .. said,
    'done', (tonumber(q[3]) or 0) + #out)
return said
