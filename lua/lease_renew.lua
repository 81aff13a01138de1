#!lua flags=allow-oom
-- lease_renew.lua: renews a lease for its holder.
-- KEYS  1 lease  2 fence        ARGV  1 owner  2 token  3 ttl in ms
-- Returns {status, last token, ms left, server time in us}. status: 1 renewed;
-- 0 another owner holds the lease, or a newer token was given out; -1 the lease
-- is free.
-- Invariant: only the owner with the newest token moves the end of a lease,
-- and a lease that has ended is not renewed.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local holder = redis.call('GET', KEYS[1])
local last = redis.call('HGET', KEYS[2], 'token')
local token = tonumber(last) or 0
if not holder then return {-1, token, 0, now} end
if holder ~= ARGV[1] or last ~= ARGV[2] then
    return {0, token, redis.call('PTTL', KEYS[1]), now}
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {1, token, tonumber(ARGV[3]), now}
