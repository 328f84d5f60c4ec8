"""The metrics that this process counts. Metrics of the index's state are read from the database."""

import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple

from prometheus_client import Counter, Gauge, Histogram, start_http_server

_QUICK_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW_S = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

HTTP_REQUESTS = Counter("scan_http_requests", "Requests answered.", ["route", "method", "status"])
HTTP_SECONDS = Histogram(
    "scan_http_request_seconds", "Response time.", ["route", "method"], buckets=_QUICK_S
)
HTTP_BUSY = Gauge("scan_http_busy_threads", "Threads that are processing a request.")
STREAMS = Gauge("scan_streams", "Streams that clients have open.")
RATE_LIMITED = Counter("scan_rate_limited", "Requests refused with 429.", ["client"])
RATE_LIMIT_STORAGE_UP = Gauge(
    "scan_rate_limit_storage_up", "1 while SCAN_RATE_LIMIT_STORAGE counts requests."
)
RATE_LIMIT_STORAGE_UP.set(1)

CHAIN_INFO = Gauge("scan_chain_info", "The chain, in labels; always 1.", ["chain_id", "name"])

RPC_CALLS = Counter("scan_rpc_calls", "Calls sent to the node.", ["method"])
RPC_ERRORS = Counter("scan_rpc_errors", "Calls for which the node returned an error object.")
RPC_FAILURES = Counter("scan_rpc_failures", "Requests without a usable response.", ["reason"])
RPC_SECONDS = Histogram("scan_rpc_request_seconds", "Response time of the node.", buckets=_SLOW_S)

INDEXED_BLOCKS = Counter("scan_indexed_blocks", "Blocks written.")
INDEXED_TRANSACTIONS = Counter("scan_indexed_transactions", "Transactions written.")
INDEXER_SECONDS = Counter(
    "scan_indexer_seconds", "Seconds of a long catch-up by stage; stages overlap.", ["stage"]
)
REORGANISED_BLOCKS = Counter("scan_reorganised_blocks", "Blocks removed in reorgs.")
INDEXER_STALLED = Gauge("scan_indexer_stalled", "1 while the head cannot advance.")

DELIVERY_ATTEMPTS = Counter("scan_delivery_attempts", "Webhook attempts that ended.", ["outcome"])
DELIVERY_SECONDS = Histogram("scan_delivery_seconds", "Time of an attempt.", buckets=_SLOW_S)


class RpcObservation(NamedTuple):
    """A request to the node, to be counted; or only `errors`, for an error object in an answer."""

    methods: Mapping[str, int]
    seconds: float | None
    failure: str | None
    errors: int


# The observations of a process that serves no metrics, for the process that does.
_kept: deque[RpcObservation] | None = None


def keep_observations() -> None:
    """From now on, keep observations of requests to the node for another process, and do not count
    them."""
    global _kept
    _kept = deque()


def take_observations() -> list[RpcObservation]:
    """Return the observations since the last call, and forget them."""
    observations = []
    # Other threads append meanwhile, and a loop over a deque that changes raises.
    with suppress(IndexError):
        while _kept is not None:
            observations.append(_kept.popleft())
    return observations


def count_rpc(observation: RpcObservation) -> None:
    if _kept is not None:
        _kept.append(observation)
        return
    for method, calls in observation.methods.items():
        RPC_CALLS.labels(method).inc(calls)
    if observation.failure is not None:
        RPC_FAILURES.labels(observation.failure).inc()
    if observation.seconds is not None:
        RPC_SECONDS.observe(observation.seconds)
    if observation.errors:
        RPC_ERRORS.inc(observation.errors)


def count_stage(stage: str, seconds: float) -> None:
    INDEXER_SECONDS.labels(stage).inc(seconds)


# A loop that has not begun a step for so long hangs: statements and requests have time-outs.
HANGS_AFTER_S = 600.0
_alive_until = inf  # by time.monotonic()


def beat(within_s: float = HANGS_AFTER_S) -> None:
    """Note that the process's loop begins a step, which ends within a time."""
    global _alive_until
    _alive_until = time.monotonic() + within_s


def serve(host: str, port: int) -> None:
    """Serve GET /metrics at an address, for a process without other HTTP, and GET /healthz, which
    is 503 once its loop hangs."""
    server, _ = start_http_server(port, addr=host)
    export: Any = server.get_app()

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        if environ["PATH_INFO"] != "/healthz":
            return export(environ, start_response)
        is_alive = time.monotonic() < _alive_until
        status, word = ("200 OK", "alive") if is_alive else ("503 Service Unavailable", "hangs")
        start_response(status, [("Content-Type", "application/json")])
        return [f'{{"status":"{word}"}}'.encode()]

    server.set_app(application)
