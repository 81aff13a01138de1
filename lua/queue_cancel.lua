#!lua flags=allow-oom
-- queue_cancel.lua: cancels a job that has not ended.
-- KEYS  1 jobs  2 ids  3 ranked  4 delayed
-- ARGV  1 id, or ''  2 number, when there is no id
-- Returns {letter, number}. letter: c cancelled; r the job runs, and its worker
-- is told when it renews the lease; e the job has ended; g there is no such
-- job. Errors: VERSION.
-- The reply_to channel of a cancelled job gets 'number c '.
-- Invariant: a leased job ends by its worker or with its lease, and never waits
-- again. The number of a cancelled job may stay in `waiting` without a record:
-- it is skipped when its turn comes, and counted in `holes` until then.
local n = ARGV[2]
if ARGV[1] ~= '' then n = redis.call('HGET', KEYS[2], ARGV[1]) or '' end
n = string.match(n, '^%d+') or ''
local q = redis.call('HMGET', KEYS[1], 'version', n .. 's', n, 'holes')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if n == '' or not q[3] then return {'g', n} end
local letter, head, tail =
    string.match(q[2] or 'W', '^(%u)( %d+ %d+ %d+ %d+ )%S(.*)$')
if letter == 'L' then
    redis.call('HSET', KEYS[1], n .. 's', 'L' .. head .. 'c' .. tail)
    return {'r', n}
end
if letter == 'D' or letter == 'X' then return {'e', n} end
local rank, kind, len, most, at = string.match(q[3],
    '^%+........(%-?%d+),%d+,(%d+),(%d+),(%d+);()')
local id = at and string.sub(q[3], at + kind, at + kind + len - 1) or ''
local own = string.match(redis.call('HGET', KEYS[2], id) or '', '^%d+') == n
redis.call('HDEL', KEYS[1], n, n .. 's', n .. 'r')
if own then redis.call('HDEL', KEYS[2], id) end
local out = redis.call('ZREM', KEYS[3], n) +
    redis.call('ZREM', KEYS[4], n, n .. ',' .. (rank or ''))
local holes = math.max(0, tonumber(q[4]) or 0) + 1
if out == 0 then redis.call('HSET', KEYS[1], 'holes', holes) end
local who = at and string.match(string.sub(q[3], at + kind + len,
    at + kind + len + most - 1), '^[^r]*r(.*)$')
if who then redis.pcall('PUBLISH', who, n .. ' c ') end
return {'c', n}
