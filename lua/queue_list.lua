#!lua flags=allow-oom
-- queue_list.lua: returns one page of the jobs in a place, in order.
-- KEYS  1 jobs  2 waiting, ranked, delayed, leased, done or dead
-- ARGV  1 letter of the place: w, k, y, l, d, x  2 where to begin, 0 at first
--       3 how many to look at, up to 128; fewer if they are long  4 bytes of a
--       record and of a text to return, 1100 at least  5 a type: only its jobs
-- Returns {where to go on, -1: the end; server us; then number, ms, bytes
-- of record, record, state, text, bytes of text of each}. Errors: VERSION.
-- Invariant: nothing changes. A number whose job is gone or in another place is
-- left out. A job that moves between two pages is listed twice or not at all.
local t, from, cut, is = redis.call('TIME'), ARGV[2] + 0, ARGV[4] + 0, ARGV[1]
local last, list, at, get = from + ARGV[3] - 1, {}, {}, {'version'}
if is == 'w' then list = redis.call('LRANGE', KEYS[2], from, last) else
    local both = redis.call('ZRANGE', KEYS[2], from, last, 'WITHSCORES')
    for i = 1, #both, 2 do
        list[#list + 1], at[#at + 1] = both[i], tonumber(both[i + 1])
    end
end
local all, bytes = #list, 0
for i, n in ipairs(list) do
    n = string.match(n, '^%d+') or '-'
    bytes = bytes + redis.call('HSTRLEN', KEYS[1], n) +
        redis.call('HSTRLEN', KEYS[1], n .. 'r')
    get[3 * i - 1], get[3 * i], get[3 * i + 1] = n, n .. 's', n .. 'r'
    if i > 1 and bytes > 1048576 then list[i] = nil end
end
local q = redis.call('HMGET', KEYS[1], unpack(get, 1, 3 * #list + 1))
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
local reply = {#list < all and from + #list or all == last - from + 1 and
    last + 1 or -1, t[1] * 1000000 + t[2]}
local want = string.match('wky', is) and 'W' or string.upper(is)
for i = 1, #list do
    local rec, s, text = q[3 * i - 1], q[3 * i] or 'W', q[3 * i + 1] or ''
    local len, to = string.match(rec or '',
        '^%+........%-?%d+,%d+,(%d+),%d+,%d+;()')
    local kind = to and string.sub(rec, to, to + len - 1) or ''
    local ms = is ~= 'k' and at[i] or -1
    if is == 'y' then ms = math.floor(ms / 1024) end
    if rec and string.sub(s, 1, 1) == want and (ARGV[5] or kind) == kind then
        for _, v in ipairs({get[3 * i - 1], string.format('%.0f', ms), #rec,
            string.sub(rec, 1, cut), s, string.sub(text, 1, cut), #text})
        do reply[#reply + 1] = v end
    end
end
return reply
