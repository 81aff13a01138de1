#!lua flags=allow-oom
-- queue_claim.lua: the next jobs are leased.
-- KEYS  1 jobs  2 waiting  3 ranked  4 leased
-- ARGV  1 worker  2 op  3 lease in ms  4 how many at most
-- Returns {us of the server, when more are due, then number, record, state of
-- each}; or {} when this op had been done: queue_held tells what came of it.
-- Errors: VERSION.
-- Invariant: a job is leased, with a larger token than any, before it stops
-- waiting. What has no record, or is leased or dead, waits no more.
local t, set, add, get, held = redis.call('TIME'), {}, {}, {}, ''
local q = redis.call('HMGET', KEYS[1], 'version', 'c' .. ARGV[1], 'fence',
    'stopped', 'due', 'limit')
local now, want = t[1] * 1000000 + t[2], q[4] and 0 or tonumber(ARGV[4])
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if string.match(q[2] or '', '^%d+') == ARGV[2] then return {} end
if q[6] then
    want = math.min(want, math.max(0, q[6] - redis.call('ZCARD', KEYS[4])))
end
local list = want == 0 and {} or redis.call('LRANGE', KEYS[2], 0, want - 1)
local rank = (want == 0 or #list > 0) and {} or
    redis.call('ZRANGE', KEYS[3], 0, want - 1)
for i, n in ipairs(#list > 0 and list or rank) do
    get[2 * i - 1], get[2 * i] = n, n .. 's'
end
local rec = #get > 0 and redis.call('HMGET', KEYS[1], unpack(get)) or {}
local token, reply = math.max(tonumber(q[3]) or 0, now - 1), {now, q[5] or ''}
for i = 1, #get, 2 do
    local rest = string.match(rec[i + 1] or 'W 0 0 0 0 -', '^W %d+ (.*)$')
    if rec[i] and rest then
        token, held = token + 1, held .. ' ' .. get[i]
        local s = string.format('L %.0f ', token) .. rest .. ' ' .. ARGV[1]
        add[#add + 1], add[#add + 2] = math.floor(now / 1000) + ARGV[3], get[i]
        set[#set + 1], set[#set + 2] = get[i + 1], s
        for _, v in ipairs({get[i], rec[i], s}) do reply[#reply + 1] = v end
    end
end
if #add > 0 then
    redis.call('ZADD', KEYS[4], unpack(add))
    redis.call('HSET', KEYS[1], 'fence', string.format('%.0f', token),
        'c' .. ARGV[1], ARGV[2] .. held, unpack(set))
end
if #list > 0 then redis.call('LPOP', KEYS[2], #list) end
if #rank > 0 then redis.call('ZREM', KEYS[3], unpack(rank)) end
return reply
