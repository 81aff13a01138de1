#!lua flags=allow-oom
-- queue_reap.lua: puts jobs back in line after their leases have expired.
-- KEYS  1 jobs  2 waiting  3 leased  4 dead  5 idle
-- ARGV  1 how many at most, up to 128  2 stalls that a job may have  3 ms to
--       hold off after a restart, a failover, a clock past 4  4 latest clock ms
-- Returns {put back, dead, ms until more or -1, server ms}. Errors: VERSION.
-- Invariant: no lease ends early by the server clock. A job is in its new place
-- before it leaves the old one. reply_to of a dead job gets 'number x why'.
local t, back, dead, get, set = redis.call('TIME'), {}, {}, {'version'}, {}
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local q = redis.call('HMGET', KEYS[1], 'version', 'run', 'open')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
local s = tostring(redis.pcall('INFO', 'server', 'replication'))
local run = (s:match('run_id:%x+') or '-') .. (s:match('_replid:%x+') or '')
local odd = q[2] ~= run or ms > (tonumber(ARGV[4] or '') or ms)
local open = odd and ms + (q[2] and ARGV[3] or 0) or tonumber(q[3]) or 0
if odd then redis.call('HSET', KEYS[1], 'run', run, 'open', open) end
if ms < open then return {0, 0, open - ms, ms} end
local late = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ms - 1, 'LIMIT', 0,
    ARGV[1])
local more = redis.call('ZRANGE', KEYS[3], #late, #late, 'WITHSCORES')[2]
for i, n in ipairs(late) do get[i + 1] = n .. 's' end
q = redis.call('HMGET', KEYS[1], unpack(get))
for i = #late, 1, -1 do
    local had, stalls, rest = (q[i + 1] or ''):match('^L %d+ (%d+) (%d+) (.*)$')
    local why = rest and (rest:match('^%d+ c') and 'cancelled' or
        stalls + 1 > tonumber(ARGV[2]) and 'stalled too often')
    if why then
        dead[#dead + 1], dead[#dead + 2] = ms, late[i]
        set[#set + 1], set[#set + 2] = late[i] .. 'r', 'x' .. why
        local v = redis.call('HGET', KEYS[1], late[i]) or ''
        local k, n, m, p = v:match('^%+........%-?%d+,%d+,(%d+),(%d+),(%d+);()')
        local to = p and v:sub(p + k + n):sub(1, m):match('^[^r]*r(.*)$')
        if to then redis.pcall('PUBLISH', to, late[i] .. ' x ' .. why) end
    elseif rest then back[#back + 1] = late[i] end
    if rest then set[#set + 1], set[#set + 2] = get[i + 1], (why and 'X' or 'W')
        .. ' 0 ' .. had .. ' ' .. stalls + 1 .. ' ' .. rest end
end
if #back > 0 then redis.call('LPUSH', KEYS[2], unpack(back)) end
if #dead > 0 then redis.call('ZADD', KEYS[4], unpack(dead)) end
if #set > 0 then redis.call('HSET', KEYS[1], unpack(set)) end
if #late > 0 then redis.call('ZREM', KEYS[3], unpack(late)) end
local asleep = #back > 0 and redis.call('ZPOPMIN', KEYS[5], 8) or {}
for i = 1, #asleep, 2 do redis.pcall('SPUBLISH', asleep[i], KEYS[1]) end
return {#back, #dead / 2, more and math.max(0, more - ms + 1) or -1, ms}
