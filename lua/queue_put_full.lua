-- queue_put_full.lua: puts jobs that have options, all of them or none.
-- KEYS  1 jobs  2 delayed  3 ids  4 waiting  5 ranked
-- ARGV  1 producer  2 op  3 how many may wait or be delayed, 0: any  then head
--       (rank,delay,n,n,n;type id options, n bytes each) and payload of each
-- Returns numbers, blanks between. For an id that job n has: -nW, n waits or is
-- delayed; -nL, n is leased; -nD, n is done. Errors: VERSION, CLOSED, FULL.
-- Invariant: a job is in `delayed`, for queue_promote, before it has a record.
local t, own, late, ids, set, all = redis.call('TIME'), {}, {}, {}, {}, ''
local ms, born, ask = t[1] * 1000 + math.floor(t[2] / 1000),
    string.format('+%08x', t[1]), redis.call
local q = redis.call('HMGET', KEYS[1], 'version', 'p' .. ARGV[1], 'seq',
    'closed', 'due', 'holes')
local op, said = string.match(q[2] or '', '^(%d+) ([%w -]*)')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if op and op + 0 >= ARGV[2] + 0 then return said end
if q[4] then return redis.error_reply('CLOSED the queue takes no jobs') end
local seq, due, m = q[3] or 0, tonumber(q[5]) or 2 ^ 53, math.max(0, q[6] or 0)
m = ask('ZCARD', KEYS[2]) + ask('LLEN', KEYS[4]) + ask('ZCARD', KEYS[5]) - m
local full = ARGV[3] ~= '0' and m + (#ARGV - 3) / 2 > ARGV[3] + 0
if full then return redis.error_reply('FULL ' .. m .. ' jobs wait') end
for i = 4, #ARGV, 2 do
    local rank, delay, kind, len, at =
        string.match(ARGV[i], '^(%-?%d+),(%d+),(%d+),(%d+),%d+;()')
    local id = string.sub(ARGV[i], at + kind, at + kind + len - 1)
    local twin = id ~= '' and redis.call('HGET', KEYS[3], id) or ''
    twin = own[id] or string.match(twin, '^%d+')
    local r = twin and redis.call('HMGET', KEYS[1], twin, twin .. 's') or {}
    local n, is = string.format('%.0f', seq + 1), string.sub(r[2] or 'W', 1, 1)
    local when = (ms + delay) * 1024 + n % 1024
    twin = (own[id] or r[1] and is ~= 'X') and '-' .. twin .. is
    all = all .. (i > 4 and ' ' or '') .. (twin or n)
    if not twin then
        seq, due, own[id] = seq + 1, math.min(due, when), id ~= '' and n or nil
        rank = rank == '0' and n or n .. ',' .. rank
        late[#late + 1], late[#late + 2] = when, rank
        set[#set + 1], set[#set + 2] = n, born .. ARGV[i] .. ARGV[i + 1]
        if own[id] then ids[#ids + 1], ids[#ids + 2] = id, n end
    end
end
redis.call('HSET', KEYS[1], 'version', '1', 'seq', string.format('%.0f', seq))
if #late > 0 then redis.call('ZADD', KEYS[2], unpack(late)) end
if #ids > 0 then redis.call('HSET', KEYS[3], unpack(ids)) end
redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due), 'p' .. ARGV[1],
    ARGV[2] .. ' ' .. all, unpack(set))
return all
