#!lua flags=allow-oom
-- lease_release.lua: gives up a lease, or a place in the line for it.
-- KEYS  1 lease  2 fence  3 sleepers
-- ARGV  1 owner  2 term  3 token, '' if it is not known  4 channel, or ''
-- Returns {status, last token, woken, server time in us}. status: 1 released;
-- 0 another grant holds the lease; -1 the lease was free. woken: 1 if a sleeper
-- was woken. Unless another grant holds the lease, a request for this term
-- that is still on its way to the server is void.
-- Invariant: only the owner's own grant ends. If the lease is free when this
-- returns, one sleeper was woken, provided that one of the first eight listens.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local holder = redis.call('GET', KEYS[1])
local f = redis.call('HMGET', KEYS[2], 'token', 'owner', 'term')
local line = redis.call('ZRANGE', KEYS[3], 0, 8)
local token = tonumber(f[1]) or 0
local status = holder and 0 or -1
if holder == ARGV[1] and f[2] == ARGV[1] and f[3] == ARGV[2] and
    (f[1] == ARGV[3] or ARGV[3] == '') then
    redis.call('DEL', KEYS[1])
    status = 1
elseif not holder and ARGV[3] == '' then
    redis.call('HSET', KEYS[2], 'owner', ARGV[1], 'term', ARGV[2])
end
redis.call('ZREM', KEYS[3], ARGV[4])
for _, channel in ipairs(status == 0 and {} or line) do
    if channel ~= ARGV[4] then
        local heard = redis.pcall('SPUBLISH', channel, KEYS[1])
        if type(heard) ~= 'number' then break end
        redis.call('ZREM', KEYS[3], channel)
        if heard > 0 then return {status, token, 1, now} end
    end
end
return {status, token, 0, now}
