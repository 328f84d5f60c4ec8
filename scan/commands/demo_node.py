"""A JSON-RPC node that replays a recording: the demo chain, or one by `scan doctor --record`.

The recording is gzipped JSON lines, one per request: {"method", "params", and "result" or "error"}.
That of a part of a chain has a line for HEADER, a method of no node, with its first and last block.
"""

import argparse
import gzip
import io
import sys
import threading
import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson

from scan.settings import ROOT

RECORDING = ROOT / "demo" / "chain.jsonl.gz"
HEADER = "scan_recording"
MAX_RECORDING_BYTES = 512 * 1024 * 1024  # unpacked; a file may come from anybody
MAX_ELEMENTS = 10_000_000  # of JSON, which take 100 bytes and more when they are parsed
MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_BATCH = 10_000
IDLE_TIMEOUT_S = 60

# Methods that read a state, and the index of the block among their parameters.
STATE_METHODS = {
    **dict.fromkeys(("eth_getBalance", "eth_getCode", "eth_getTransactionCount", "eth_call"), 1),
    "eth_getStorageAt": 2,
}
NEVER_USED = {"eth_getBalance": "0x0", "eth_getCode": "0x", "eth_getTransactionCount": "0x0"}

Outcome = dict[str, Any]
Block = dict[str, Any]


