#!lua flags=allow-oom
-- queue_promote.lua: lets delayed jobs that are due wait for a worker.
-- KEYS  1 jobs  2 waiting  3 ranked  4 delayed  5 idle
-- ARGV  1 how many at most, up to 128
-- Returns {how many, ms until the next is due, or -1}. Errors: VERSION.
-- `delayed` has 'number' or 'number,rank', scored 1024 * ms + number % 1024, so
-- that jobs of one millisecond keep their order. A job of rank r overtakes at
-- most the 1000 * r jobs put just before it, so that no job starves. No two
-- jobs in `ranked` have the same score, so that a reader that goes on after a
-- score skips none.
-- Invariant: a job is in both places before it leaves one, never in none. An
-- idle worker is woken for each job, among the first eight; one is woken, too,
-- if no job is due, but the next is due sooner than a worker was told last.
local t, line, awake = redis.call('TIME'), {}, 0
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local q = redis.call('HMGET', KEYS[1], 'version', 'ranks', 'told')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
local due = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ms * 1024 + 1023,
    'LIMIT', 0, ARGV[1])
local more = redis.call('ZRANGE', KEYS[4], #due, #due, 'WITHSCORES')[2]
local asleep = redis.call('ZRANGE', KEYS[5], 0, 7)
local ranks = q[2] or string.find(table.concat(due, ' '), ',', 1, true)
if ranks and not q[2] then redis.call('HSET', KEYS[1], 'ranks', '1') end
for _, name in ipairs(due) do
    local n, rank = string.match(name, '^(%d+),?(%-?%d*)$')
    local r = tonumber(rank) or 0
    if n and ranks then line[#line + 1] = n - 1000 * r - r / 2048 end
    line[#line + 1] = n
end
if #line > 0 then
    redis.call(ranks and 'ZADD' or 'RPUSH', KEYS[ranks and 3 or 2],
        unpack(line))
end
if #due > 0 then redis.call('ZREM', KEYS[4], unpack(due)) end
local told = tonumber(q[3]) or 0
local sooner = more and (told < ms * 1024 or tonumber(more) < told) and 1 or 0
for _, sleeper in ipairs(#due + sooner > 0 and asleep or {}) do
    local heard = awake < math.max(#due, 1) and
        redis.pcall('SPUBLISH', sleeper, KEYS[1])
    if type(heard) ~= 'number' then break end
    redis.call('ZREM', KEYS[5], sleeper)
    awake = awake + math.min(heard, 1)
end
redis.call('HSET', KEYS[1], 'due', more or '', 'told', more or '')
return {#due, more and math.max(0, math.floor(more / 1024) - ms) or -1}
