"""Windows in one Redis server, for several processes and hosts: many requests in one exchange.

A thread takes whatever requests wait, and Redis counts all of them in one script. The clock is the
server's, so the hosts' clocks need not agree.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from hashlib import sha1
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple

from scan.observability import metrics
from scan.rate_limits.windows import RateLimitResult, WhenLost, Window, tightest

log = logging.getLogger(__name__)

MOST_AT_ONCE = 128  # requests in one exchange
PROBE_EVERY_S = 0.1  # while the server does not answer
PREFIX = "scan:"

# One step of the server: every window of a request gets it, or none does. A window is a list of
# times in microseconds, the newest first; what has left it is removed from its end.
# KEYS: the windows of all requests. ARGV, for each request: whether it is counted (1) or only
# looked at (0), the number of its windows, then limit and length in microseconds of each.
# Returns, for each request: whether there is room in all its windows, then for each of them how
# many requests it holds and in how many microseconds the oldest leaves it.
CHARGE = """
local clock = redis.call('time')
local now = clock[1] * 1000000 + clock[2]
local found, key, arg = {}, 0, 1
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
    found[#found + 1] = allowed
    for i = 1, windows do
        local length = ARGV[arg + 2 * i + 1]
        if is_counted and allowed == 1 then
            counts[i] = redis.call('lpush', KEYS[key + i], string.format('%.0f', now))
            redis.call('pexpire', KEYS[key + i], math.ceil(length / 1000))
            oldest[i] = oldest[i] or now
        end
        found[#found + 1] = counts[i]
        found[#found + 1] = oldest[i] and oldest[i] + length - now or 0
    end
    key = key + windows
    arg = arg + 2 + 2 * windows
end
return found
"""

_DIGEST = sha1(CHARGE.encode(), usedforsecurity=False).hexdigest()


class _Charge(NamedTuple):
    windows: Sequence[Window]
    is_counted: bool
    result: "Future[RateLimitResult]"


class RedisWindows:
    """`client` is a redis.Redis with time-outs; while it fails, `when_lost` decides.

    One of its connections is held: through the client an exchange takes 85 us of processor time,
    on the connection 39.
    """

    waits = True

    def __init__(self, client: Any, errors: Any, when_lost: WhenLost) -> None:
        from redis.exceptions import NoScriptError  # only who counts in Redis needs the package

        self._client = client
        self._errors = errors
        self._when_lost = when_lost
        self._unknown_script = NoScriptError
        self._connection: Any = None
        self._waiting: SimpleQueue[_Charge] = SimpleQueue()
        self._thread: Thread | None = None  # not before the worker was forked
        self._starting = Lock()
        self._is_lost = False

    def charge(self, *windows: Window) -> RateLimitResult:
        return self._put(windows, True).result()

    def submit(self, *windows: Window) -> "Future[RateLimitResult] | None":
        return self._put(windows, True)

    def peek(self, window: Window) -> RateLimitResult:
        return self._put([window], False).result()

    def _put(self, windows: Sequence[Window], is_counted: bool) -> "Future[RateLimitResult]":
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
            charges = self._take()
            try:
                self._charge(charges)
            except Exception as error:  # it would end this thread, and with it every request
                log.exception("charging failed")
                for charge in charges:
                    if not charge.result.done():
                        charge.result.set_exception(error)

    def _take(self) -> list[_Charge]:
        charges = [self._waiting.get()]
        try:
            while len(charges) < MOST_AT_ONCE:
                charges.append(self._waiting.get_nowait())
        except Empty:
            pass
        return charges

    def _charge(self, charges: Sequence[_Charge]) -> None:
        if not self._is_lost:
            try:
                found = self._ask(charges)
            except self._errors as error:
                self._lose(error)
            else:
                for charge in charges:
                    charge.result.set_result(_result(charge, found))
                return
        for charge in charges:
            _settle(charge, self._when_lost)

    def _ask(self, charges: Sequence[_Charge]) -> Iterable[int]:
        keys: list[str] = []
        arguments: list[int] = []
        for windows, is_counted, _ in charges:
            arguments += (int(is_counted), len(windows))
            for window in windows:
                keys.append(PREFIX + window.key)
                arguments += (window.rate.amount, window.rate.get_expiry() * 1_000_000)
        try:
            return iter(self._call("EVALSHA", _DIGEST, len(keys), *keys, *arguments))
        except self._unknown_script:  # it is known from then on, until the server starts anew
            return iter(self._call("EVAL", CHARGE, len(keys), *keys, *arguments))

    def _call(self, *command: object) -> list[int]:
        if self._connection is None:
            self._connection = self._client.connection_pool.get_connection()
        self._connection.send_command(*command)
        found: list[int] = self._connection.read_response()
        return found

    def _lose(self, error: Exception) -> None:
        """Nobody waits for a server that does not answer, until it does."""
        log.warning("rate limit storage is down: %s", type(error).__name__)
        self._is_lost = True
        metrics.RATE_LIMIT_STORAGE_UP.set(0)
        Thread(target=self._probe, name="rate-limits-probe", daemon=True).start()

    def _probe(self) -> None:
        while self._is_lost:
            time.sleep(PROBE_EVERY_S)
            try:
                self._client.ping()
            except self._errors:
                continue
            log.info("rate limit storage is up again")
            metrics.RATE_LIMIT_STORAGE_UP.set(1)
            self._is_lost = False


def _result(charge: _Charge, found: Iterable[int]) -> RateLimitResult:
    numbers = iter(found)
    allowed = next(numbers) == 1
    results = [
        window.result(allowed, next(numbers), next(numbers) / 1_000_000)
        for window in charge.windows
    ]
    return tightest(results)


def _settle(charge: _Charge, when_lost: WhenLost) -> None:
    try:
        charge.result.set_result(when_lost(charge.windows))
    except Exception as error:  # it is raised where the result is read
        charge.result.set_exception(error)
