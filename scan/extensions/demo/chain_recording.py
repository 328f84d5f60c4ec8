"""`scan doctor --record`: some blocks of a node, and all that indexing them reads, as one file.

`scan run --recording` replays the file, whose form is in replay.py. The indexer itself makes the
requests, on a temporary database, so that the file has what indexing needs and nothing else.
"""

import argparse
import gzip
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson

from scan.commands.startup import prepare_database, require_node
from scan.database import connection
from scan.database.embedded import EmbeddedPostgres
from scan.errors import ScanError, SettingError
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.extensions.demo.replay import HEADER, STATE_METHODS
from scan.files import temporary_folder, write_private
from scan.hex import BadHex, quantity
from scan.indexer.chain_indexer import ChainIndexer
from scan.indexer.node_reader import MAX_BLOCK_BYTES
from scan.observability.logs import escape, print_lines
from scan.settings import Settings

FORMAT = 1
# Below process_blocks of CatchUpLimits, with which processes are started, whose requests would not
# be recorded.
MAX_BLOCKS = 100
DEFAULT_BLOCKS = 20
MAX_BYTES = 256 * 1024 * 1024  # of all lines together, a tenth of that when they are packed
MAX_UNCLES = 2  # of a block: Yellow Paper section 11.1
QUIET_S = 20.0  # without a new request; longer than the indexer waits after a fault
TIMEOUT_S = 900.0
STOP_TIMEOUT_S = 60.0
LEAST_SECRET = 6  # characters; a shorter part of a URL is a word such as v1
# All tags stand for the last block of the recording.
TAGS = frozenset(("latest", "safe", "finalized", "pending"))
# The replaying node computes these, or, as they name the software of a development node, has none.
DERIVED = frozenset(("eth_blockNumber", "eth_syncing", "hardhat_metadata", "anvil_nodeInfo"))
# Texts of errors may name hosts, keys and people. These texts replace them, one for each kind that
# indexing distinguishes.
ERROR_TEXTS = {
    "is_refusal": "execution reverted",
    "is_missing_method": "the method does not exist",
    "is_missing_state": "historical state is not available",
    "is_missing_block": "block not found",
    "is_too_much": "the response is too large",
}
CONTENTS = """\
{path} will contain, as the node of RPC_URL returned it:
  chain {chain_id}, blocks {first} to {last}: {transactions} transactions with their senders,
  recipients, amounts, data and signatures, receipts, logs, and traces where the node has them;
  code, balances and token data that indexing these blocks reads: {states} responses.
On a private chain all this is private. Whoever has the file also knows which blocks you sent.
It will not contain: the URL, name, software or version of the node, texts of its errors, pending
transactions, settings, keys, labels, verified sources, requests of clients, or your database."""


class BlockRange(NamedTuple):
    first: int
    last: int


def block_range(text: str) -> BlockRange:
    """Parse --blocks, such as 100-120 or 100."""
    match = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError("must be FIRST-LAST, such as 100-120")
    blocks = BlockRange(int(match[1]), int(match[2] or match[1]))
    if not 0 <= blocks.last - blocks.first < MAX_BLOCKS:
        raise argparse.ArgumentTypeError(f"must be 1 to {MAX_BLOCKS} blocks, the first one first")
    return blocks


class RecordedAnswers:
    """The distinct requests to a node with their newest outcomes, as lines of a recording."""

    def __init__(self, most_bytes: int | None = None) -> None:
        self.changed_at = time.monotonic()
        self.size = 0
        self._most_bytes = most_bytes
        self._lines: dict[bytes, bytes] = {}
        self._lock = threading.Lock()

    def add(self, method: str, params: Sequence[Any], outcome: dict[str, Any]) -> None:
        """Add a request with its outcome, {"result"} or {"error"}."""
        call = {"method": method, "params": params}
        key = orjson.dumps(call, option=orjson.OPT_SORT_KEYS)
        line = orjson.dumps(call | outcome)
        with self._lock:
            if key not in self._lines:
                self.changed_at = time.monotonic()
            self.size += len(line) - len(self._lines.get(key, b""))
            self._lines[key] = line

    @property
    def is_too_large(self) -> bool:
        return self._most_bytes is not None and self.size > self._most_bytes

    def rows(self) -> list[dict[str, Any]]:
        with self._lock:
            return [orjson.loads(line) for line in self._lines.values()]

    def lines(self) -> list[bytes]:
        with self._lock:
            return list(self._lines.values())


