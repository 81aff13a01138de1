#!lua flags=allow-oom
-- queue_look.lua: returns all that is known of one job.
-- KEYS  1 jobs  2 ids  3 delayed  4 leased  5 done  6 dead
-- ARGV  1 id, or ''  2 number, when there is no id
-- Returns {place, number, ms, record, state, text}. place: w waiting, y delayed
-- until ms, l leased until ms, d done and kept until ms, x dead since ms; only
-- {'g', number} if there is no such job. text: 'p' and the progress, 'd' and
-- the result, or 'x' and the last error. Errors: VERSION.
-- Invariant: nothing changes.
local n = ARGV[2]
if ARGV[1] ~= '' then n = redis.call('HGET', KEYS[2], ARGV[1]) or '' end
n = string.match(n, '^%d+') or ''
local q = redis.call('HMGET', KEYS[1], 'version', n, n .. 's', n .. 'r')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if n == '' or not q[2] then return {'g', n} end
local letter = string.sub(q[3] or 'W', 1, 1)
local ms = letter ~= 'W' and redis.call('ZSCORE',
    KEYS[letter == 'L' and 4 or letter == 'D' and 5 or 6], n) or '-1'
if letter == 'W' then
    local rank = string.match(q[2], '^%+........(%-?%d+),') or '0'
    local at = redis.call('ZSCORE', KEYS[3], n .. (rank == '0' and '' or
        ',' .. rank))
    letter = at and 'Y' or 'W'
    ms = at and string.format('%.0f', math.floor(at / 1024)) or '-1'
end
return {string.lower(letter), n, ms, q[2], q[3] or '', q[4] or ''}
