"""Records the demo chain: `python -m demo.record` runs it on anvil and indexes it through a proxy.

Writes the indexer's requests and the node's responses to demo/chain.jsonl.gz, and labels and
contracts that it verifies to demo/operator_data.json.gz. Needs `make install`.
"""

import gzip
import os
import posixpath
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import requests

from app import create_app
from demo.requests_of_pages import (
    ask_for_accounts,
    ask_for_pool,
    ask_for_traces,
    ask_for_uris,
    ask_for_views,
    recorded,
)
from demo.scenario import SAVER, SOURCE, play
from demo.town import PEOPLE, Town
from scan.ethereum.served_chain import NO_BLOCK
from scan.extensions.demo.demo_chain import LOOP, DemoChain
from scan.extensions.demo.demo_run import STORED
from scan.extensions.demo.replay import STATE_METHODS, Recording
from tests.support.anvil import Anvil, Node
from tests.support.database import Postgres, execute
from tests.support.explorer import place_compilers
from tests.support.indexing import settings_for
from tests.support.solidity import COMPILER, NODE, SETTINGS, SOURCES

CHAIN = Path(__file__).with_name("chain.jsonl.gz")
OPERATOR_DATA = Path(__file__).with_name("operator_data.json.gz")
LARGEST_BYTES = 3 * 1024 * 1024
QUIET_S = 5.0
TIMEOUT_S = 600.0

# The file of each contract that is verified.
VERIFIED = {
    **dict.fromkeys(("dollar", "forge", "weth"), "Tokens.sol"),
    **dict.fromkeys(("reasons", "guard"), "Reasons.sol"),
    **dict.fromkeys(("lanterns", "procession"), "Lanterns.sol"),
    **dict.fromkeys(("savings implementation", "savings proxy"), SOURCE.name),
    "router": "Exchange.sol",
}
RECENT_BLOCKS = 60  # before the loop, whose transactions have their steps recorded
LABELED_PEOPLE = {0: "Meridian treasury", 1: "Market maker", 3: "Lantern workshop", 11: "Bundler"}
LABELED = {
    "router": "Demo router",
    "uniswap-v2": "Uniswap V2 factory",
    "uniswap-v3": "Uniswap V3 factory",
    "pancakeswap-v2": "PancakeSwap V2 factory",
    "pancakeswap-v3": "PancakeSwap V3 factory",
    "savings": "Harbor Savings",
    "entry point": "EntryPoint 0.7",
}
OF_DATABASE = ("verified_at", "match_id", "is_indexed")  # columns that are set when rows are stored
VERIFIED_ROWS = "SELECT to_json(stored) FROM {} AS stored ORDER BY address"


# The replaying node computes these, or, as they name the software of a development node, has none.
DERIVED = frozenset(("eth_blockNumber", "eth_syncing", "hardhat_metadata", "anvil_nodeInfo"))


class RecordedAnswers:
    """The distinct requests to a node with their newest outcomes, as lines of a recording."""

    def __init__(self) -> None:
        self.changed_at = time.monotonic()
        self._lines: dict[bytes, bytes] = {}
        self._lock = threading.Lock()

    def add(self, method: str, params: list[Any], outcome: dict[str, Any]) -> None:
        """Add a request with its outcome, {"result"} or {"error"}."""
        call = {"method": method, "params": params}
        key = orjson.dumps(call, option=orjson.OPT_SORT_KEYS)
        with self._lock:
            if key not in self._lines:
                self.changed_at = time.monotonic()
            self._lines[key] = orjson.dumps(call | outcome)

    def rows(self) -> list[dict[str, Any]]:
        with self._lock:
            return [orjson.loads(line) for line in self._lines.values()]


