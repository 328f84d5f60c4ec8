-- Counts a request in all of its windows, KEYS, or in none. A window is a list of times, the newest
-- first, as in the scripts of `limits`. ARGV: the time, whether it counts, each window's limit and
-- length. Returns whether it is allowed, and each window's count and oldest time.
local now, allowed, reply = tonumber(ARGV[1]), 1, {}
for i, key in ipairs(KEYS) do
    local oldest = redis.call('lindex', key, -1)
    while oldest and tonumber(oldest) < now - ARGV[2 * i + 2] do
        redis.call('rpop', key)
        oldest = redis.call('lindex', key, -1)
    end
    if redis.call('llen', key) >= tonumber(ARGV[2 * i + 1]) then
        allowed = 0
    end
end
for i, key in ipairs(KEYS) do
    if allowed == 1 and ARGV[2] == '1' then
        redis.call('lpush', key, ARGV[1])
        redis.call('expire', key, ARGV[2 * i + 2])
    end
    reply[2 * i] = redis.call('llen', key)
    reply[2 * i + 1] = redis.call('lindex', key, -1) or ARGV[1]
end
reply[1] = allowed
return reply
