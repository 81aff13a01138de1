#!lua flags=allow-oom
-- queue_release.lua: puts jobs that were not begun back at the front.
-- KEYS  1 jobs  2 waiting  3 leased  4 idle
-- ARGV  number and token of each job, in the order in which they were leased
-- Returns a letter for each job: d done, l lost, g gone. Errors: VERSION.
-- Invariant: a job that is not leased under its token does not change. A job is
-- in `waiting` before its lease ends, and the attempt does not count. A
-- cancelled job does not wait again: its lease ends. An idle worker is woken
-- for each job, among the first eight.
local ask, said, back, set = {'version'}, '', {}, {}
for i = 1, #ARGV, 2 do ask[#ask + 1] = ARGV[i] .. 's' end
local q = redis.call('HMGET', KEYS[1], unpack(ask))
local asleep = redis.call('ZRANGE', KEYS[4], 0, 7)
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
for i = #ARGV - 1, 1, -2 do
    local s = q[(i + 3) / 2]
    local token, rest = string.match(s or '', '^L (%d+) (.*)$')
    said = (token == ARGV[i + 1] and 'd' or s and 'l' or 'g') .. said
    if token == ARGV[i + 1] and string.match(rest, '^%d+ %d+ %d+ c') then
        redis.call('ZADD', KEYS[3], 0, ARGV[i])
    elseif token == ARGV[i + 1] then
        back[#back + 1] = ARGV[i]
        set[#set + 1], set[#set + 2] = ARGV[i] .. 's', 'W 0 ' .. rest
    end
end
if #back == 0 then return said end
redis.call('LPUSH', KEYS[2], unpack(back))
redis.call('HSET', KEYS[1], unpack(set))
redis.call('ZREM', KEYS[3], unpack(back))
local asked = #back
for _, sleeper in ipairs(asleep) do
    local heard = asked > 0 and redis.pcall('SPUBLISH', sleeper, KEYS[1])
    if type(heard) ~= 'number' then break end
    redis.call('ZREM', KEYS[4], sleeper)
    asked = asked - math.min(heard, 1)
end
return said
