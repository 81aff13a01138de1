#!lua flags=allow-oom
-- queue_replay.lua: lets dead jobs wait again.
-- KEYS  1 jobs  2 delayed  3 dead
-- ARGV  1 how often a job may be replayed  2 how many at most, oldest first, if
--       no number is given  3 how many dead jobs to skip then  4... numbers
-- Returns {replayed, refused, numbers that are not dead, 1 if there is more:
-- fewer are looked at if long}. A cancelled job is refused. Errors: VERSION.
-- Invariant: a job keeps its number, its id and its owners; attempts and stalls
-- begin at 0, replays are counted. The job is in `delayed` before it leaves
-- `dead`; queue_promote is to follow.
local t, get, count = redis.call('TIME'), {'version', 'due'}, {0, 0, 0, 0}
local ms, late, live = t[1] * 1000 + math.floor(t[2] / 1000), {}, {}
local names, set, bytes = {unpack(ARGV, 4)}, {}, 0
if #names == 0 then
    names = redis.call('ZRANGE', KEYS[3], ARGV[3], ARGV[3] + ARGV[2] - 1)
    count[4] = #names == tonumber(ARGV[2]) and 1 or 0
end
for i, n in ipairs(names) do
    bytes = bytes + redis.call('HSTRLEN', KEYS[1], n)
    get[2 * i + 1], get[2 * i + 2] = n .. 's', n
    if i > 1 and bytes > 1048576 then names[i], count[4] = nil, 1 end
end
local q = redis.call('HMGET', KEYS[1], unpack(get, 1, 2 * #names + 2))
local due = tonumber(q[2]) or 2 ^ 53
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
for i, n in ipairs(names) do
    local replays, flag, rest = string.match(q[2 * i + 1] or '',
        '^X %d+ %d+ %d+ (%d+) (%S)(.*)$')
    local rank = string.match(q[2 * i + 2] or '', '^%+........(%-?[1-9]%d*),')
    local k = (count[n] or not (replays and q[2 * i + 2])) and 3 or
        (flag == 'c' or replays + 1 > tonumber(ARGV[1])) and 2 or 1
    count[k] = count[k] + 1
    if k == 1 then -- and is not dead where it is named again
        local at = ms * 1024 + n % 1024
        due, live[#live + 1], count[n] = math.min(due, at), n, 1
        late[#late + 1], late[#late + 2] = at, rank and n .. ',' .. rank or n
        set[#set + 1] = n .. 's'
        set[#set + 1] = 'W 0 0 0 ' .. replays + 1 .. ' -' .. rest
    end
end
if #live == 0 then return count end
redis.call('ZADD', KEYS[2], unpack(late))
redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due), unpack(set))
redis.call('ZREM', KEYS[3], unpack(live))
return count
