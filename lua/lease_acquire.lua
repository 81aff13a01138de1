#!lua flags=allow-oom
-- lease_acquire.lua: takes a lease that is free, or lines up for it.
-- KEYS  1 lease  2 fence  3 sleepers
-- ARGV  1 owner  2 term  3 ttl in ms  4 channel to be woken by, or ''
--       5 quarantine in ms, 0: none
-- Returns {status, token, ms left (-1: no end), server time in us, place in
-- line}. status: 1 granted; 0 another owner holds it; -1 the owner had the term
-- and it is over; -2 too soon, another server may have granted it meanwhile.
-- A repeated request for a term gets the same grant, with the same token.
-- Invariant: tokens only grow; the fence outlives each lease and never expires.
local t = redis.call('TIME')
local now, term, ttl = t[1] * 1000000 + t[2], tonumber(ARGV[2]), ARGV[3]
local holder = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
local f = redis.call('HMGET', KEYS[2], 'token', 'owner', 'term', 'run', 'open')
local first = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
local last, mine = tonumber(f[1]) or 0, holder == ARGV[1]
if f[2] == ARGV[1] and term <= (tonumber(f[3]) or 0) then
    if not mine or term < tonumber(f[3]) then return {-1, last, 0, now, 0} end
    redis.call('PEXPIRE', KEYS[1], ttl)
    return {1, last, tonumber(ttl), now, 0}
end
if tonumber(ARGV[5]) > 0 and (mine or not holder) then
    local s = redis.call('INFO', 'server', 'replication') -- promoted: a new id
    local run = s:match('run_id:(%x+)'):sub(9) .. s:match('replid:(%x+)'):sub(9)
    local open = f[4] == run and tonumber(f[5]) or now + ARGV[5] * 1000
    redis.call('HSET', KEYS[2], 'run', run, 'open', string.format('%.0f', open))
    left = math.ceil((open - now) / 1000)
    if left > 0 then return {-2, last, left, now, 0} end
end
if holder and not mine then
    if ARGV[4] == '' then return {0, last, left, now, 0} end
    redis.call('ZADD', KEYS[3], 'NX', now, ARGV[4])
    local place = redis.call('ZRANK', KEYS[3], ARGV[4])
    local there = first and redis.pcall('PUBSUB', 'SHARDNUMSUB', first)
    if not there or there[2] ~= 0 then return {0, last, left, now, place} end
    redis.call('ZREM', KEYS[3], first)
    return {0, last, left, now, math.max(place - 1, 0)}
end
local token = math.max(last + 1, now)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ttl)
redis.call('HSET', KEYS[2], 'token', string.format('%.0f', token),
    'owner', ARGV[1], 'term', ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[4])
return {1, token, tonumber(ttl), now, 0}
