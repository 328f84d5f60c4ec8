-- What wrk sends: the lines of a file in turn, "METHOD<tab>path<tab>body", and its findings as JSON.

local requests = {}
local at = 0

function init(args)
    for line in io.lines(args[1]) do
        local method, path, body = line:match("^(%u+)\t([^\t]+)\t(.*)$")
        local headers = {}
        if body == "" then
            body = nil
        else
            headers["Content-Type"] = "application/json"
        end
        requests[#requests + 1] = wrk.format(method, path, headers, body)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end

function done(summary, latency, _)
    local errors = summary.errors
    io.write(string.format(
        '\n{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"bytes":%d,"failed":%d}\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        summary.bytes, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
