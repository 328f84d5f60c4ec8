"""The checks of `scan doctor`: of the database (server, indexes, clock, backup, disk, schema) and
of one node (chain, head, history, traces and state).
"""

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from scan import registry
from scan.database import errors, migrations
from scan.database.connection import Database
from scan.database.server_faults import known_faults
from scan.ethereum import development_nodes
from scan.ethereum.block_hashing import fields_out_of_place
from scan.ethereum.blocks import BlockJson, MalformedBlock, ReceiptsJson, read_json
from scan.ethereum.client import Node, NodeError, WrongChain
from scan.ethereum.fork_schedule import fork_warnings
from scan.ethereum.node_errors import RpcError
from scan.ethereum.served_chain import ADDRESS, BlockId
from scan.extensions.operations.doctor.hooks import Checks, Finding
from scan.extensions.operations.monitoring import interface
from scan.hex import to_hex
from scan.indexer import chain_identity, node_reader
from scan.queries import network
from scan.queries.reader import IndexState
from scan.settings import Settings
from scan.verification.restored_sources import compilations_left

GIB = 1024**3
LEAST_VERSION = 160_000
MOST_CLOCK_SKEW_S = 2.0
LEAST_FREE_CONNECTIONS = 20
DAYS_OF_DISK = 30
LEAST_FREE_BYTES = 2 * GIB
MOST_SLOT_BYTES = 8 * GIB
WAL_ARCHIVE_AGE_S = 86_400
MUST_BE_ON = ("fsync", "full_page_writes", "autovacuum")


Findings = Iterator[Finding]


def ok(text: str, subject: str = "") -> Finding:
    return Finding("ok", text, "", subject)


def warning(text: str, advice: str, subject: str = "") -> Finding:
    return Finding("warning", text, advice, subject)


def failure(text: str, advice: str, subject: str = "") -> Finding:
    return Finding("error", text, advice, subject)


def check_database(database: Database) -> Findings:
    yield from _check_server(database)
    yield from _check_schema(database)
    for first, last, reason in database.rows("queries/unproven_blocks_list"):
        text = f"blocks {first} to {last} are not proven by their hashes: {reason}"
        advice = "update Scan, or use a node that offers debug_getRawHeader and its like"
        yield warning(text, advice)
    for name, first in IndexState(database).incomplete.get().items():
        advice = "to have older rows, too, index anew into an empty database"
        yield warning(f"{name} lacks rows before block {first}: it was off then", advice)
    blocks = database.value("commands/doctor_count_untraced")
    if blocks:
        anew = "index anew with a node that has their state"
        in_place = "run `scan backfill traces` with a node that has their state"
        advice = in_place if "backfill" in registry.commands() else anew
        text = f"{blocks:,} blocks have no traces: internal transfers and balances may be missing"
        yield warning(text, advice)
    waiting, kept = compilations_left(database)
    if waiting:
        yield ok(f"{waiting:,} verified contracts are compiled again beside serving")
    if kept:
        text = f"{kept:,} verified contracts keep what older versions read of their compilers"
        yield warning(text, "lines may be missing; SELECT address, reason FROM read_findings")
    for part in registry.parts(Checks):
        yield from part.of_database(database)


def _check_server(database: Database) -> Findings:
    row = database.row("commands/doctor_get_database", settings=[*MUST_BE_ON, "max_connections"])
    assert row is not None
    version, values, size_bytes, connections, invalid_indexes, time_s = row
    if version < LEAST_VERSION:
        yield failure(f"PostgreSQL {version // 10_000}", "upgrade to 16 or newer")
    else:
        number = ".".join(map(str, divmod(version, 10_000)))
        yield ok(f"PostgreSQL {number}, {size_bytes / GIB:.1f} GiB")
    if (faults := known_faults(version)) is not None:
        yield warning(*faults)
    for name in MUST_BE_ON:
        if values[name] != "on":
            advice = f"set {name} = on: without it data or answers become wrong"
            yield failure(f"{name} is off", advice)
    free = int(values["max_connections"]) - connections
    if free < LEAST_FREE_CONNECTIONS:
        text = f"{free} of {values['max_connections']} connections are free"
        yield warning(text, "raise max_connections, or stop other clients")
    health = interface.read_health(database)
    if health.transaction_id_age > interface.MOST_FREEZE_AGES * health.freeze_age:
        text = f"transaction ids are {health.transaction_id_age:,} old"
        yield failure(text, "VACUUM (FREEZE) before ids wrap around; see what blocks it")
    if invalid_indexes:
        names = ", ".join(invalid_indexes[:5])
        yield failure(f"invalid indexes: {names}", "REINDEX INDEX CONCURRENTLY each")
    else:
        yield ok("all indexes are valid")
    skew_s = time_s - time.time()
    if abs(skew_s) > MOST_CLOCK_SKEW_S:
        text = f"its clock is {abs(skew_s):.0f} s {'ahead' if skew_s > 0 else 'behind'}"
        yield failure(text, "synchronise the clocks of both machines (NTP)")
    yield from _check_backup(health)
    yield from _check_growth(database)


