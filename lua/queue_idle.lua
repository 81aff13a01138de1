#!lua flags=allow-oom
-- queue_idle.lua: puts a worker in the line of idle workers, or takes it out.
-- KEYS  1 jobs  2 waiting  3 ranked  4 idle
-- ARGV  1 channel of the worker  2 '1' to line up, '0' to leave the line, 'p'
--       to line up or, after a wake-up for jobs that are not for this worker,
--       to wake another one
-- Returns {server time in us, when more are due, 1 if the worker is in line; 0:
-- jobs wait, or the worker left}. Errors: VERSION.
-- Invariant: a worker that is in line while jobs wait was told to wake up, or
-- lined up before the jobs came. It knows when more are due, or is told when
-- that becomes sooner. A throttled worker does not line up: it asks again. A
-- worker that leaves wakes another one, as perhaps no other worker was told.
local t = redis.call('TIME')
local q = redis.call('HMGET', KEYS[1], 'version', 'due', 'holes')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
local list = redis.call('LLEN', KEYS[2])
local work = list + redis.call('ZCARD', KEYS[3])
local stays = work == 0 and ARGV[2] ~= '0'
local more = work > 0 or ARGV[2] == '0' and (q[2] or '') ~= ''
local asleep = more and ARGV[2] ~= '1' and
    redis.call('ZRANGE', KEYS[4], 0, 8) or {}
if stays then
    redis.call('ZADD', KEYS[4], 'NX', t[1] * 1000 + math.floor(t[2] / 1000),
        ARGV[1])
else
    redis.call('ZREM', KEYS[4], ARGV[1])
end
if list == 0 and q[3] then redis.call('HDEL', KEYS[1], 'holes') end
for _, sleeper in ipairs(asleep) do
    if sleeper ~= ARGV[1] then
        local heard = redis.pcall('SPUBLISH', sleeper, KEYS[1])
        if type(heard) ~= 'number' then break end
        redis.call('ZREM', KEYS[4], sleeper)
        if heard > 0 then break end
    end
end
return {t[1] * 1000000 + t[2], q[2] or '', stays and 1 or 0}