class RpcFault(Exception):
    """A JSON-RPC error, with a code of the JSON-RPC 2.0 specification and a message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.outcome: Outcome = {"error": {"code": code, "message": message}}


class Recording:
    """A recording has the requests that were made while it was recorded, with their responses."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        """Raises ValueError where the lines are no recording."""
        self._exact: dict[tuple[str, bytes], Outcome] = {}
        self._blocks: dict[int, Block] = {}
        self._by_hash: dict[str, Block] = {}
        self._states: dict[tuple[str, bytes], list[tuple[int, Outcome]]] = defaultdict(list)
        rows = list(map(_row, lines))
        self._is_part = any(row["method"] == HEADER for row in rows)
        try:
            self._keep_blocks(rows)
            self.first, self.head = min(self._blocks), max(self._blocks)
            for row in rows:
                self._keep(row)
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(f"a line is malformed: {error!r}") from None
        for states in self._states.values():
            states.sort(key=lambda state: state[0])
        self._methods = {method for method, _ in self._exact}
        # Results that follow from the blocks, whatever the recorded requests were.
        self._derived: dict[str, Callable[[list[Any]], Any]] = {
            "eth_blockNumber": lambda params: hex(self.head),
            "eth_syncing": lambda params: False,
            "eth_getBlockByNumber": lambda params: _with_transactions(
                self._block(self._number(params[0] if params else None)), params
            ),
            "eth_getBlockByHash": lambda params: _with_transactions(
                self._by_hash.get(_hash(params)), params
            ),
            "eth_getTransactionByHash": lambda params: self._transactions.get(_hash(params)),
            "eth_getTransactionReceipt": lambda params: self._receipts.get(_hash(params)),
            "eth_getLogs": self._logs,
        }

    @staticmethod
    def read(path: Path) -> "Recording":
        """Raises ValueError where the file is no recording."""
        try:
            with gzip.open(path, "rb") as file:
                content = file.read(MAX_RECORDING_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"it cannot be read: {error}") from None
        if len(content) > MAX_RECORDING_BYTES:
            raise ValueError(f"it has more than {MAX_RECORDING_BYTES >> 20} MiB")
        elements = len(content) - len(content.translate(None, b",[{"))
        if elements > MAX_ELEMENTS:
            raise ValueError(f"it has {elements:,} values, more than {MAX_ELEMENTS:,}")
        return Recording(io.BytesIO(content))

    def respond(self, method: str, params: list[Any]) -> Outcome:
        """Return the node's {"result"} or {"error"}; raises RpcFault if none was recorded."""
        outcome = self._exact.get(_exact_key(method, params))
        if derived := self._derived.get(method):
            try:
                return {"result": derived(params)}
            except RpcFault:  # of a header beside the recorded blocks, such as that of block 0
                if outcome is None:
                    raise
        if outcome:
            return outcome
        if method in STATE_METHODS:
            return self._state(method, params)
        if method not in self._methods:
            raise RpcFault(-32601, f"the recording has no method {method}")
        raise RpcFault(-32000, "the recording has no response to this request")

    def _keep_blocks(self, rows: list[dict[str, Any]]) -> None:
        """Keep only blocks with full transactions, from which blocks with hashes can be made."""
        for row in rows:
            if (
                row["method"].startswith("eth_getBlockBy")
                and row.get("result")
                and row["params"][1:] == [True]
            ):
                self._blocks[int(row["result"]["number"], 16)] = row["result"]
        if not self._blocks:
            raise ValueError("the recording contains no block")
        self._by_hash = {block["hash"]: block for block in self._blocks.values()}
        self._transactions = {
            t["hash"]: t for b in self._blocks.values() for t in b["transactions"]
        }
        self._receipts = {
            receipt["transactionHash"]: receipt
            for row in rows
            if row["method"] in ("eth_getBlockReceipts", "eth_getTransactionReceipt")
            for receipt in _as_list(row.get("result") or [])
        }

    def _keep(self, row: dict[str, Any]) -> None:
        outcome: Outcome = {key: row[key] for key in ("result", "error") if key in row}
        method, params = row["method"], row["params"]
        self._exact[_exact_key(method, params)] = outcome
        if method in STATE_METHODS:
            with suppress(RpcFault):  # of a block that is not recorded: only the same is answered
                key, block = self.state_key(method, params)
                self._states[key].append((block, outcome))

    def _state(self, method: str, params: list[Any]) -> Outcome:
        """Return the recorded state of that block; for the head, the last one recorded.

        States of other blocks are unknown: the error is that of a node that has pruned them.
        """
        key, block = self.state_key(method, params)
        states = self._states.get(key, [])
        if block != self.head:
            at = bisect_left(states, block, key=lambda state: state[0])
            if at == len(states) or states[at][0] != block:
                reason = f"historical state of block {block} is not available"
                raise RpcFault(-32000, f"{reason}: the recording has only the state of its head")
            return states[at][1]
        # The recording of a whole chain has every account of it.
        if not states and method in NEVER_USED and not self._is_part:
            return {"result": NEVER_USED[method]}
        if not states:
            raise RpcFault(-32000, f"the recording has no such {method}")
        return states[-1][1]

    def state_key(self, method: str, params: list[Any]) -> tuple[tuple[str, bytes], int]:
        """Return the request without its block, and the block."""
        block_index = STATE_METHODS[method]
        if len(params) < block_index:
            raise RpcFault(-32602, f"{method} takes {block_index} parameters and a block")
        subject = params[:block_index]
        if method == "eth_call":
            call = params[0]
            if not isinstance(call, dict):
                raise RpcFault(-32602, "the first parameter of eth_call must be an object")
            # Gas and sender do not change the result of a view function.
            subject = [call.get("to"), call.get("data") or call.get("input") or "0x"]
        block = self._number(params[block_index] if len(params) > block_index else "latest")
        return _exact_key(method, subject), block

    def _logs(self, params: list[Any]) -> list[Any]:
        """Select logs by block range or block hash, addresses and topics, as in execution-apis."""
        if not params or not isinstance(params[0], dict):
            raise RpcFault(-32602, "eth_getLogs takes a filter")
        log_filter = params[0]
        at = {"blockHash": log_filter["blockHash"]} if "blockHash" in log_filter else None
        first = self._number(at or log_filter.get("fromBlock", "latest"))
        last = self._number(at or log_filter.get("toBlock", "latest"))
        hashes = (
            transaction["hash"]
            for number in range(max(first, self.first), min(last, self.head) + 1)
            for transaction in self._blocks.get(number, {"transactions": ()})["transactions"]
        )
        logs = (log for hash_ in hashes for log in self._receipts.get(hash_, {"logs": ()})["logs"])
        topics = log_filter.get("topics") or []
        return [
            log
            for log in logs
            if _is_one_of(log["address"], log_filter.get("address"))
            and len(topics) <= len(log["topics"])
            and all(map(_is_one_of, log["topics"], topics))
        ]

    def _block(self, number: int) -> Block | None:
        if number <= self.head and number not in self._blocks:
            raise RpcFault(-32000, f"the recording has no block {number}")
        return self._blocks.get(number)

    def _number(self, block: Any) -> int:
        """Return the number of the block that a parameter refers to (EIP-1898 allows an object)."""
        if isinstance(block, dict) and "blockNumber" in block:
            return self._number(block["blockNumber"])
        if isinstance(block, dict) and "blockHash" in block:
            target = self._by_hash.get(str(block["blockHash"]).lower())
            if target is None:
                raise RpcFault(-32000, "block not found")
            return int(target["number"], 16)
        if block == "earliest":
            return self.first
        if block in ("latest", "pending", "safe", "finalized"):
            return self.head
        try:
            if isinstance(block, str) and block.startswith("0x"):
                return int(block, 16)
        except ValueError:
            pass
        raise RpcFault(-32602, f"not a block: {str(block)[:80]}")


