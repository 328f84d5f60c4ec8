"""A node of the synthetic chain over HTTP, as a process of its own that takes little CPU.

    python -m bench.node --port 8545 --blocks 7000 --traces callTracer --latency 0.05 --gzip

Blocks, receipts and traces are served as bytes (chain.py); balances, code and calls have one answer
each. Without `--traces` their methods are "method not found", as on most public nodes. The other
options are the limits of a hosted node. What it takes of the processor itself is in README.md.
"""

import argparse
import gzip
import json
import threading
import time
from collections.abc import Callable
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy
import orjson

from bench.chain import ROOTS, Chain, made_hashes
from bench.parties import is_contract, pool_tokens
from bench.processes import processor_seconds
from bench.seeded_transactions import SeededTransactions
from bench.shape import TRANSACTIONS
from scan.ethereum import token_metadata
from scan.settings import ROOT

HASHES = ROOT / "var" / "bench" / "chain"
TRACERS = ("none", "callTracer", "trace_block")
CODE = b'"0x' + b"60806040" * 700 + b'"'
METHOD_NOT_FOUND = b'"error":{"code":-32601,"message":"method not found"}'


def _word(value: int) -> bytes:
    return b'"0x%064x"' % value


NAME = b'"0x%064x%064x%s"' % (32, 5, b"Token".hex().ljust(64, "0").encode())
CALLS = {
    token_metadata.NAME: NAME,
    token_metadata.SYMBOL: NAME,
    token_metadata.DECIMALS: _word(18),
    token_metadata.TOTAL_SUPPLY: _word(10**27),
    token_metadata.FACTORY: _word(0x3333),
}
SIDES = {token_metadata.TOKEN0: 0, token_metadata.TOKEN1: 1}


class Node:
    """The methods of a node, each giving serialised JSON."""

    def __init__(self, chain: Chain, blocks: int, traces: str = "none") -> None:
        self._chain = chain
        self._head = blocks - 1
        self._methods: dict[str, Callable[..., bytes]] = {
            "eth_blockNumber": lambda: b'"0x%x"' % self._head,
            "eth_chainId": lambda: b'"0x1"',
            "net_version": lambda: b'"1"',
            "eth_syncing": lambda: b"false",
            "web3_clientVersion": lambda: b'"Geth/v1.16.7-stable/linux-amd64/go1.24"',
            "eth_getBlockByNumber": self._block,
            "eth_getBlockReceipts": lambda number: chain.receipts(self._number(number)),
            "eth_getTransactionReceipt": lambda hash_: chain.receipt(*self._place(hash_)),
            "eth_getLogs": self._logs,
            "eth_getBalance": lambda *_: b'"0x8ac7230489e80000"',
            "eth_getCode": lambda address, _: CODE if is_contract(address) else b'"0x"',
            "eth_call": self._call,
        }
        if traces == "callTracer":
            self._methods["debug_traceBlockByHash"] = self._call_traces
        elif traces == "trace_block":
            self._methods["trace_block"] = lambda number: chain.traces(traces, self._number(number))

    def serve_seeded(self, transactions: SeededTransactions) -> None:
        """Transactions by hash, and their receipts, of another chain: the one that is read."""
        self._methods["eth_getTransactionByHash"] = transactions.transaction
        self._methods["eth_getTransactionReceipt"] = transactions.receipt

    def _number(self, text: str) -> int:
        return int(text, 16) if text.startswith("0x") else self._head

    def _block(self, text: str, whole: bool) -> bytes:
        number = self._number(text)
        if number > self._head:
            return b"null"
        return self._chain.block(number) if whole else self._chain.header(number)

    def _call_traces(self, block_hash: str, _options: Any) -> bytes:
        return self._chain.traces("callTracer", self._block_numbers[bytes.fromhex(block_hash[2:])])

    @cached_property
    def _block_numbers(self) -> dict[bytes, int]:
        hashes = self._chain.hashes[:, 0]
        return {hash_.tobytes(): number for number, hash_ in enumerate(hashes)}

    def _place(self, transaction_hash: str) -> tuple[int, int]:
        """The number of a transaction's block, and its index there."""
        prefixes, order = self._transaction_order
        index = numpy.searchsorted(prefixes, numpy.uint64(int(transaction_hash[2:18], 16)))
        return divmod(int(order[index]), TRANSACTIONS)

    @cached_property
    def _transaction_order(self) -> tuple[Any, Any]:
        """The first eight bytes of all hashes, sorted, and where each stands in the chain."""
        prefixes: Any = self._chain.hashes[:, ROOTS:, :8].reshape(-1, 8).view(">u8")[:, 0]
        order = numpy.argsort(prefixes)
        return prefixes[order].astype(numpy.uint64), order

    def _logs(self, log_filter: dict[str, Any]) -> bytes:
        first, last = (self._number(log_filter[name]) for name in ("fromBlock", "toBlock"))
        return b"[%s]" % b",".join(map(self._chain.logs, range(first, last + 1)))

    def _call(self, call: dict[str, Any], *_: Any) -> bytes:
        selector = call["data"][:10]
        if selector in SIDES:
            pool = numpy.frombuffer(bytes.fromhex(call["to"][2:]), numpy.uint8)[None, :]
            return _word(int.from_bytes(pool_tokens(pool)[SIDES[selector]].tobytes()))
        return CALLS.get(selector, _word(0))

    def answer(self, body: bytes) -> bytes:
        payload = orjson.loads(body)
        if isinstance(payload, list):
            return b"[" + b",".join(map(self._reply, payload)) + b"]"
        return self._reply(payload)

    def _reply(self, call: dict[str, Any]) -> bytes:
        method = self._methods.get(call["method"])
        start = b'{"jsonrpc":"2.0","id":%s,' % orjson.dumps(call["id"])
        if method is None:
            return start + METHOD_NOT_FOUND + b"}"
        return start + b'"result":' + method(*call.get("params") or ()) + b"}"


