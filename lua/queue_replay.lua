#!lua flags=allow-oom
-- queue_replay.lua: dead jobs wait once more.
-- KEYS  1 jobs  2 delayed  3 dead  4 results
-- ARGV  1 how often a job may be replayed  2 how many at most, oldest first,
--       when none is named  3... numbers
-- Returns {replayed, refused, numbers that are not dead}. Errors: VERSION.
-- Invariant: a job keeps its number, its id and its owners; attempts and
-- stalls begin anew, replays are counted. It is delayed, until queue_ready,
-- which is to follow, before it is dead no more.
local t, get, count = redis.call('TIME'), {'version', 'due'}, {0, 0, 0}
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local names = {unpack(ARGV, 3)}
if #names == 0 then
    names = redis.call('ZRANGE', KEYS[3], 0, ARGV[2] - 1)
end
for _, n in ipairs(names) do
    get[#get + 1], get[#get + 2] = n .. 's', n
end
local q = redis.call('HMGET', KEYS[1], unpack(get))
local due = tonumber(q[2]) or 2 ^ 53
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
for i, n in ipairs(names) do
    local replays, rest = string.match(q[2 * i + 1] or '',
        '^X %d+ %d+ %d+ (%d+) (.*)$')
    local rank = string.match(q[2 * i + 2] or '',
        '^%+%x%x%x%x%x%x%x%x(-?%d+),')
    local k = not replays and 3 or replays + 1 > tonumber(ARGV[1]) and 2 or 1
    count[k] = count[k] + 1
    if k == 1 then
        local at = ms * 1024 + n % 1024
        due = math.min(due, at)
        redis.call('ZADD', KEYS[2], at, n .. (rank and ',' .. rank or ''))
        redis.call('HSET', KEYS[1], n .. 's', 'W 0 0 0 ' .. replays + 1 ..
            ' ' .. rest, 'due', string.format('%.0f', due))
        redis.call('ZREM', KEYS[3], n)
        redis.call('HDEL', KEYS[4], n)
    end
end
return count
