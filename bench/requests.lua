-- What wrk sends: the lines of a file in turn, "METHOD<tab>path<tab>body", and its findings as JSON.
-- With a second argument requests are numbered from it, and have their number as a parameter without a
-- name, which is ignored but part of cache keys.

local requests = {}
local number = 0
local is_numbered = false
sent = 0  -- global, so that done() can read it
local threads = {}

function setup(thread)
    threads[#threads + 1] = thread
end

function init(args)
    is_numbered = args[2] ~= nil
    number = tonumber(args[2] or 0)
    for line in io.lines(args[1]) do
        local method, path, body = line:match("^(%u+)\t([^\t]+)\t(.*)$")
        local headers = {}
        if body == "" then
            body = nil
        else
            headers["Content-Type"] = "application/json"
        end
        if is_numbered then
            path = path .. (path:find("?", 1, true) and "&" or "?") .. "=@"
        end
        local text = wrk.format(method, path, headers, body)
        requests[#requests + 1] = is_numbered and {text:match("^(.-)@(.*)$")} or text
    end
end

function request()
    local found = requests[number % #requests + 1]
    number = number + 1
    sent = sent + 1
    return is_numbered and found[1] .. (number - 1) .. found[2] or found
end

function done(summary, latency, _)
    local errors = summary.errors
    local all_sent = 0
    for _, thread in ipairs(threads) do
        all_sent = all_sent + thread:get("sent")
    end
    io.write(string.format(
        '\n{"requests":%d,"sent":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"failed":%d}\n',
        summary.requests, all_sent, summary.duration, latency:percentile(50),
        latency:percentile(99),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