class Recorder(ThreadingHTTPServer):
    """Forwards JSON-RPC to a node and records each distinct request with its response."""

    daemon_threads = True

    def __init__(self, node_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.node_url = node_url
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.session = requests.Session()
        self.answers = RecordedAnswers()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def keep(self, requests: list[Any], answers: list[Any]) -> None:
        by_id = {answer["id"]: answer for answer in answers}
        for request in requests:
            answer = by_id[request["id"]]
            outcome = {name: answer[name] for name in ("result", "error") if name in answer}
            if request["method"] not in DERIVED:
                self.answers.add(request["method"], request.get("params", []), outcome)


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
    with Anvil("--accounts", str(PEOPLE)) as anvil:
        town, first_of_loop = play(anvil)
        recorder = Recorder(anvil.url)
        with indexed(recorder, anvil.head()) as url:
            verified = verify(url, recorder.url, town)
            ask_for_uris(Node(recorder.url), url, anvil.head())
        ask_for_views(Node(recorder.url), town, range(first_of_loop - 1, anvil.head() + 1))
        ask_for_accounts(Node(recorder.url), town)
        ask_for_traces(Node(recorder.url), anvil, first_of_loop - RECENT_BLOCKS)
        ask_for_pool(Node(recorder.url), town)
        rows = [recorded(row) for row in recorder.answers.rows() if NO_BLOCK not in row["params"]]
        head = anvil.head()
        if blocks_in(rows) != head + 1:
            raise SystemExit(f"only {blocks_in(rows)} of {head + 1} blocks were requested")
        kept = without_block_traces(only_changes(map(without_unchanged_code, rows)))
        kept.append({"method": LOOP, "params": [], "result": first_of_loop})
        check_balances(kept, anvil, first_of_loop)
        write(kept)
        write_operator_data(town, verified)
    print(f"{len(kept)} responses about {blocks_in(kept)} blocks, {CHAIN.stat().st_size} bytes")


def without_block_traces(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what follows from the traces of transactions, and does so exactly."""
    kept = [row for row in rows if row["method"] != "debug_traceBlockByHash"]
    replayed = Recording(map(orjson.dumps, kept))
    for row in rows:
        if row["method"] != "debug_traceBlockByHash":
            continue
        if replayed.respond(row["method"], row["params"]) != {"result": row["result"]}:
            raise SystemExit(f"the calls of block {row['params'][0]} would be others")
    return kept


def check_balances(rows: list[dict[str, Any]], anvil: Anvil, first_of_loop: int) -> None:
    """Balances, nonces and codes that follow from traces are the node's."""
    chain = DemoChain(map(orjson.dumps, rows), ended_at=2_000_000_000)
    for _ in range(first_of_loop, anvil.head() + 1):
        chain.add(chain.next_block(0))
    accounts = set()
    for number in range(chain.head + 1):
        block = chain.respond("eth_getBlockByNumber", [hex(number), True])["result"]
        accounts |= {block["miner"], *(t["from"] for t in block["transactions"])}
    for number in {0, 30, 90, 400, first_of_loop - 1, anvil.head()}:
        for method in ("eth_getBalance", "eth_getTransactionCount", "eth_getCode"):
            for account in sorted(accounts):
                params = [account, hex(number)]
                if chain.respond(method, params) != {"result": anvil.call(method, *params)}:
                    print(f"{method} of {account} at {number} would be another")


@contextmanager
def indexed(recorder: Recorder, head: int) -> Iterator[str]:
    """Runs the real indexer on an empty database until it sends no new requests; its URL."""
    with Postgres() as postgres, postgres.cloned(postgres.make_template()) as url:
        environment = {**os.environ, "DATABASE_URL": url, "RPC_URL": recorder.url}
        command = [sys.executable, "-m", "scan", "index"]
        indexer = subprocess.Popen(command, env=environment)
        try:
            deadline = time.monotonic() + TIMEOUT_S
            while execute(url, "SELECT max(number) FROM blocks") != [(head,)]:
                if time.monotonic() > deadline:
                    raise SystemExit("the indexer is too slow")
                time.sleep(0.5)
            wait_until_quiet(recorder, indexer)
        finally:
            indexer.terminate()
            indexer.wait()
        yield url


def verify(url: str, node_url: str, town: Town) -> dict[str, list[dict[str, Any]]]:
    """Verifies contracts as a client does; the rows that are stored, by table."""
    with TemporaryDirectory() as folder:
        compilers = {"solc_dir": place_compilers(Path(folder)), "path": os.environ["PATH"]}
        client = create_app(settings_for(url, node_url, **compilers)).test_client()
        for key, path in VERIFIED.items():
            contract = town.contracts[key]
            body = {
                "address": contract.address,
                "sourceCode": orjson.dumps(standard_json(path)).decode(),
                "compilerVersion": COMPILER.removeprefix("solc-"),
                "contractName": f"{path}:{contract.artifact.name}",
            }
            answer = client.post("/api/v1/verify", json=body)
            if answer.status_code != 200:
                raise SystemExit(f"{contract.artifact.name} is not verified: {answer.json}")
    return {
        table: [
            {name: value for name, value in row.items() if name not in OF_DATABASE}
            for (row,) in execute(url, VERIFIED_ROWS.format(table))
        ]
        for table in STORED
    }


def standard_json(path: str) -> dict[str, Any]:
    """A source as the tests compile it, with all that it imports."""
    sources: dict[str, Any] = {}
    ahead = [path]
    while ahead:
        path = ahead.pop()
        folder = NODE / "node_modules" if "/" in path else SOURCES
        folder = SOURCE.parent if path == SOURCE.name else folder
        text = (folder / path).read_text()
        sources[path] = {"content": text}
        imported = re.findall(r'^import [^"]*"([^"]+)";', text, re.M)
        dependencies = {
            posixpath.normpath(posixpath.join(posixpath.dirname(path), i))
            if i.startswith(".")
            else i
            for i in imported
        }
        ahead += dependencies - sources.keys()
    settings = {"evmVersion": SETTINGS["evmVersion"]}
    return {"language": "Solidity", "sources": sources, "settings": settings}


def wait_until_quiet(recorder: Recorder, indexer: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() - recorder.answers.changed_at < QUIET_S:
        if indexer.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the indexer did not become idle")
        time.sleep(0.2)


def blocks_in(rows: list[dict[str, Any]]) -> int:
    """Number of blocks requested with their transactions."""
    return sum(row["method"] == "eth_getBlockByNumber" and row["params"][1] for row in rows)


def without_unchanged_code(row: dict[str, Any]) -> dict[str, Any]:
    """anvil adds the code of every account that changed, which geth does not: 16 MB in all."""
    if row["method"] == "debug_traceTransaction" and "pre" in row["result"]:
        for address, account in row["result"]["pre"].items():
            if "code" not in row["result"]["post"].get(address, ("code",)):
                account.pop("code", None)
    return row


def only_changes(traced: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without state that equals that of the previous block: the replay returns the last one."""
    rows = list(traced)
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
    """Lines are sorted, so that a new recording differs little."""
    lines = sorted(map(orjson.dumps, rows))
    packed = gzip.compress(b"\n".join(lines) + b"\n", compresslevel=9, mtime=0)
    if len(packed) > LARGEST_BYTES:
        raise SystemExit(f"the recording has {len(packed)} bytes; {LARGEST_BYTES} are allowed")
    CHAIN.write_bytes(packed)


def write_operator_data(town: Town, verified: dict[str, list[dict[str, Any]]]) -> None:
    labels = sorted(
        [
            *((town.people[n], label) for n, label in LABELED_PEOPLE.items()),
            (SAVER.address.lower(), "Patient saver"),
            *((town.contracts[key].address.lower(), label) for key, label in LABELED.items()),
        ]
    )
    packed = orjson.dumps({"labels": labels, "verified": verified})
    OPERATOR_DATA.write_bytes(gzip.compress(packed, compresslevel=9, mtime=0))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


if __name__ == "__main__":
    main()
