-- queue_offer.lua: jobs enter that are not plain, all of them or none.
-- KEYS  1 jobs  2 delayed  3 ids
-- ARGV  1 producer  2 op  3 how many may be delayed  then head and payload of
--       each. A head is 'rank,delay ms,n,n,n;' and, n bytes each, type, id,
--       and what the library keeps there.
-- Returns a number for each, blanks between them: the job's own; below 0,
-- that of the job which has this id. The same op again: the same answer.
-- Errors: VERSION, CLOSED, FULL.
-- Invariant: each goes to `delayed`, if only until queue_ready, which is sent
-- behind this, finds its place. A number without a record is no job.
local t = redis.call('TIME')
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
local born = string.format('%x', t[1])
local q = redis.call('HMGET', KEYS[1], 'version', 'p' .. ARGV[1], 'seq',
    'closed', 'due')
local op, said = string.match(q[2] or '', '^(%d+) (.*)$')
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
if op == ARGV[2] then return said end
if q[4] then return redis.error_reply('CLOSED the queue takes no jobs') end
if redis.call('ZCARD', KEYS[2]) + #ARGV / 2 - 1.5 > tonumber(ARGV[3]) then
    return redis.error_reply('FULL ' .. ARGV[3] .. ' jobs are delayed')
end
local seq, due = tonumber(q[3]) or 0, tonumber(q[5]) or 2 ^ 53
local own, late, ids, set, answer = {}, {}, {}, {}, {}
for i = 4, #ARGV, 2 do
    local delay, kind, len, at =
        string.match(ARGV[i], '^-?%d+,(%d+),(%d+),(%d+),%d+;()')
    local id = string.sub(ARGV[i], at + kind, at + kind + len - 1)
    local twin = id ~= '' and (own[id] or redis.call('HGET', KEYS[3], id))
    local n = string.format('%.0f', seq + (twin and 0 or 1))
    answer[#answer + 1] = twin and '-' .. twin or n
    if not twin then
        seq, due, own[id] = seq + 1, math.min(due, ms + delay), n
        late[#late + 1], late[#late + 2] = ms + delay, n
        set[#set + 1], set[#set + 2] = n, '+' .. born .. ARGV[i] .. ARGV[i + 1]
        if id ~= '' then ids[#ids + 1], ids[#ids + 2] = id, n end
    end
end
local all = table.concat(answer, ' ')
if #late > 0 then redis.call('ZADD', KEYS[2], unpack(late)) end
redis.call('HSET', KEYS[1], 'version', '1', 'seq', string.format('%.0f', seq),
    'due', string.format('%.0f', due), 'p' .. ARGV[1],
    ARGV[2] .. ' ' .. all, unpack(set))
if #ids > 0 then redis.call('HSET', KEYS[3], unpack(ids)) end
return all
