"""A JSON-RPC node on loopback that replays a recording: the demo chain, or one that tests make.

It has the demo chain's accounts: balances, nonces, codes and storage after each of its blocks, with
the state trie that they make, which eth_getProof is about. They follow from the recorded traces of
the state. What no transaction changed is as it was recorded. A repeated block leaves the storage
and the codes of the block that it repeats; balances and nonces drift, by the fees and the
transactions of each repetition.
"""

import sys
import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from scan.ethereum.rlp_and_tries import MapTrie, keccak256, list_item, quantity_item
from scan.extensions.demo.replay import Outcome, Recording, RpcFault, read_lines
from scan.hex import data, to_hex
from scan.settings import ROOT

RECORDING = ROOT / "demo" / "chain.jsonl.gz"
MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_BATCH = 10_000
IDLE_TIMEOUT_S = 60
STOP_S = 0.05  # what stop() takes at most


def response_body(recording: Recording, body: bytes) -> bytes:
    """Return the response to one request or a batch; b"" if it has only notifications."""
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
        """Log nothing: an indexer that catches up sends thousands of requests."""

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
    """The node's HTTP server, which serves on loopback in its own thread until stop()."""

    daemon_threads = True

    def __init__(self, recording: Recording) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.recording = recording
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        serve = self.serve_forever
        self._thread = threading.Thread(target=serve, args=(STOP_S,), name="demo-node", daemon=True)
        self._thread.start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error's traceback, unless a client is gone."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


def start(path: Path) -> DemoNode:
    """Serve the recording at `path`. Raises ValueError where it has no block."""
    return DemoNode(Recording(read_lines(path)))


DRIFTING = ("balance", "nonce")  # values that each loop changes, by its fees and its transactions
EMPTY = {"balance": 0, "nonce": 0, "code": "0x", "storage": "0x" + 64 * "0"}
KEPT_STORAGES = 1_000

Key = tuple[str, ...]  # the field, the address and, of storage, the slot


class DemoState:
    """The state after each recorded block, and after the blocks that repeat the loop's."""

    def __init__(
        self,
        changes: Iterable[tuple[int, Mapping[str, Any]]],
        unchanged: Mapping[Key, Any],
        loop: range,
    ) -> None:
        """`changes` are blocks with what their transactions changed, in their order; `unchanged`
        are recorded values of accounts."""
        self._loop = loop
        self._values: dict[Key, list[tuple[int, Any]]] = defaultdict(list)
        for number, traced in changes:
            before, after = _flat(traced["pre"]), _flat(traced["post"])
            for key in before.keys() | after.keys():
                empty = EMPTY[key[0]]
                # `post` lacks the fields of a changed account that did not change themselves.
                new = after.get(key, empty if key[0] == "storage" else before.get(key, empty))
                values = self._values[key]
                if not values:
                    values.append((-1, before.get(key, empty)))
                values.append((number, new))
        self._values |= {k: [(-1, v)] for k, v in unchanged.items() if k not in self._values}
        self._addresses = sorted({key[1] for key in self._values})
        self._slots: dict[str, list[Key]] = defaultdict(list)
        for key in self._values:
            if key[0] == "storage":
                self._slots[key[1]].append(key)
        self._written = {
            address: sorted({n for key in keys for n, _ in self._values[key]})
            for address, keys in self._slots.items()
        }
        self._storage_trie = lru_cache(KEPT_STORAGES)(self._made_storage_trie)

    def value(self, key: Key, cycle: int, recorded: int) -> Any:
        """Return a value after a block that repeats a recorded one for the time `cycle`."""
        values = self._values.get(key)
        if values is None:
            return EMPTY[key[0]]
        value = value_at(values, recorded)
        return value + self.drift(key, cycle) if key[0] in DRIFTING else value

    def drift(self, key: Key, cycle: int) -> int:
        """Return by how much so many cycles change a balance or a nonce."""
        values = self._values.get(key)
        if not cycle or values is None:
            return 0
        ends = (value_at(values, self._loop[-1]), value_at(values, self._loop[0] - 1))
        return cycle * int(ends[0] - ends[1])

    def trie(self, cycle: int, recorded: int) -> MapTrie:
        """Return the state trie after a block; its root is the header's stateRoot."""
        accounts = (
            (address, self._account(address, cycle, recorded)) for address in self._addresses
        )
        return MapTrie(
            {data(address): _rlp(account) for address, account in accounts if any(account)}
        )

    def proof(self, address: str, slots: list[str], cycle: int, recorded: int) -> dict[str, Any]:
        """Return the result of eth_getProof (EIP-1186)."""
        nonce, balance, code, _ = self._account(address, cycle, recorded)
        trie = self._storage(address, recorded)
        proofs = []
        for slot in slots:
            word = int(self.value(("storage", address, slot), cycle, recorded), 16)
            path = [*map(to_hex, trie.proof(data(slot)))]
            proofs.append({"key": slot, "value": hex(word), "proof": path})
        proven = self.trie(cycle, recorded).proof(data(address))
        return {
            "address": address,
            "accountProof": [*map(to_hex, proven)],
            "balance": hex(balance),
            "nonce": hex(nonce),
            "codeHash": to_hex(keccak256(code)),
            "storageHash": to_hex(trie.root),
            "storageProof": proofs,
        }

    def _account(self, address: str, cycle: int, recorded: int) -> tuple[int, int, bytes, bytes]:
        """Return the nonce, the balance, the code and, of a contract, the root of its storage."""
        code = data(self.value(("code", address), cycle, recorded))
        nonce, balance = (
            int(self.value((field, address), cycle, recorded)) for field in ("nonce", "balance")
        )
        return nonce, balance, code, self._storage(address, recorded).root if code else b""

    def _storage(self, address: str, recorded: int) -> MapTrie:
        written = self._written.get(address, ())
        return self._storage_trie(address, bisect_right(written, recorded))

    def _made_storage_trie(self, address: str, writes: int) -> MapTrie:
        """Return the trie of a storage after so many blocks that wrote it."""
        if not writes:
            return MapTrie({})
        number = self._written[address][writes - 1]
        encoded = {}
        for key in self._slots[address]:
            if word := int(value_at(self._values[key], number), 16):
                encoded[data(key[2])] = bytes.fromhex(quantity_item(hex(word)))
        return MapTrie(encoded)


def _rlp(account: tuple[int, int, bytes, bytes]) -> bytes:
    nonce, balance, code, storage_root = account
    hashes = (storage_root or MapTrie({}).root, keccak256(code))
    items = [*map(quantity_item, (hex(nonce), hex(balance))), *("a0" + h.hex() for h in hashes)]
    return bytes.fromhex(list_item("".join(items)))


def _flat(accounts: Mapping[str, Any]) -> dict[Key, Any]:
    """Return the values in a trace's accounts, by field, address and, for storage, slot."""
    values: dict[Key, Any] = {}
    for address, account in accounts.items():
        for field in account.keys() & {"balance", "nonce", "code"}:
            value = account[field]
            values[field, address] = int(value, 16) if field == "balance" else value
        for slot, word in account.get("storage", {}).items():
            values["storage", address, slot] = word
    return values


def value_at(values: list[tuple[int, Any]], number: int) -> Any:
    return values[max(bisect_right(values, number, key=itemgetter(0)) - 1, 0)][1]
