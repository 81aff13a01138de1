#!lua flags=allow-oom
-- queue_forget.lua: deletes what a queue remembers of clients that are gone.
-- KEYS  1 jobs  2 ids
-- ARGV  1 where to go on, '' at first  2 how many to look at, about  3 absent,
--       or seconds: no round begins so soon after any call that had an ARGV[3],
--       and '' is returned
-- Returns where to go on, '' at the end. Call it once in a while.
-- Errors: VERSION.
-- Invariant: a client's last step, kept to recognise repeats, is marked when it
-- is found and removed an hour later; the client's next step undoes the mark. A
-- window of queue_unique is removed when it has closed; its job keeps the id.
local now = tonumber(redis.call('TIME')[1])
local q = redis.call('HMGET', KEYS[1], 'version', 'swept')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if ARGV[1] == '' and ARGV[3] then
    local soon = math.abs(now - (q[2] or 0)) < ARGV[3] + 0
    if soon or not q[1] then return '' end
end
if ARGV[3] then redis.call('HSET', KEYS[1], 'swept', now) end
local at, set, del = string.match(ARGV[1], '%d+') or '0', {}, {}
local windows = string.sub(ARGV[1], 1, 1) == 'i'
local key = KEYS[windows and 2 or 1]
local r = redis.call('HSCAN', key, at, 'COUNT', ARGV[2], 'MATCH',
    windows and '*' or '[cdfp]*')
for i = 1, #r[2], 2 do
    local name, v = r[2][i], r[2][i + 1]
    if windows then
        local n, till = string.match(v, '^(%d+),(%d+)')
        if n and tonumber(till) < now * 1000 then
            local there = redis.call('HEXISTS', KEYS[1], n) == 1
            local to = there and set or del
            to[#to + 1], to[#to + 2] = name, there and n or nil
        end
    elseif string.match(v, '^%d+ ') then
        local seen = tonumber(string.match(v, '@(%d+)$'))
        if seen and now - seen > 3600 then del[#del + 1] = name end
        if not seen then
            set[#set + 1], set[#set + 2] = name, v .. '@' .. now
        end
    end
end
if #set > 0 then redis.call('HSET', key, unpack(set)) end
if #del > 0 then redis.call('HDEL', key, unpack(del)) end
if r[1] ~= '0' then return (windows and 'i' or 'j') .. r[1] end
return windows and '' or 'i0'
