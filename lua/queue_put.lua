-- queue_put.lua: puts plain jobs at the end of the line, all of them or none.
-- KEYS  1 jobs  2 waiting  3 ranked  4 idle
-- ARGV  1 producer  2 op  3 how many may wait, 0: any number  4... payloads
-- Returns {number of the first job, 1 if this op had been done}; the other jobs
-- have the numbers after it. Errors: VERSION, CLOSED, FULL.
-- Invariant: a number without a record is no job, so records are written last.
-- Once the queue has ranks, all new jobs are ranked. An idle worker is woken
-- for each job, among the first eight.
local t, born, set, line = redis.call('TIME'), '.', {}, {}
local q = redis.call('HMGET', KEYS[1], 'version', 'p' .. ARGV[1], 'seq',
    'closed', 'ranks', 'holes')
local op, first = string.match(q[2] or '', '^(%d+) (%-?%d+)')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if op and op + 0 >= ARGV[2] + 0 then return {tonumber(first), 1} end
if q[4] then return redis.error_reply('CLOSED the queue takes no jobs') end
local most, many, awake = tonumber(ARGV[3]), 0, 0
if most > 0 then
    many = redis.call('LLEN', KEYS[2]) + redis.call('ZCARD', KEYS[3]) -
        math.max(0, q[6] or 0)
end
if most > 0 and many + #ARGV - 3 > most then
    return redis.error_reply('FULL ' .. many .. ' jobs wait')
end
local asleep = redis.call('ZRANGE', KEYS[4], 0, 7)
for i = 3, 0, -1 do
    born = born .. string.char(math.floor(t[1] / 256 ^ i) % 256)
end
local seq = tonumber(q[3]) or 0
for i = 4, #ARGV do
    local n = string.format('%.0f', seq + i - 3)
    set[2 * i - 7], set[2 * i - 6] = n, born .. ARGV[i]
    line[q[5] and 2 * i - 7 or i - 3] = n
    if q[5] then line[2 * i - 6] = n end
end
redis.call(q[5] and 'ZADD' or 'RPUSH', KEYS[q[5] and 3 or 2], unpack(line))
redis.call('HSET', KEYS[1], 'version', '1', 'seq', line[#line],
    'p' .. ARGV[1], ARGV[2] .. ' ' .. set[1], unpack(set))
for _, sleeper in ipairs(asleep) do
    if awake == #ARGV - 3 then break end
    local heard = redis.pcall('SPUBLISH', sleeper, KEYS[1])
    if type(heard) ~= 'number' then break end
    redis.call('ZREM', KEYS[4], sleeper)
    awake = awake + math.min(heard, 1)
end
return {seq + 1, 0}