def pack(lines: Iterable[bytes]) -> bytes:
    """Return the file of a recording. Lines are sorted, so that a new recording differs little."""
    return gzip.compress(b"\n".join(sorted(lines)) + b"\n", compresslevel=9, mtime=0)


class RecordingNode(Node):
    """A node whose newest block is `last`, and whose answers are recorded, but for data that is not
    the chain's, such as texts of errors."""

    def __init__(
        self, urls: Sequence[str], answers: RecordedAnswers, last: int, *, ca_bundle: str = ""
    ) -> None:
        super().__init__(urls, ca_bundle=ca_bundle)
        self._answers = answers
        self.last = last
        self._open: list[None] = []  # an entry for each request that waits for its answer
        self._secrets = [secret.encode() for url in urls for secret in _secrets(url)]

    def _post(
        self, url: str, calls: Sequence[Call], timeout_s: float, most_bytes: int, raw: bool
    ) -> tuple[Any, int]:
        calls = [self._pinned(call) for call in calls]
        self._open.append(None)
        try:
            answer, size = super()._post(url, calls, timeout_s, most_bytes, False)
        finally:
            self._open.pop()
        for reply in answer if isinstance(answer, list) else [answer]:
            number = reply.get("id") if isinstance(reply, dict) else None
            if type(number) is int and 0 <= number < len(calls):
                if calls[number].method == "eth_blockNumber":
                    reply["result"] = hex(self.last)
                self._record(calls[number], reply)
        return answer, size

    @property
    def is_waiting(self) -> bool:
        return bool(self._open)

    def _pinned(self, call: Call) -> Call:
        if call.method == "eth_getBlockByNumber" and call.params[0] in TAGS:
            return Call(call.method, (hex(self.last), *call.params[1:]))
        return call

    def _record(self, call: Call, reply: dict[str, Any]) -> None:
        if call.method in DERIVED or self._answers.is_too_large:
            return
        error = reply.get("error")
        outcome = {"result": reply.get("result")} if error is None else _public_error(error)
        if outcome is None:
            return
        try:
            text = orjson.dumps(outcome)
        except TypeError as error:  # more than 254 levels
            raise NodeError(f"the response to {call.method} cannot be recorded: {error}") from None
        if any(secret in text for secret in self._secrets):
            raise NodeError(f"the node's response to {call.method} has a part of its URL in it")
        self._answers.add(call.method, call.params, outcome)


def _secrets(url: str) -> Iterator[str]:
    """Yield the parts of a node's URL that no recording may contain."""
    parts = urlsplit(url)
    values = [value for _, value in parse_qsl(parts.query)]
    for text in (parts.hostname, parts.username, parts.password, *parts.path.split("/"), *values):
        for secret in {text or "", unquote(text or "")}:
            if len(secret) >= LEAST_SECRET:
                yield secret


def _public_error(error: Any) -> dict[str, Any] | None:
    """Return an error with the text of its kind, and the data that a contract returned; None for an
    error that may pass, which is not recorded."""
    code = error.get("code") if isinstance(error, dict) else None
    message = str(error.get("message"))[:500] if isinstance(error, dict) else ""
    rpc_error = RpcError(code if isinstance(code, int) else 0, message)
    if rpc_error.is_rate_limit or rpc_error.is_transient:
        return None
    kinds = (text for kind, text in ERROR_TEXTS.items() if getattr(rpc_error, kind))
    public: dict[str, Any] = {"code": rpc_error.code, "message": next(kinds, "error")}
    if rpc_error.is_refusal and re.fullmatch("0x[0-9a-fA-F]*", str(error.get("data"))):
        public["data"] = error["data"]
    return {"error": public}


def write_recording(settings: Settings, options: argparse.Namespace) -> int:
    """Write the recording if the user agrees, and return the exit code."""
    require_node(settings)
    path: Path = options.record
    if path.exists() or not path.absolute().parent.is_dir():
        raise SettingError("--record", str(path), "must be a new file in an existing directory")
    if not options.yes and not sys.stdin.isatty():
        raise SettingError("--yes", "", "required where nobody can be asked")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        contents, packed = record(settings, options.blocks, _own_database)
        print_lines(*contents.format(path=path).splitlines())
        if not options.yes and input(f"Write {len(packed):,} bytes? [y/N] ").lower() != "y":
            raise KeyboardInterrupt
        write_private(path, packed)
    except (KeyboardInterrupt, EOFError):
        print_lines("nothing was written")
        return 1
    except OSError as error:
        raise SettingError("--record", str(path), error.strerror or str(error)) from None
    return 0