def _check_backup(health: interface.DatabaseHealth) -> Findings:
    if health.inactive_slot_bytes > MOST_SLOT_BYTES:
        size = f"{health.inactive_slot_bytes / GIB:.1f} GiB"
        text = f"an inactive replication slot keeps {size} of WAL"
        yield failure(text, "start its standby again, or drop the slot")
    if health.wal_archive_age_s is None:
        yield warning("WAL is not archived", "see docs/operation.md")
    elif health.is_archiving_failing:
        yield failure("archiving WAL fails", "see PostgreSQL's log")
    elif health.wal_archive_age_s > WAL_ARCHIVE_AGE_S:
        yield warning("no WAL was archived for a day", "check archive_command")
    else:
        yield ok(f"WAL was archived {health.wal_archive_age_s / 60:.0f} minutes ago")


def _check_growth(database: Database) -> Findings:
    disk = interface.forecast(database)
    if disk is None:
        yield warning(
            "its disk cannot be seen from here",
            "run `scan doctor` on its machine; there, GRANT pg_read_all_settings to Scan's role",
        )
        return
    text = f"{disk.free_bytes / GIB:.0f} GiB free"
    days = None if disk.full_in_s is None else disk.full_in_s // interface.DAY_S
    if days is not None:
        text += f", full in {days:,} days at the newest day's growth"
    if disk.free_bytes < LEAST_FREE_BYTES or (days is not None and days < DAYS_OF_DISK):
        yield failure(text, "add space, or move the database", "disk")
    else:
        yield ok(text, "disk")


def _check_schema(database: Database) -> Findings:
    try:
        planned = migrations.plan(database)
    except errors.SchemaMismatch as error:
        yield failure(error.message.removesuffix(error.way_out), error.way_out)
        return
    if planned is None:
        text = "the schema is of a newer version of Scan"
        yield warning(text, "upgrade this installation")
    elif planned:
        text = f"the schema is not current: {', '.join(file.name for file in planned)}"
        yield failure(text, "run `scan migrate`, or start the new version")
    else:
        yield ok("the schema is current")


TIMEOUT_S = 10.0
MOST_AHEAD_S = 15  # by which a block's time may be ahead of this machine's clock
QUIET_S = 600
SLOW_MS = 100
RECENT_BLOCKS = 128  # whose state all nodes keep: a shorter chain does not show an archive
PLACES_READ = 16  # newest blocks whose logs' numbers are compared with their order
ADVICE_EMPTY = "use a node with all of them{}, or set SCAN_START_BLOCK={}"
ADVICE_BEGUN = (
    "use a node with all of them; SCAN_START_BLOCK takes effect in an empty database alone"
)


def check_node(url: str, database: Database | None, settings: Settings) -> Findings:
    node = Node([url], timeout_s=TIMEOUT_S, ca_bundle=settings.ca_bundle)
    try:
        chain_id = int(node.call("eth_chainId"), 16)
        head = node.call("eth_getBlockByNumber", "latest", False)
        number, block_hash = int(head["number"], 16), bytes.fromhex(head["hash"][2:])
        made_at_s = int(head["timestamp"], 16)
    except (NodeError, RpcError) as error:
        yield failure(f"does not respond: {error}", "start it, or correct RPC_URL")
        return
    except (TypeError, KeyError, ValueError):
        yield failure("its answers are malformed", "check that RPC_URL is a JSON-RPC endpoint")
        return
    times = []
    for _ in range(5):
        began_at = time.perf_counter()
        node.call("eth_blockNumber")
        times.append((time.perf_counter() - began_at) * 1000)
    yield ok(f"chain {chain_id}, block {number}, {median(times):.1f} ms a request")
    if network.symbol_of(str(chain_id), settings.coin_symbol) == network.UNNAMED:
        advice = "SCAN_COIN_SYMBOL names its coin, SCAN_CHAIN_NAME the chain"
        yield warning(f"chain {chain_id} is no known one: its coin has no name", advice)
    if median(times) > SLOW_MS:
        yield warning("it is far away", "index beside the node: catching up waits for it")
    try:
        chain_identity.read_identity(node)
        if database is not None:
            chain_identity.check(node, database)
    except WrongChain as error:
        yield failure(str(error), "use one database for each chain")
        return
    except NodeError as error:
        yield failure(str(error), "use a node that has block 0")
        return
    yield from _check_head(node, made_at_s)
    yield from _check_forks(node)
    fixed = database.value("indexer/chain_get_first_block") if database is not None else None
    first = settings.start_block if fixed is None else fixed
    if first is None:
        forked = development_nodes.kind_of(node).forked_block
        first = 0 if forked is None else forked + 1
    advice = ADVICE_EMPTY if fixed is None else ADVICE_BEGUN
    yield from _check_history(node, max(first, 1), number, advice, settings)
    yield from _check_places(node, number)
    yield from _check_node_traces(node, to_hex(block_hash), settings)
    yield from _check_state(node, BlockId(number, block_hash), first)


