#!lua flags=allow-oom
-- queue_status.lua: counts the jobs in each place of a queue.
-- KEYS  1 jobs  2 waiting  3 ranked  4 delayed  5 leased  6 done  7 dead
--       8 idle                          ARGV  none
-- Returns {version, jobs that wait, wait by rank, are delayed, are leased, are
-- done and kept, are dead, idle workers, numbers given, jobs done in all, limit
-- or -1, 1 if the queue takes no jobs, 1 if it gives none out, s since the put
-- of the first job in line or -1, ms until a job is due or -1, ms until a lease
-- ends or -1, server time in us}. Numbers in `waiting` without a job are left
-- out as far as they are known.
-- Invariant: nothing changes.
local t = redis.call('TIME')
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local first = redis.call('LRANGE', KEYS[2], 0, 0)[1] or
    redis.call('ZRANGE', KEYS[3], 0, 0)[1]
local due = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')[2]
local ends = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2]
local q = redis.call('HMGET', KEYS[1], 'version', 'seq', 'done', 'limit',
    'closed', 'stopped', first or '', 'holes')
local a, b, c, d = string.byte(q[7] or '', 2, 5)
local born = d and ((a * 256 + b) * 256 + c) * 256 + d
if string.sub(q[7] or '', 1, 1) == '+' then
    born = tonumber(string.sub(q[7], 2, 9), 16)
end
local list = redis.call('LLEN', KEYS[2]) - math.max(0, q[8] or 0)
local reply = {tonumber(q[1]) or 0, math.max(0, list)}
for i = 3, 8 do reply[i] = redis.call('ZCARD', KEYS[i]) end
for _, v in ipairs({tonumber(q[2]) or 0, tonumber(q[3]) or 0,
    tonumber(q[4]) or -1, q[5] and 1 or 0, q[6] and 1 or 0,
    born and math.max(0, t[1] - born) or -1,
    due and math.max(0, math.floor(due / 1024) - ms) or -1,
    ends and math.max(0, ends - ms + 1) or -1, t[1] * 1000000 + t[2]}) do
    reply[#reply + 1] = v
end
return reply
