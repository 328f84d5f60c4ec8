"""A node of the synthetic chain over HTTP, as a process of its own that takes little CPU.

    python -m bench.node --port 8545 --blocks 7000 --traces callTracer --shown 100

Blocks, receipts and traces are served as bytes (chain.py); balances, code and calls have one answer
each. Without `--traces` their methods are "method not found", as on most public nodes. With
`--shown` it has so many blocks at first; bench_start shows the others, a number of them a second,
and returns the time.monotonic() at which it began; bench_first_request returns that of the first
request of receipts. What it takes of the processor itself is in README.md.
"""

import argparse
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy
import orjson

from bench.chain import Chain, made_hashes
from bench.options import TRACERS
from bench.parties import is_contract, pool_tokens
from scan.cached_values import cached_property
from scan.ethereum import token_metadata
from scan.ethereum.served_chain import NO_BLOCK
from scan.settings import ROOT

HASHES = ROOT / "var" / "bench" / "chain"
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

    def __init__(
        self, chain: Chain, blocks: int, traces: str = "none", genesis: str = "", shown: int = 0
    ) -> None:
        """With `genesis`, the hash of block 0, all blocks after it are pruned."""
        self._genesis = genesis
        self._chain = chain
        self._last = blocks - 1
        self._shown = shown or blocks  # before bench_start
        self._pace = 0.0  # blocks a second
        self._started_at = 0.0
        self._first_request_at = 0.0  # of receipts, by time.monotonic()
        self._methods: dict[str, Callable[..., bytes]] = {
            "eth_blockNumber": lambda: b'"0x%x"' % self._head,
            "bench_start": self._start,
            "eth_chainId": lambda: b'"0x1"',
            "net_version": lambda: b'"1"',
            "eth_syncing": lambda: b"false",
            "web3_clientVersion": lambda: b'"Geth/v1.16.7-stable/linux-amd64/go1.24"',
            "eth_getBlockByNumber": self._block,
            "bench_first_request": lambda: orjson.dumps(self._first_request_at),
            "eth_getBlockReceipts": self._receipts,
            "eth_getLogs": self._logs,
            "eth_getBalance": lambda _, block: (
                b"null" if block == NO_BLOCK else b'"0x8ac7230489e80000"'
            ),
            "eth_getCode": lambda address, _: CODE if is_contract(address) else b'"0x"',
            "eth_call": self._call,
        }
        if traces == "callTracer":
            self._methods["debug_traceBlockByHash"] = self._call_traces

    @property
    def _head(self) -> int:
        passed_s = time.monotonic() - self._started_at
        return min(self._shown - 1 + int(passed_s * self._pace), self._last)

    def _start(self, pace: float) -> bytes:
        self._started_at, self._pace = time.monotonic(), pace
        return orjson.dumps(self._started_at)

    def _number(self, text: str) -> int:
        return int(text, 16) if text.startswith("0x") else self._head

    def _block(self, text: str, whole: bool) -> bytes:
        number = self._number(text)
        if number > self._head or (self._genesis and number and text != "latest"):
            return b"null"
        if self._genesis and not number:
            return orjson.dumps({"number": "0x0", "hash": self._genesis, "transactions": []})
        return self._chain.block(number) if whole else self._chain.header(number)

    def _receipts(self, number: str) -> bytes:
        self._first_request_at = self._first_request_at or time.monotonic()
        return self._chain.receipts(self._number(number))

    def _call_traces(self, block_hash: str, _options: Any) -> bytes:
        return self._chain.traces(self._block_numbers[bytes.fromhex(block_hash[2:])])

    @cached_property
    def _block_numbers(self) -> dict[bytes, int]:
        hashes = self._chain.hashes[:, 0]
        return {hash_.tobytes(): number for number, hash_ in enumerate(hashes)}

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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    node: Node

    def do_POST(self) -> None:
        self._send(self.node.answer(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self) -> None:
        self._send(b"{}")

    def _send(self, body: bytes) -> None:
        self.send_response_only(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--blocks", type=int, required=True)
    parser.add_argument("--hashes", type=Path, default=HASHES, help="file, made if it is not there")
    parser.add_argument("--traces", choices=TRACERS, default="none")
    parser.add_argument("--genesis", default="", help="hash of block 0, if all others are pruned")
    parser.add_argument("--shown", type=int, default=0, help="blocks before bench_start")
    options = parser.parse_args()
    chain = Chain(made_hashes(options.hashes, options.blocks))
    _Handler.node = Node(chain, options.blocks, options.traces, options.genesis, options.shown)
    server = ThreadingHTTPServer(("127.0.0.1", options.port), _Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
