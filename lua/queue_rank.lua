#!lua flags=allow-oom
-- queue_rank.lua: what waits moves from the list to the ranks.
-- KEYS  1 jobs  2 waiting  3 ranked
-- ARGV  1 how many at most, up to 128
-- Returns {moved, how many are left}. Errors: VERSION.
-- Jobs of one type leave from the middle of a line: of a list none does at a
-- price that is bounded. From now on new jobs have ranks, too.
-- Invariant: a job is in two places before it is in one. The last go first, as
-- the list comes before the ranks.
local line, version = {}, redis.call('HGET', KEYS[1], 'version')
if version ~= '1' and version then
    return redis.error_reply('VERSION ' .. version)
end
local last = redis.call('LRANGE', KEYS[2], -ARGV[1], -1)
for _, n in ipairs(last) do
    line[#line + 1], line[#line + 2] = string.match(n, '^%d+$') or 0, n
end
redis.call('HSET', KEYS[1], 'ranks', '1')
if #line > 0 then
    redis.call('ZADD', KEYS[3], unpack(line))
    redis.call('RPOP', KEYS[2], #last)
end
return {#last, redis.call('LLEN', KEYS[2])}
