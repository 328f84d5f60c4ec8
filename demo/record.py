"""Records the demo chain: `python -m demo.record` runs it on anvil and indexes it through a proxy.

Writes the indexer's requests and the node's responses to demo/chain.jsonl.gz. Needs `make install`.
"""

import gzip
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import requests

from scan.commands.demo_node import STATE_METHODS, Recording
from tests.support.anvil import Anvil, Contract, Node
from tests.support.database import Postgres
from tests.support.scenario import STRANGERS, Stage, play

CHAIN = Path(__file__).with_name("chain.jsonl.gz")
LARGEST_BYTES = 3 * 1024 * 1024
ROUNDS = 300
QUIET_S = 5.0
TIMEOUT_S = 300.0

# The replaying node derives these from its last block.
NOT_RECORDED = {"eth_blockNumber", "eth_syncing"}


class Recorder(ThreadingHTTPServer):
    """Forwards JSON-RPC to a node and records each distinct request with its response."""

    daemon_threads = True

    def __init__(self, node_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.node_url = node_url
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.session = requests.Session()
        self.last_new_at = time.monotonic()
        self._rows: dict[bytes, dict[str, Any]] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def keep(self, asked: list[Any], answers: list[Any]) -> None:
        by_id = {answer["id"]: answer for answer in answers}
        with self._lock:
            for request in asked:
                self._keep_one(request, by_id[request["id"]])

    def rows(self) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._rows.values())

    def _keep_one(self, request: dict[str, Any], answer: dict[str, Any]) -> None:
        asked = {"method": request["method"], "params": request.get("params", [])}
        if asked["method"] in NOT_RECORDED:
            return
        key = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
        if key not in self._rows:
            self.last_new_at = time.monotonic()
        outcome = {name: answer[name] for name in ("result", "error") if name in answer}
        self._rows[key] = {**asked, **outcome}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Recorder

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.server.session.post(
            self.server.node_url, data=body, headers={"Content-Type": "application/json"}
        ).content
        self.server.keep(_as_list(orjson.loads(body)), _as_list(orjson.loads(answer)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """No log: the indexer sends thousands of requests."""


def main() -> None:
    with Anvil() as anvil:
        stage = play(anvil, rounds=ROUNDS, poison=False)
        recorder = Recorder(anvil.url)
        index(recorder)
        ask_for_views(Node(recorder.url), stage)
        rows = recorder.rows()
        check_complete(rows, anvil.head())
        kept = only_changes(rows)
        write(kept)
    print(f"{len(kept)} responses about {blocks_in(kept)} blocks, {CHAIN.stat().st_size} bytes")


def index(recorder: Recorder) -> None:
    """Runs the real indexer on an empty database until it sends no new requests."""
    postgres = Postgres()
    try:
        with postgres.cloned(postgres.make_template()) as url:
            environment = {**os.environ, "DATABASE_URL": url, "RPC_URL": recorder.url}
            command = [sys.executable, "-m", "scan", "index"]
            indexer = subprocess.Popen(command, env=environment)
            try:
                wait_until_quiet(recorder, indexer)
            finally:
                indexer.terminate()
                indexer.wait()
    finally:
        postgres.stop()


def wait_until_quiet(recorder: Recorder, indexer: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() - recorder.last_new_at < QUIET_S:
        if indexer.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the indexer did not become idle")
        time.sleep(0.2)


def ask_for_views(node: Node, stage: Stage) -> None:
    """Requests that views will make for the demo's contracts and accounts at its head."""
    contracts = [*stage.contracts.values(), *stage.pools.values()]
    people = [*stage.people, *STRANGERS]
    asked = [("eth_call", [call, "latest"]) for c in contracts for call in views(c, people)]
    addresses = [c.address for c in contracts] + people
    for method in ("eth_getBalance", "eth_getCode", "eth_getTransactionCount"):
        asked += [(method, [address, "latest"]) for address in addresses]
    asked += [("eth_chainId", []), ("net_version", []), ("web3_clientVersion", [])]
    for n in range(0, len(asked), 100):
        node.batch(asked[n : n + 100])


def views(contract: Contract, people: Iterable[str]) -> Iterator[dict[str, str]]:
    """Every view function without arguments, and the balances of all holders."""
    for entry in contract.artifact.abi:
        if entry["type"] != "function" or not is_view(entry):
            continue
        inputs = [parameter["type"] for parameter in entry["inputs"]]
        if not inputs:
            yield call_of(contract, entry["name"])
        elif entry["name"] == "balanceOf" and inputs == ["address"]:
            yield from (call_of(contract, "balanceOf", person) for person in people)
        elif entry["name"] == "balanceOf" and inputs == ["address", "uint256"]:
            yield from (call_of(contract, "balanceOf", person, 7) for person in people)
        elif entry["name"] in ("ownerOf", "tokenURI"):
            yield from (call_of(contract, entry["name"], n) for n in range(4))
        elif entry["name"] == "supportsInterface":
            for interface in ("01ffc9a7", "80ac58cd", "d9b67a26"):
                yield call_of(contract, "supportsInterface", bytes.fromhex(interface))


def is_view(entry: dict[str, Any]) -> bool:
    return entry.get("stateMutability") in ("view", "pure") or entry.get("constant") is True


def call_of(contract: Contract, function: str, *args: Any) -> dict[str, str]:
    return {"to": contract.address, "data": contract.data(function, *args)}


def check_complete(rows: list[dict[str, Any]], head: int) -> None:
    if blocks_in(rows) != head + 1:
        raise SystemExit(f"only {blocks_in(rows)} of {head + 1} blocks were requested")


def blocks_in(rows: list[dict[str, Any]]) -> int:
    """Number of blocks requested with their transactions."""
    return sum(row["method"] == "eth_getBlockByNumber" and row["params"][1] for row in rows)


def only_changes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without state that equals that of the previous block: the replay returns the last one."""
    recording = Recording(orjson.dumps(row) for row in rows)
    kept = [row for row in rows if row["method"] not in STATE_METHODS]
    placed = [
        (*recording.state_key(row["method"], row["params"]), row)
        for row in rows
        if row["method"] in STATE_METHODS
    ]
    last: dict[Any, tuple[Any, Any]] = {}
    for key, _, row in sorted(placed, key=lambda found: found[:2]):
        outcome = (row.get("result"), row.get("error"))
        if last.get(key) != outcome:
            kept.append(row)
        last[key] = outcome
    return kept


def write(rows: list[dict[str, Any]]) -> None:
    """Sorted by text, so that a new recording has a minimal diff."""
    lines = sorted(orjson.dumps(row) for row in rows)
    packed = gzip.compress(b"\n".join(lines) + b"\n", compresslevel=9, mtime=0)
    if len(packed) > LARGEST_BYTES:
        raise SystemExit(f"the recording has {len(packed)} bytes; {LARGEST_BYTES} are allowed")
    CHAIN.write_bytes(packed)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


if __name__ == "__main__":
    main()
