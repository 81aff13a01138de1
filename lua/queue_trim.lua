#!lua flags=allow-oom
-- queue_trim.lua: what was kept long enough goes.
-- KEYS  1 jobs  2 done  3 dead  4 results  5 ids
-- ARGV  1 how many done ones may be kept  2 how many dead ones  3 how many go
--       at most
-- Returns {gone, 1 when there is more to do}. Errors: VERSION.
-- Invariant: only what has ended goes. Records go before their places, so that
-- a step that fails in the middle is done again.
local t, most, names = redis.call('TIME'), tonumber(ARGV[3]), {}
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local version = redis.call('HGET', KEYS[1], 'version')
if version ~= '1' and version then
    return redis.error_reply('VERSION ' .. version)
end
local over = redis.call('ZCARD', KEYS[2]) - ARGV[1]
local old = redis.call('ZCOUNT', KEYS[2], '-inf', ms)
local n = math.max(0, over, old)
local dead = math.max(0, redis.call('ZCARD', KEYS[3]) - ARGV[2])
local first = n == 0 and {} or
    redis.call('ZRANGE', KEYS[2], 0, math.min(n, most) - 1)
local room = most - #first
local last = math.min(dead, room) <= 0 and {} or
    redis.call('ZRANGE', KEYS[3], 0, math.min(dead, room) - 1)
for _, name in ipairs(first) do
    local number, id = string.match(name, '^(%d+),(.*)$')
    if redis.call('HGET', KEYS[5], id) == number then
        redis.call('HDEL', KEYS[5], id)
    end
    redis.call('HDEL', KEYS[1], number, number .. 's')
    redis.call('HDEL', KEYS[4], number)
    redis.call('ZREM', KEYS[2], name)
end
local rec = #last == 0 and {} or redis.call('HMGET', KEYS[1], unpack(last))
for i, number in ipairs(last) do
    local kind, len, at = string.match(rec[i] or '',
        '^%+%x%x%x%x%x%x%x%x%-?%d+,%d+,(%d+),(%d+),%d+;()')
    if at and len ~= '0' then
        at = at + kind
        redis.call('HDEL', KEYS[5], string.sub(rec[i], at, at + len - 1))
    end
    redis.call('HDEL', KEYS[1], number, number .. 's')
    redis.call('HDEL', KEYS[4], number)
    redis.call('ZREM', KEYS[3], number)
end
return {#first + #last, n + dead > #first + #last and 1 or 0}
