"""The checks of one node by `scan doctor`: chain, head, history, traces and state."""

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from scan.database.connection import Database
from scan.ethereum.block_hashing import fields_out_of_place
from scan.ethereum.block_parameter import ADDRESS, BlockId
from scan.ethereum.blocks import BlockJson, MalformedBlock, ReceiptsJson, read_json
from scan.ethereum.client import Node, NodeError, WrongChain
from scan.ethereum.fork_schedule import missed_fork, unknown_fork
from scan.ethereum.node_errors import RpcError
from scan.hex import to_hex
from scan.indexer import chain_identity
from scan.indexer.block_source import BlockSource
from scan.indexer.pruned_history import are_elsewhere, first_kept, is_kept, other_cures
from scan.settings import Settings

TIMEOUT_S = 10.0
MOST_AHEAD_S = 15  # by which a block's time may be ahead of this machine's clock
QUIET_S = 600
SLOW_MS = 100
RECENT_BLOCKS = 128  # whose state all nodes keep: a shorter chain does not show an archive
PLACES_READ = 16  # newest blocks whose logs' numbers are compared with their order
Outcome = tuple[str, str, str]  # level, text, advice
ADVICE_EMPTY = "use a node with all of them{}, or set SCAN_START_BLOCK={}"
ADVICE_BEGUN = (
    "use a node with all of them; SCAN_START_BLOCK takes effect in an empty database alone"
)


def check_node(url: str, database: Database | None, settings: Settings) -> Iterator[Outcome]:
    node = Node([url], timeout_s=TIMEOUT_S, ca_bundle=settings.ca_bundle)
    try:
        chain_id = int(node.call("eth_chainId"), 16)
        head = node.call("eth_getBlockByNumber", "latest", False)
        number, block_hash = int(head["number"], 16), bytes.fromhex(head["hash"][2:])
        made_at_s = int(head["timestamp"], 16)
    except (NodeError, RpcError) as error:
        yield "error", f"does not respond: {error}", "start it, or correct RPC_URL"
        return
    except (TypeError, KeyError, ValueError):
        yield "error", "its answers are malformed", "check that RPC_URL is a JSON-RPC endpoint"
        return
    times = [_milliseconds(node) for _ in range(5)]
    yield "ok", f"chain {chain_id}, block {number}, {median(times):.1f} ms a request", ""
    if median(times) > SLOW_MS:
        yield "warning", "it is far away", "index beside the node: catching up waits for it"
    try:
        chain_identity.read_identity(BlockSource(node))
        if database is not None:
            chain_identity.check(node, database)
    except WrongChain as error:
        yield "error", str(error), "use one database for each chain"
        return
    except NodeError as error:
        yield "error", str(error), "use a node that has block 0"
        return
    yield from _check_head(node, made_at_s)
    yield from _check_forks(node)
    fixed = database.value("indexer/chain_get_first_block") if database is not None else None
    first = (settings.start_block or 0) if fixed is None else fixed
    advice = ADVICE_EMPTY if fixed is None else ADVICE_BEGUN
    yield from _check_history(node, max(first, 1), number, advice, settings)
    yield from _check_places(node, number)
    yield from _check_traces(node, to_hex(block_hash), settings)
    yield from _check_state(node, BlockId(number, block_hash), first)


def _milliseconds(node: Node) -> float:
    began = time.perf_counter()
    node.call("eth_blockNumber")
    return (time.perf_counter() - began) * 1000


def _check_head(node: Node, made_at_s: int) -> Iterator[Outcome]:
    syncing = _try(node, "eth_syncing")
    if syncing not in (False, None) and not isinstance(syncing, RpcError):
        yield "warning", "it is still synchronising", "the index ends where the node does"
    age_s = time.time() - made_at_s
    if age_s < -MOST_AHEAD_S:
        text = f"its newest block is {-age_s:.0f} s ahead of this machine's clock"
        yield "error", text, "synchronise this machine's clock (NTP): signed requests depend on it"
    elif age_s > QUIET_S:
        text = f"its newest block is {_duration(age_s)} old"
        yield "warning", text, "check its peers, unless the chain makes blocks rarely"


def _check_forks(node: Node) -> Iterator[Outcome]:
    try:
        fork, missed = unknown_fork(node), missed_fork(node)
    except NodeError as error:
        yield "warning", str(error), "upgrade it"
        return
    if fork:
        yield "warning", fork, "update Scan before; see its changelog"
    if missed:
        yield "warning", missed, "update the node: it does not follow the chain from then on"


def _check_history(
    node: Node, number: int, head: int, advice: str, settings: Settings
) -> Iterator[Outcome]:
    """Check that the node has the first block to index with its receipts: many nodes prune them."""
    if number > head:
        return
    receipts = _try(node, "eth_getBlockReceipts", hex(number))
    if isinstance(receipts, RpcError) and receipts.is_missing_method:
        yield (
            "warning",
            "it does not offer eth_getBlockReceipts: receipts are requested one by one",
            "upgrade it; catching up takes several times as long",
        )
    try:
        if is_kept(node, number):
            yield "ok", f"has blocks and receipts from block {number}", ""
            return
        first = first_kept(node, number, head)
    except NodeError as error:
        yield "error", f"its history cannot be read: {error}", "see its log"
        return
    if first is None:
        yield "error", f"it has neither block {number} nor its newest, {head}", "see its log"
    else:
        text = f"it has pruned blocks before {first}, or their receipts"
        if are_elsewhere(settings):
            yield "ok", f"{text}; an empty index takes them from elsewhere", ""
        else:
            yield "error", text, advice.format(other_cures(), first)


def _check_places(node: Node, newest: int) -> Iterator[Outcome]:
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
        except (MalformedBlock, ValueError, TypeError, AttributeError):
            return
        if fields:
            text = f"block {number} has another {fields} than its order says"
            yield "warning", text, "nothing: Scan takes what receiptsRoot proves; upgrade the node"
            return


def _check_traces(node: Node, block_hash: str, settings: Settings) -> Iterator[Outcome]:
    if settings.traces == "off":
        yield "warning", "SCAN_TRACES=off: no internal transfers", ""
        return
    options = {"tracer": "callTracer"}
    if isinstance(_try(node, "debug_traceBlockByHash", block_hash, options), list):
        yield "ok", "traces by debug_traceBlockByHash", ""
    elif isinstance(_try(node, "trace_block", {"blockHash": block_hash}), list) or isinstance(
        _try(node, "trace_block", "latest"), list
    ):
        yield "ok", "traces by trace_block", ""
    else:
        yield (
            "warning",
            "it offers no traces: no internal transfers, call trees or sums of histories",
            "enable its debug API (geth, reth: --http.api eth,net,web3,debug)",
        )


def _check_state(node: Node, head: BlockId, start_block: int) -> Iterator[Outcome]:
    current = _try(node, "eth_getBalance", ADDRESS, head)
    if isinstance(current, RpcError) or current is None:
        yield "error", f"it cannot read the state of its newest block: {current}", "see its log"
        return
    if not node.takes_block_hashes:
        text = "it does not take block hashes (EIP-1898)"
        yield "warning", text, "state is read by number and checked afterwards; upgrade it"
    if head.number - start_block < RECENT_BLOCKS:
        yield "ok", f"has the state of block {head.number}", ""
        return
    old = _try(node, "eth_getBalance", ADDRESS, hex(max(start_block, 1)))
    if isinstance(old, str):
        yield "ok", "an archive: state of every block", ""
    else:
        yield "ok", "keeps the state of recent blocks only: ?block= answers 422 beyond them", ""


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