class Hosting:
    """The limits of a hosted node, and what it has sent."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._calls_until = 0.0  # as many seconds ahead as calls were taken early
        self._bytes_until = 0.0
        self.requests = self.calls = self.sent_bytes = self.refused = 0

    def is_allowed(self, calls: int) -> bool:
        """Count a request; false above the rate of calls, of which a second's may come at once."""
        with self._lock:
            self.requests += 1
            self.calls += calls
            rate, now = self._options.calls_per_second, time.monotonic()
            if not rate:
                return True
            begins = max(self._calls_until, now - 1)
            is_allowed = begins + calls / rate <= now or begins <= now - 1
            self._calls_until = begins + calls / rate if is_allowed else self._calls_until
            self.refused += not is_allowed
            return is_allowed

    def wait(self, size: int) -> None:
        """For the way to the client and back, and for so many bytes on a link that all share."""
        with self._lock:
            self.sent_bytes += size
            ends = time.monotonic()
            if self._options.megabits:
                begins = max(self._bytes_until, ends)
                ends = self._bytes_until = begins + size * 8 / (self._options.megabits * 1e6)
        time.sleep(max(ends - time.monotonic(), 0.0) + self._options.latency)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    node: Node
    hosting: Hosting
    options: argparse.Namespace

    def do_POST(self) -> None:
        request = self.rfile.read(int(self.headers["Content-Length"]))
        calls = request.count(b'"method"')
        status, body = 200, b""
        if not self.hosting.is_allowed(calls):
            status = 429
        elif calls > self.options.batch:
            status, body = 413, b"batch too large"
        else:
            body = self.node.answer(request)
        is_zipped = self.options.gzip and "gzip" in self.headers.get("Accept-Encoding", "")
        self._send(status, gzip.compress(body, 1) if is_zipped else body, is_zipped)

    def do_GET(self) -> None:
        """What it has sent so far."""
        hosting = self.hosting
        counted = {"requests": hosting.requests, "calls": hosting.calls}
        self._send(200, orjson.dumps(counted | {"bytes": hosting.sent_bytes}), False)

    def _send(self, status: int, body: bytes, is_zipped: bool) -> None:
        if self.command == "POST":
            self.hosting.wait(len(body))
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        if is_zipped:
            self.send_header("Content-Encoding", "gzip")
        if status == 429:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def node_totals(url: str, pid: int) -> dict[str, float]:
    """What a node has sent so far, and microseconds of its processor."""
    with urlopen(url, timeout=30) as answer:
        return {**json.load(answer), "microseconds": processor_seconds(pid) * 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--blocks", type=int, required=True)
    parser.add_argument("--hashes", type=Path, default=HASHES, help="file, made if it is not there")
    parser.add_argument("--traces", choices=TRACERS, default="none")
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds of each request")
    parser.add_argument("--megabits", type=float, help="a second, of all connections")
    parser.add_argument("--calls-per-second", type=float, help="above which it answers 429")
    parser.add_argument("--batch", type=int, default=1_000, help="calls of a request")
    parser.add_argument("--seeded", metavar="DATABASE_URL")
    options = parser.parse_args()
    # Of a seeded chain no block is served, so that none need be made.
    chain = Chain.of(1) if options.seeded else Chain(made_hashes(options.hashes, options.blocks))
    _Handler.node = Node(chain, options.blocks, options.traces)
    _Handler.hosting, _Handler.options = Hosting(options), options
    if options.seeded:
        _Handler.node.serve_seeded(SeededTransactions(options.seeded))
    server = ThreadingHTTPServer(("127.0.0.1", options.port), _Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
