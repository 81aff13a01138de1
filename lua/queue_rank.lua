#!lua flags=allow-oom
-- queue_rank.lua: moves waiting jobs from the list to the ranks.
-- KEYS  1 jobs  2 waiting  3 ranked
-- ARGV  1 how many at most, up to 128; fewer when records are long
-- Returns {moved, how many are left}. Errors: VERSION.
-- A claim by type takes jobs from the middle of the line; in a list the cost of
-- that has no bound. From now on new jobs are ranked, too; a job that was given
-- back gets the rank that it had: see queue_promote.
-- A number without a record is removed.
-- Invariant: a job is in both places before it leaves one. The end of the list
-- moves first, as the list comes before the ranked jobs.
local line, version = {}, redis.call('HGET', KEYS[1], 'version')
if version ~= '1' and version then
    return redis.error_reply('VERSION ' .. version)
end
local last = redis.call('LRANGE', KEYS[2], -ARGV[1], -1)
local left = redis.call('LLEN', KEYS[2])
local moved, bytes, holes, rec = 0, 0, 0, {}
for i = #last, 1, -1 do
    local j = moved % 16
    if j == 0 and bytes > 1048576 then break end
    rec = j > 0 and rec or
        redis.call('HMGET', KEYS[1], unpack(last, math.max(1, i - 15), i))
    local v = rec[#rec - j] or ''
    local n, r = string.match(last[i], '^%d+$'), string.match(v,
        '^%+........(%-?%d+),') or 0
    if v == '' or not n then
        holes = holes + 1
    else
        line[#line + 1], line[#line + 2] = n - 1000 * r - r / 2048, n
    end
    moved, bytes = moved + 1, bytes + #v
end
redis.call('HSET', KEYS[1], 'ranks', '1')
if #line > 0 then redis.call('ZADD', KEYS[3], unpack(line)) end
if holes > 0 then redis.call('HINCRBY', KEYS[1], 'holes', -holes) end
if moved > 0 then redis.call('RPOP', KEYS[2], moved) end
return {moved, left - moved}
