#!lua flags=allow-oom
-- queue_replay.lua: dead jobs wait once more.
-- KEYS  1 jobs  2 delayed  3 dead
-- ARGV  1 how often a job may be replayed  2 how many at most, oldest first,
--       when none is named  3 behind how many of the dead  4... numbers
-- Returns {replayed, refused, numbers that are not dead}. What was cancelled is
-- refused. Errors: VERSION.
-- Invariant: a job keeps its number, its id and its owners; attempts and
-- stalls begin anew, replays are counted. It is delayed, until queue_ready,
-- which is to follow, before it is dead no more.
local t, get, count, set = redis.call('TIME'), {'version', 'due'}, {0, 0, 0}, {}
local ms, late, live = t[1] * 1000 + math.floor(t[2] / 1000), {}, {}
local names = {unpack(ARGV, 4)}
if #names == 0 then
    names = redis.call('ZRANGE', KEYS[3], ARGV[3], ARGV[3] + ARGV[2] - 1)
end
for _, n in ipairs(names) do
    get[#get + 1], get[#get + 2] = n .. 's', n
end
local q = redis.call('HMGET', KEYS[1], unpack(get))
local due = tonumber(q[2]) or 2 ^ 53
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
for i, n in ipairs(names) do
    local replays, flag, rest = string.match(q[2 * i + 1] or '',
        '^X %d+ %d+ %d+ (%d+) (%S)(.*)$')
    local rank = string.match(q[2 * i + 2] or '', '^%+........(%-?%d+),')
    local k = not (replays and q[2 * i + 2]) and 3 or
        (flag == 'c' or replays + 1 > tonumber(ARGV[1])) and 2 or 1
    count[k] = count[k] + 1
    if k == 1 then
        local at = ms * 1024 + n % 1024
        due, live[#live + 1] = math.min(due, at), n
        late[#late + 1] = at
        late[#late + 1] = n .. ((rank or '0') == '0' and '' or ',' .. rank)
        set[#set + 1] = n .. 's'
        set[#set + 1] = 'W 0 0 0 ' .. replays + 1 .. ' -' .. rest
    end
end
if #live > 0 then
    redis.call('ZADD', KEYS[2], unpack(late))
    redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due), unpack(set))
    redis.call('ZREM', KEYS[3], unpack(live))
end
return count
