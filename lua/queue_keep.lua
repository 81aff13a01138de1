#!lua flags=allow-oom
-- queue_keep.lua: sets how long a done job is kept, from now on.
-- KEYS  1 jobs  2 ids  3 done
-- ARGV  1 id, or ''  2 number, when there is no id  3 ms
-- Returns {place, number, ms until when}, place as of queue_look. If the job is
-- not done: w (also if it is delayed), l or x, and -1 for ms; if there is no
-- such job, only {'g', number}. Errors: VERSION.
-- Invariant: a job that is not done does not change; a done job stays done.
local t, n = redis.call('TIME'), ARGV[2]
if ARGV[1] ~= '' then n = redis.call('HGET', KEYS[2], ARGV[1]) or '' end
n = string.match(n, '^%d+') or ''
local q = redis.call('HMGET', KEYS[1], 'version', n .. 's', n)
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if n == '' or not q[3] then return {'g', n} end
local letter = string.lower(string.sub(q[2] or 'W', 1, 1))
if letter ~= 'd' then return {letter, n, '-1'} end
local ms = t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[3]
redis.call('ZADD', KEYS[3], 'XX', ms, n)
return {letter, n, string.format('%.0f', ms)}
