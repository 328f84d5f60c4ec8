"""A node of the synthetic chain over HTTP, as a process of its own that takes little CPU.

Blocks and receipts are served as bytes; balances, code and calls have one answer each; traces are
"method not found", as on most public nodes.
"""

import argparse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

from bench.chain import Chain, is_contract
from bench.seeded_transactions import SeededTransactions
from scan.ethereum import token_metadata

CODE = b'"0x' + b"60806040" * 700 + b'"'


def _word(value: int) -> bytes:
    return b'"0x%064x"' % value


NAME = b'"0x%064x%064x%s"' % (32, 5, b"Token".hex().ljust(64, "0").encode())
CALLS = {
    token_metadata.NAME: NAME,
    token_metadata.SYMBOL: NAME,
    token_metadata.DECIMALS: _word(18),
    token_metadata.TOTAL_SUPPLY: _word(10**27),
    token_metadata.TOKEN0: _word(0x1111),
    token_metadata.TOKEN1: _word(0x2222),
    token_metadata.FACTORY: _word(0x3333),
}


class Node:
    """The methods of a node, each giving serialised JSON."""

    def __init__(self, chain: Chain, blocks: int) -> None:
        self._chain = chain
        self._head = blocks - 1
        self._methods: dict[str, Callable[..., bytes]] = {
            "eth_blockNumber": lambda: b'"0x%x"' % self._head,
            "eth_chainId": lambda: b'"0x1"',
            "net_version": lambda: b'"1"',
            "eth_syncing": lambda: b"false",
            "eth_getBlockByNumber": self._block,
            "eth_getBlockReceipts": lambda number: chain.receipts(int(number, 16)),
            "eth_getTransactionReceipt": chain.receipt,
            "eth_getBalance": lambda *_: b'"0x8ac7230489e80000"',
            "eth_getCode": lambda address, _: CODE if is_contract(address) else b'"0x"',
            "eth_call": lambda call, *_: CALLS.get(call["data"][:10], _word(0)),
        }

    def serve_seeded(self, transactions: SeededTransactions) -> None:
        """Transactions by hash, and their receipts, of another chain: the one that is read."""
        self._methods["eth_getTransactionByHash"] = transactions.transaction
        self._methods["eth_getTransactionReceipt"] = transactions.receipt

    def _block(self, number: str, whole: bool) -> bytes:
        height = self._head if number == "latest" else int(number, 16)
        if height > self._head:
            return b"null"
        return self._chain.block(height) if whole else self._chain.header(height)

    def answer(self, body: bytes) -> bytes:
        payload = orjson.loads(body)
        if isinstance(payload, list):
            return b"[" + b",".join(map(self._reply, payload)) + b"]"
        return self._reply(payload)

    def _reply(self, call: dict[str, Any]) -> bytes:
        method = self._methods.get(call["method"])
        start = b'{"jsonrpc":"2.0","id":%s,' % orjson.dumps(call["id"])
        if method is None:
            return start + b'"error":{"code":-32601,"message":"method not found"}}'
        return start + b'"result":' + method(*call["params"]) + b"}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    node: Node

    def do_POST(self) -> None:
        body = self.node.answer(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response_only(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response_only(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--blocks", type=int, required=True)
    parser.add_argument("--seeded", metavar="DATABASE_URL")
    options = parser.parse_args()
    _Handler.node = Node(Chain(), options.blocks)
    if options.seeded:
        _Handler.node.serve_seeded(SeededTransactions(options.seeded))
    server = ThreadingHTTPServer(("127.0.0.1", options.port), _Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