@contextmanager
def _own_database() -> Iterator[str]:
    with temporary_folder("scan-recording-") as folder:
        Path(folder).chmod(0o711)  # started by root, PostgreSQL runs as another user
        postgres = EmbeddedPostgres(Path(folder) / "data")
        try:
            postgres.start()
            yield postgres.database_url("recording")
        finally:
            postgres.stop()


def record(
    settings: Settings,
    blocks: BlockRange | None,
    database: Callable[[], AbstractContextManager[str]],
    *,
    max_bytes: int = MAX_BYTES,
    quiet_s: float = QUIET_S,
) -> tuple[str, bytes]:
    """Record blocks. Return the recording's contents in words, with {path} for its path, and the
    bytes of its file.

    `database` opens an empty database for the index of these blocks. Raises ScanError.
    """
    node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
    try:
        head, chain_id = quantity(node.call("eth_blockNumber")), quantity(node.call("eth_chainId"))
        first, last = blocks or BlockRange(max(head - DEFAULT_BLOCKS + 1, 0), head)
        if last > head:
            raise SettingError("--blocks", f"{first}-{last}", f"the newest block is {head}")
        answers = RecordedAnswers(max_bytes)
        node = RecordingNode(settings.rpc_urls, answers, last, ca_bundle=settings.ca_bundle)
        transactions = _read_blocks(node, first, last)
    except (NodeError, RpcError, BadHex, TypeError, KeyError) as error:
        raise ScanError(f"the node cannot give these blocks: {error}") from error
    settings = replace(settings, start_block=first, traces="auto", logs="")
    with database() as url:
        settings = replace(settings, database_url=url, read_database_url=url)
        problem = _index(settings, node, answers, quiet_s)
    if answers.is_too_large:
        raise ScanError(f"more than {max_bytes >> 20} MiB: choose fewer blocks, by --blocks")
    answers.add(HEADER, [], {"result": {"format": FORMAT, "first": first, "last": last}})
    states = sum(row["method"] in STATE_METHODS for row in answers.rows())
    contents = CONTENTS.format(
        path="{path}",
        chain_id=chain_id,
        first=first,
        last=last,
        states=states,
        transactions=transactions,
    )
    if problem:
        reason = f"Indexing did not end, so what comes after this is missing: {problem}"
        contents += f"\n{escape(reason)}"
    return contents, pack(answers.lines())


def _read_blocks(node: Node, first: int, last: int) -> int:
    """Read blocks, receipts and uncles, even those that the indexer may not reach. Return the
    number of transactions."""
    transactions = 0
    for number in map(hex, range(first, last + 1)):
        block = node.call("eth_getBlockByNumber", number, True, most_bytes=MAX_BLOCK_BYTES)
        transactions += len(block["transactions"])
        indexes = range(min(len(block.get("uncles") or ()), MAX_UNCLES))
        others = [Call("eth_getUncleByBlockNumberAndIndex", (number, hex(i))) for i in indexes]
        node.batch([Call("eth_getBlockReceipts", (number,)), *others], most_bytes=MAX_BLOCK_BYTES)
    return transactions


def _index(
    settings: Settings, node: RecordingNode, answers: RecordedAnswers, quiet_s: float
) -> str:
    """Index all blocks with the values that are read from the state. Return the problem because of
    which indexing ended early, "" where it did not."""
    prepare_database(settings, may_be_away=False)
    stop = threading.Event()
    with (
        closing(connection.Database(settings.database_url, statement_timeout_ms=0)) as writing,
        closing(connection.Database(settings.database_url, statement_timeout_ms=0)) as database,
    ):
        indexer = ChainIndexer(settings, writing, node, stop)
        thread = threading.Thread(target=indexer.run, name="indexer", daemon=True)
        thread.start()
        deadline = time.monotonic() + TIMEOUT_S
        try:
            while not (is_done := _is_indexed(database, node.last)):
                now = time.monotonic()
                is_quiet = now - answers.changed_at > quiet_s and not node.is_waiting
                if is_quiet or answers.is_too_large or now > deadline:
                    break
                time.sleep(0.1)
        finally:
            stop.set()
            thread.join(STOP_TIMEOUT_S)
        if is_done:
            return ""
        row = database.row("queries/chain_get_status", version="", chain_name=None)
        return str(orjson.loads(row[1])["problem"]) if row else ""


def _is_indexed(database: connection.Database, last: int) -> bool:
    head = database.row("indexer/blocks_get_head")
    return (
        head is not None
        and head[0] == last
        and not database.rows("indexer/tokens_list_stale", limit=1, addresses=None, passed_over=[])
        and not database.rows("indexer/addresses_list_stale", limit=1)
    )
