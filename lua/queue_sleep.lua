#!lua flags=allow-oom
-- queue_sleep.lua: a worker without work lines up to be woken.
-- KEYS  1 waiting  2 ranked  3 idle
-- ARGV  1 its channel  2 '1' to line up, '0' to leave the line
-- Returns 1 when it stands in line; 0: there is work, or it left.
-- Invariant: who stands in line while jobs wait has been told to wake up, or
-- lined up before they came. Who is held back does not line up: it asks again.
local t = redis.call('TIME')
local work = redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2])
if work > 0 or ARGV[2] == '0' then
    redis.call('ZREM', KEYS[3], ARGV[1])
    return 0
end
redis.call('ZADD', KEYS[3], 'NX', t[1] * 1000 + math.floor(t[2] / 1000),
    ARGV[1])
return 1
