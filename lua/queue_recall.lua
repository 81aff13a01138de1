#!lua flags=allow-oom
-- queue_recall.lua: returns the jobs of a claim again, if its answer was lost.
-- KEYS  1 jobs
-- ARGV  1 worker  2 op
-- Returns {1 if the queue had noted this op as the worker's last claim, server
-- time in us, 0, then number, record, state of each job of that claim that the
-- worker still holds}. Errors: VERSION.
-- Invariant: a claim of this op that reaches the server later brings no jobs,
-- so the worker does not have to wait for it.
local t, get = redis.call('TIME'), {}
local q = redis.call('HMGET', KEYS[1], 'version', 'c' .. ARGV[1])
local op, held = string.match(q[2] or '', '^(%d+)([ %d]*)')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if (tonumber(op) or 0) < ARGV[2] + 0 then
    redis.call('HSET', KEYS[1], 'c' .. ARGV[1], ARGV[2] .. ' ')
end
local reply = {op == ARGV[2] and 1 or 0, t[1] * 1000000 + t[2], 0}
for n in string.gmatch(op == ARGV[2] and held or '', '%d+') do
    get[#get + 1], get[#get + 2] = n, n .. 's'
end
local rec = #get > 0 and redis.call('HMGET', KEYS[1], unpack(get)) or {}
for i = 1, #get, 2 do
    local s = rec[i + 1] or ''
    if string.match(s, '^L ') and string.match(s, '[^ ]*$') == ARGV[1] then
        for _, v in ipairs({get[i], rec[i], s}) do reply[#reply + 1] = v end
    end
end
return reply
