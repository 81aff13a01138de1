#!lua flags=allow-oom
-- queue_progress.lua: notes how far a job has come.
-- KEYS  1 jobs
-- ARGV  number, token and text of each job
-- Returns a letter for each job: d noted, l lost, g gone. Errors: VERSION.
-- Invariant: a job that is not leased under its token does not change. The last
-- text is in the field of the job's error or result, and is removed with the
-- job.
local ask, said, set = {'version'}, '', {}
for i = 1, #ARGV, 3 do ask[#ask + 1] = ARGV[i] .. 's' end
local q = redis.call('HMGET', KEYS[1], unpack(ask))
if q[1] ~= '1' and q[1] then return redis.error_reply('VERSION ' .. q[1]) end
for i = 1, #ARGV, 3 do
    local s = q[(i + 5) / 3]
    local mine = s and string.match(s, '^L (%d+)') == ARGV[i + 1]
    said = said .. (mine and 'd' or s and 'l' or 'g')
    if mine then
        set[#set + 1], set[#set + 2] = ARGV[i] .. 'r', 'p' .. ARGV[i + 2]
    end
end
if #set > 0 then redis.call('HSET', KEYS[1], unpack(set)) end
return said