def _check_head(node: Node, made_at_s: int) -> Findings:
    syncing = _try(node, "eth_syncing")
    if syncing not in (False, None) and not isinstance(syncing, RpcError):
        yield warning("it is still synchronising", "the index ends where the node does")
    age_s = time.time() - made_at_s
    if age_s < -MOST_AHEAD_S:
        text = f"its newest block is {-age_s:.0f} s ahead of this machine's clock"
        yield failure(text, "synchronise this machine's clock (NTP): signed requests depend on it")
    elif age_s > QUIET_S:
        text = f"its newest block is {_duration(age_s)} old"
        yield warning(text, "check its peers, unless the chain makes blocks rarely")


def _check_forks(node: Node) -> Findings:
    try:
        fork, missed = fork_warnings(node)
    except NodeError as error:
        yield warning(str(error), "upgrade it")
        return
    if fork:
        yield warning(fork, "update Scan before; see its changelog")
    if missed:
        yield warning(missed, "update the node: it does not follow the chain from then on")


def _check_history(node: Node, number: int, head: int, advice: str, settings: Settings) -> Findings:
    """Check that the node has the first block to index with its receipts: many nodes prune them."""
    if number > head:
        return
    receipts = _try(node, "eth_getBlockReceipts", hex(number))
    if isinstance(receipts, RpcError) and receipts.is_missing_method:
        text = "it does not offer eth_getBlockReceipts: receipts are requested one by one"
        yield warning(text, "upgrade it; catching up takes several times as long")
    try:
        if node_reader.is_kept(node, number):
            yield ok(f"has blocks and receipts from block {number}")
            return
        first = node_reader.first_kept(node, number, head)
    except NodeError as error:
        yield failure(f"its history cannot be read: {error}", "see its log")
        return
    if first is None:
        yield failure(f"it has neither block {number} nor its newest, {head}", "see its log")
    else:
        text = f"it has pruned blocks before {first}, or their receipts"
        if node_reader.are_elsewhere(settings):
            yield ok(f"{text}; an empty index takes them from elsewhere")
        else:
            yield failure(text, advice.format(node_reader.other_cures(), first))


def _check_places(node: Node, newest: int) -> Findings:
    """Check that the newest blocks number logs, and name receipts, as their order says."""
    for number in range(newest, max(newest - PLACES_READ, 0), -1):
        block = _try(node, "eth_getBlockByNumber", hex(number), True)
        receipts = _try(node, "eth_getBlockReceipts", hex(number))
        if not isinstance(block, dict) or not isinstance(receipts, list):
            return
        try:
            header = read_json(block, BlockJson, number)
            fields = fields_out_of_place(
                header.transactions, read_json(receipts, ReceiptsJson, number)
            )
        except (MalformedBlock, ValueError, TypeError):
            return
        if fields:
            text = f"block {number} has another {fields} than its order says"
            yield warning(text, "nothing: Scan takes what receiptsRoot proves; upgrade the node")
            return


def _check_node_traces(node: Node, block_hash: str, settings: Settings) -> Findings:
    if settings.traces == "off":
        yield warning("SCAN_TRACES=off: no internal transfers", "")
        return
    for method, *params in (
        ("debug_traceBlockByHash", block_hash, {"tracer": "callTracer"}),
        ("trace_block", {"blockHash": block_hash}),
        ("trace_block", "latest"),
    ):
        if isinstance(_try(node, method, *params), list):
            yield ok(f"traces by {method}")
            return
    text = "it offers no traces: no internal transfers, call trees or sums of histories"
    yield warning(text, "enable its debug API (geth, reth: --http.api eth,net,web3,debug)")


def _check_state(node: Node, head: BlockId, start_block: int) -> Findings:
    current = _try(node, "eth_getBalance", ADDRESS, head)
    if isinstance(current, RpcError) or current is None:
        yield failure(f"it cannot read the state of its newest block: {current}", "see its log")
        return
    if node.takes_block_hashes is False:
        text = "it does not take block hashes (EIP-1898)"
        yield warning(text, "state is read by number, and its block checked; upgrade it")
    if head.number - start_block < RECENT_BLOCKS:
        yield ok(f"has the state of block {head.number}")
        return
    old = _try(node, "eth_getBalance", ADDRESS, hex(max(start_block, 1)))
    if isinstance(old, str):
        yield ok("an archive: state of every block")
    else:
        advice = "use an archive node: ?block= answers 422, and older blocks show tokens as of now"
        yield warning("it keeps the state of recent blocks only", advice)


def _try(node: Node, method: str, *params: object) -> Any:
    """Return the method's result, or the node's error."""
    try:
        return node.call(method, *params)
    except RpcError as error:
        return error
    except NodeError as error:
        return RpcError(0, str(error))


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
