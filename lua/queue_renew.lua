#!lua flags=allow-oom
-- queue_renew.lua: renews the leases of a worker.
-- KEYS  1 jobs  2 leased
-- ARGV  1 lease in ms  2 ms from the claim after which no lease is renewed
--       then number and token of each job
-- Returns {a letter for each job: r renewed, c renewed, but the job is to be
-- cancelled, o too old, l lost, g gone; server time in us}. Errors: VERSION.
-- Invariant: only the token of a lease moves its end, and only while the job is
-- leased.
local t, said, add = redis.call('TIME'), '', {}
local now, ask = t[1] * 1000000 + t[2], {'version'}
for i = 3, #ARGV, 2 do ask[#ask + 1] = ARGV[i] .. 's' end
local q = redis.call('HMGET', KEYS[1], unpack(ask))
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
for i = 3, #ARGV, 2 do
    local s = q[(i + 1) / 2]
    local token, flag = string.match(s or '', '^L (%d+) %d+ %d+ %d+ (%S)')
    local letter = s and 'l' or 'g'
    if token == ARGV[i + 1] then
        letter = flag == 'c' and 'c' or 'r'
        if now - token > ARGV[2] * 1000 then letter = 'o' end
    end
    if letter == 'r' or letter == 'c' then
        add[#add + 1] = math.floor(now / 1000) + ARGV[1]
        add[#add + 1] = ARGV[i]
    end
    said = said .. letter
end
if #add > 0 then redis.call('ZADD', KEYS[2], unpack(add)) end
return {said, now}