def _row(line: bytes) -> dict[str, Any]:
    """Parse a line of a recording; raises ValueError."""
    row = orjson.loads(line)
    if (
        not isinstance(row, dict)
        or not isinstance(row.get("method"), str)
        or not isinstance(row.get("params"), list)
        or not ("result" in row or isinstance(row.get("error"), dict))
    ):
        raise ValueError("a line is no request with its response")
    return row


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _exact_key(method: str, params: Any) -> tuple[str, bytes]:
    """Return a key that is equal for equal requests, whatever hex's letter case and keys' order."""
    return method, orjson.dumps(params, option=orjson.OPT_SORT_KEYS).lower()


def _hash(params: list[Any]) -> str:
    return str(params[0] if params else None).lower()


def _is_one_of(value: str, accepted: Any) -> bool:
    """Compare a value with a filter: None and an empty list match all, a list its values."""
    if accepted is None or accepted == []:
        return True
    values = accepted if isinstance(accepted, list) else [accepted]
    return value in [str(item).lower() for item in values]


def _with_transactions(block: Block | None, params: list[Any]) -> Block | None:
    """Return the block with transactions, or their hashes if the second parameter is not true."""
    if block is None or (len(params) > 1 and params[1] is True):
        return block
    return {**block, "transactions": [t["hash"] for t in block["transactions"]]}


def response_body(recording: Recording, body: bytes) -> bytes:
    """Return the response to one request or a batch; empty if it has only notifications."""
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError:
        return orjson.dumps(_reply(None, RpcFault(-32700, "the body is not JSON").outcome))
    if not isinstance(payload, list):
        reply = _reply_to(recording, payload)
        return b"" if reply is None else orjson.dumps(reply)
    if not 0 < len(payload) <= MAX_BATCH:
        reason = f"a batch must have 1 to {MAX_BATCH} requests"
        return orjson.dumps(_reply(None, RpcFault(-32600, reason).outcome))
    replies = [reply for request in payload if (reply := _reply_to(recording, request)) is not None]
    return orjson.dumps(replies) if replies else b""


def _reply_to(recording: Recording, request: Any) -> Outcome | None:
    """Return the reply to a request; None for a notification, which has no id."""
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        fault = RpcFault(-32600, "a request must be an object with a method")
        return _reply(_id_of(request), fault.outcome)
    if "id" not in request:
        return None
    try:
        params = request.get("params", [])
        if not isinstance(params, list):
            raise RpcFault(-32602, "params must be an array")
        return _reply(_id_of(request), recording.respond(request["method"], params))
    except RpcFault as fault:
        return _reply(_id_of(request), fault.outcome)


def _id_of(request: Any) -> Any:
    request_id = request.get("id") if isinstance(request, dict) else None
    return request_id if isinstance(request_id, str | int | float) else None


def _reply(request_id: Any, outcome: Outcome) -> Outcome:
    return {"jsonrpc": "2.0", "id": request_id, **outcome}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT_S
    # Headers and body are two writes; with Nagle's algorithm a response would take 40 ms more.
    disable_nagle_algorithm = True
    server: "DemoNode"

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._refuse(411, "Content-Length is required")
        elif int(length) > MAX_BODY_BYTES:
            self._refuse(413, f"the body must have at most {MAX_BODY_BYTES} bytes")
        else:
            self._send(200, response_body(self.server.recording, self.rfile.read(int(length))))

    def do_GET(self) -> None:
        self._refuse(405, "JSON-RPC requests must use POST")

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing: an indexer that catches up sends thousands of requests."""

    def _refuse(self, status: int, reason: str) -> None:
        # The rest of the body would be read as the next request.
        self.close_connection = True
        self._send(status, orjson.dumps(_reply(None, RpcFault(-32600, reason).outcome)))

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class DemoNode(ThreadingHTTPServer):
    """Serves on loopback in its own thread until `stop`."""

    daemon_threads = True

    def __init__(self, recording: Recording, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.recording = recording
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, name="demo-node", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def wait(self) -> None:
        self._thread.join()


def start(path: Path, port: int = 0) -> DemoNode:
    """Serves the recording at `path`; port 0 uses a free port, which is in `.url`."""
    return DemoNode(Recording.read(path), port)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scan.commands.demo_node", description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=RECORDING, help="the recording")
    parser.add_argument("--port", type=int, default=8545, help="0: any free port")
    arguments = parser.parse_args()
    node = start(arguments.path, arguments.port)
    recording = node.recording
    print(f"blocks {recording.first} to {recording.head} on {node.url}", flush=True)
    try:
        node.wait()
    except KeyboardInterrupt:
        node.stop()
        sys.exit(130)


if __name__ == "__main__":
    main()
