-- queue_unique.lua: puts a job unless a job with its id makes it unnecessary.
-- KEYS  1 jobs  2 delayed  3 ids  4 waiting  5 ranked
-- ARGV  1 producer  2 op  3 t throttle, e extend, r replace, d debounce  4 ms
--       of a window  5 head with id  6 payload  7 as ARGV[3] of queue_put_full
-- Returns and errors as queue_put_full; -nX: job n is dead; -nG: n is gone.
-- Invariant: as of queue_put_full. A window opens last, and outlives its job.
local t, mode, ask = redis.call('TIME'), ARGV[3], redis.call
local head = '^(%-?%d+),(%d+),(%d+),(%d+),(%d+);()'
local ms, wide, set = t[1] * 1000 + math.floor(t[2] / 1000), ARGV[4], {}
local rank, delay, kind, len, more, at = string.match(ARGV[5], head)
local id = string.sub(ARGV[5], at + kind, at + kind + len - 1)
local bound = redis.call('HGET', KEYS[3], id) or '0'
local n, till, width = string.match(bound, '^(%d+),?(%d*),?(%d*)$')
local q = redis.call('HMGET', KEYS[1], 'version', 'p' .. ARGV[1], 'seq',
    'closed', 'due', n, n .. 's', 'holes')
local op, said = string.match(q[2] or '', '^(%d+) ([%w-]*)')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if op and op + 0 >= ARGV[2] + 0 then return said end
if q[4] then return redis.error_reply('CLOSED the queue takes no jobs') end
local window, state = string.find('te', mode), string.sub(q[7] or 'W', 1, 1)
local live = q[6] and state ~= 'X' and (mode ~= 'd' or state == 'W')
if window and till ~= '' then live, wide = tonumber(till) > ms, width end
local m = ask('ZCARD', KEYS[2]) + ask('LLEN', KEYS[4]) + ask('ZCARD', KEYS[5])
    - math.max(0, q[8] or 0)
local full = not live and ARGV[7] ~= '0' and m >= ARGV[7] + 0
if full then return redis.error_reply('FULL ' .. m .. ' jobs wait') end
if not live then
    n, wide = string.format('%.0f', (q[3] or 0) + 1), ARGV[4]
    set = {n, string.format('+%08x', t[1]) .. ARGV[5] .. ARGV[6]}
    redis.call('HSET', KEYS[1], 'version', '1', 'seq', n)
elseif not window and state == 'W' then
    rank, wide, kind, len, more, at = string.match(q[6], head, 10)
    set = {n, string.sub(q[6], 1, at + kind + len + more - 1) .. ARGV[6]}
end
local name = rank == '0' and n or n .. ',' .. rank
local when = (ms + delay) * 1024 + n % 1024
said = live and '-' .. n .. (q[6] and state or 'G') or n
local moves = not live or mode == 'd' and redis.call('ZSCORE', KEYS[2], name)
if moves then redis.call('ZADD', KEYS[2], when, name) end
if not live then redis.call('HSET', KEYS[3], id, n) end
ask('HSET', KEYS[1], 'due', string.format('%.0f', math.min(when, tonumber(q[5])
    or when)), 'p' .. ARGV[1], ARGV[2] .. ' ' .. said, unpack(set))
local opens = window and (not live or mode == 'e' and till ~= '')
if opens then ask('HSET', KEYS[3], id, n .. ',' .. ms + wide .. ',' .. wide) end
return said
