"""python -m bench.limits: our in-process windows beside the stock storage of limits.

Memory and cost of a charge with 100,000 clients, and how much of a core the storage takes while
500 requests a second come from as many clients.
"""

import time
from array import array
from pathlib import Path

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from scan.rate_limits.memory_windows import MemoryWindowStorage

CLIENTS = 100_000
REQUESTS_EACH = 10
REQUESTS_PER_S = 500
WATCHED_S = 8.0
RATE = parse(f"{REQUESTS_EACH}/minute")


def main() -> None:
    for storage in (MemoryWindowStorage(), MemoryStorage()):
        name = type(storage).__name__
        limiter = MovingWindowRateLimiter(storage)
        before = _resident_mb()
        print(f"{name}, {CLIENTS:,} clients")
        print(f"  charge        {_charge_costs(limiter)}")
        print(f"  memory        {_resident_mb() - before:.0f} MB")
        print(f"  at {REQUESTS_PER_S}/s     {_share_of_core(limiter):.1%} of a core")


def _charge_costs(limiter: MovingWindowRateLimiter) -> str:
    """Of every client's last place; CPU time, since the machine may be busy otherwise."""
    for _ in range(REQUESTS_EACH - 1):
        for number in range(CLIENTS):
            limiter.hit(RATE, _client(number))
    costs = array("d", (_cost_of_charge(limiter, _client(number)) for number in range(CLIENTS)))
    in_order = sorted(costs)
    mean_us = sum(costs) / CLIENTS * 1e6
    return f"{mean_us:.1f} us, 99 % within {in_order[CLIENTS * 99 // 100] * 1e6:.1f} us"


def _cost_of_charge(limiter: MovingWindowRateLimiter, client: str) -> float:
    started = time.thread_time()
    limiter.hit(RATE, client)
    limiter.get_window_stats(RATE, client)
    return time.thread_time() - started


def _share_of_core(limiter: MovingWindowRateLimiter) -> float:
    started, used = time.monotonic(), time.process_time()
    sent = 0
    while (elapsed := time.monotonic() - started) < WATCHED_S:
        while sent < elapsed * REQUESTS_PER_S:
            limiter.hit(RATE, _client(sent * 7919 % CLIENTS))
            sent += 1
        time.sleep(0.01)
    return (time.process_time() - used) / (time.monotonic() - started)


def _client(number: int) -> str:
    return f"2001:db8:{number >> 16:x}:{number & 0xFFFF:x}::/64"


def _resident_mb() -> float:
    [line] = [x for x in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in x]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
