"""Windows in one Redis server, shared by processes and hosts, with many requests a round trip.

A thread takes all waiting requests, and Redis counts them in one script. The time is the Redis
server's, so the hosts' clocks need not be synchronised.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from hashlib import sha1
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple

from scan.rate_limits.storage_health import StorageHealth
from scan.rate_limits.windows import RateLimitResult, Window, tightest

log = logging.getLogger(__name__)

MAX_BATCH = 128  # requests in one round trip
PREFIX = "scan:"
# Returns the result of a request while the storage does not respond.
WhenLost = Callable[[Sequence[Window]], RateLimitResult]

# Atomic: a request is counted in all of its windows or in none. A window is a list of times in
# microseconds, newest first; expired ones are removed from its end.
# KEYS: the windows of all requests. ARGV, for each request: whether it is counted (1) or only
# read (0), the number of its windows, then limit and length in microseconds of each.
# Returns, for each request: whether it is allowed in all its windows, then for each of them the
# number of requests in it and the microseconds until the oldest of them expires.
CHARGE = """
local clock = redis.call('time')
local now = clock[1] * 1000000 + clock[2]
local reply, key, arg = {}, 0, 1
while arg <= #ARGV do
    local is_counted, windows, allowed = ARGV[arg] == '1', tonumber(ARGV[arg + 1]), 1
    local counts, oldest = {}, {}
    for i = 1, windows do
        local edge = now - ARGV[arg + 2 * i + 1]
        local first = redis.call('lindex', KEYS[key + i], -1)
        while first and tonumber(first) < edge do
            redis.call('rpop', KEYS[key + i])
            first = redis.call('lindex', KEYS[key + i], -1)
        end
        oldest[i] = first
        counts[i] = first and redis.call('llen', KEYS[key + i]) or 0
        if counts[i] >= tonumber(ARGV[arg + 2 * i]) then
            allowed = 0
        end
    end
    reply[#reply + 1] = allowed
    for i = 1, windows do
        local length = ARGV[arg + 2 * i + 1]
        if is_counted and allowed == 1 then
            counts[i] = redis.call('lpush', KEYS[key + i], string.format('%.0f', now))
            redis.call('pexpire', KEYS[key + i], math.ceil(length / 1000))
            oldest[i] = oldest[i] or now
        end
        reply[#reply + 1] = counts[i]
        reply[#reply + 1] = oldest[i] and oldest[i] + length - now or 0
    end
    key = key + windows
    arg = arg + 2 + 2 * windows
end
return reply
"""

_DIGEST = sha1(CHARGE.encode(), usedforsecurity=False).hexdigest()


class _Charge(NamedTuple):
    windows: Sequence[Window]
    is_counted: bool
    result: "Future[RateLimitResult]"


class RedisWindows:
    """Windows in the Redis server of `client`, a redis.Redis with time-outs. While it fails,
    `when_lost` returns the results.

    One connection is used directly: a round trip through the client takes 85 us of processor time,
    on the connection 39 us.
    """

    waits = True

    def __init__(
        self, client: Any, errors: Any, health: StorageHealth, when_lost: WhenLost
    ) -> None:
        from redis.exceptions import NoScriptError  # the package is an optional dependency

        self._client = client
        self._errors = errors
        self._health = health
        self._when_lost = when_lost
        self._unknown_script_error = NoScriptError
        self._connection: Any = None
        self._waiting: SimpleQueue[_Charge] = SimpleQueue()
        self._thread: Thread | None = None  # started after the worker was forked
        self._starting = Lock()

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
        return self.submit(*windows, is_counted=is_counted).result()

    def submit(self, *windows: Window, is_counted: bool = True) -> Future[RateLimitResult]:
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = Thread(target=self._run, name="rate-limits", daemon=True)
                    self._thread.start()
        result: Future[RateLimitResult] = Future()
        self._waiting.put(_Charge(windows, is_counted, result))
        return result

    def _run(self) -> None:
        while True:
            charges = [self._waiting.get()]
            with suppress(Empty):
                while len(charges) < MAX_BATCH:
                    charges.append(self._waiting.get_nowait())
            try:
                self._charge(charges)
            except Exception as error:  # else this thread would end, and requests wait for ever
                log.exception("charging failed")
                for charge in charges:
                    if not charge.result.done():
                        charge.result.set_exception(error)

    def _charge(self, charges: Sequence[_Charge]) -> None:
        if not self._health.is_lost:
            try:
                numbers = self._execute(charges)
            except self._errors as error:
                self._health.lose(error)
            else:
                for charge in charges:
                    allowed = next(numbers) == 1
                    results = [
                        window.result(allowed, next(numbers), next(numbers) / 1_000_000)
                        for window in charge.windows
                    ]
                    charge.result.set_result(tightest(results))
                return
        for charge in charges:
            _settle(charge, self._when_lost)

    def _execute(self, charges: Sequence[_Charge]) -> Iterator[int]:
        """Run CHARGE, and return its numbers in the order of the requests."""
        keys: list[str] = []
        arguments: list[int] = []
        for windows, is_counted, _ in charges:
            arguments += (int(is_counted), len(windows))
            for window in windows:
                keys.append(PREFIX + window.key)
                arguments += (window.rate.amount, window.rate.get_expiry() * 1_000_000)
        try:
            return iter(self._call("EVALSHA", _DIGEST, len(keys), *keys, *arguments))
        except self._unknown_script_error:  # EVAL loads the script, until the server restarts
            return iter(self._call("EVAL", CHARGE, len(keys), *keys, *arguments))

    def _call(self, *command: object) -> list[int]:
        if self._connection is None:
            self._connection = self._client.connection_pool.get_connection()
        self._connection.send_command(*command)
        numbers: list[int] = self._connection.read_response()
        return numbers


def _settle(charge: _Charge, when_lost: WhenLost) -> None:
    try:
        charge.result.set_result(when_lost(charge.windows))
    except Exception as error:  # it is raised where the result is read
        charge.result.set_exception(error)
