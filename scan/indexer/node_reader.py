"""What a node has, checked: its head, hashes of blocks, blocks whose parts are read one by one or
are above the usual bound, and the first block that it has kept. Errors are raised.

For a block that it has dropped, as many nodes do with old ones, a node answers null, error 4444
(execution-apis 636) or another error, or it returns the block, but for its receipts null or an
empty list.
"""

import logging
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from scan import registry
from scan.ethereum import block_hashing, blocks, client, transport
from scan.hex import BadHex, data, quantity
from scan.indexer.hooks import PrunedHistory
from scan.settings import Settings

log = logging.getLogger(__name__)

_T = TypeVar("_T")
RECEIPTS = "the receipts of block"
READS = 3  # of one node, whose fault may pass; with several nodes, each of them is asked
FALSE_ANSWERS = client.MalformedResponse, client.StateUnavailable, blocks.MalformedBlock
UNREAD = (
    client.AnswerTooLarge,
    blocks.MalformedBlock,
)  # what stands for a part of a block that is not read yet
# The bound on a block's header with its transactions, and on one receipt. The cheapest log costs
# 375 gas and takes 620 bytes, the cheapest byte of input costs 4 gas and takes two digits, so this
# is enough for 58 M gas of nothing else. A larger answer is the node's fault. A receipt of 59 MB
# took 236 MiB of memory.
MAX_BLOCK_BYTES = 96 * 1024 * 1024


def large_pair(node: client.Node, number: int) -> tuple[Any, list[Any]]:
    """Return a large block and its receipts as structs, all of them in memory."""
    header = large_header(node, number)
    return header, [*large_receipts(node, header, number)]


def large_header(node: client.Node, number: int) -> Any:
    header = _large(node, "eth_getBlockByNumber", hex(number), True)
    return blocks.read_json(present(header, "block", number), blocks.BlockJson, number)


def large_receipts(node: client.Node, header: Any, number: int) -> Iterator[Any]:
    """Yield a large block's receipts as structs."""
    calls = [
        client.Call("eth_getTransactionReceipt", (hash_,)) for hash_ in transaction_hashes(header)
    ]
    results = node.results(calls, most_bytes=client.MAX_ANSWER_BYTES)
    for call, receipt in zip(calls, results, strict=True):
        if isinstance(receipt, client.AnswerTooLarge):
            receipt = _large(node, call.method, *call.params)
        receipt = present(receipt, "a receipt of block", number)
        yield blocks.read_json(receipt, blocks.ReceiptJson, number)


def _large(node: client.Node, method: str, *params: object) -> Any:
    try:
        return node.call(method, *params, most_bytes=MAX_BLOCK_BYTES)
    except client.RpcError as error:
        raise client.NodeError(
            f"the node returned an error for {method} of {params[0]}: {error.words}"
        ) from None


def pairs_one_by_one(node: client.Node, first: int, last: int) -> Iterator[tuple[Any, Any]]:
    """Yield blocks with their receipts, or one of UNREAD in place of either, but read each
    transaction's receipt by itself. Raises MissingPart where the node lacks any of them."""
    calls = [client.Call("eth_getBlockByNumber", (hex(n), True)) for n in range(first, last + 1)]
    results = node.results(calls, most_bytes=client.MAX_ANSWER_BYTES, raw=True)
    headers: list[tuple[int, Any, list[Any]]] = []
    for number, result in enumerate(results, start=first):
        header = read_part(present(result, "block", number), blocks.BlockJson, number)
        headers.append((number, header, transaction_hashes(header)))
        if number == last or sum(len(hashes) for *_, hashes in headers) >= client.MAX_BATCH:
            yield from blocks_with_receipts(node, headers)
            headers = []


def blocks_with_receipts(
    node: client.Node, headers: Sequence[tuple[int, Any, list[Any]]]
) -> Iterator[tuple[Any, Any]]:
    """Yield blocks with the receipts of these hashes, given as (number, header, hashes)."""
    calls = [
        client.Call("eth_getTransactionReceipt", (hash_,))
        for *_, hashes in headers
        for hash_ in hashes
    ]
    results = node.results(calls, most_bytes=client.MAX_ANSWER_BYTES, raw=True)
    for number, header, hashes in headers:
        receipts: Any = [read_part(next(results), blocks.ReceiptJson, number) for _ in hashes]
        unread = [receipt for receipt in receipts if isinstance(receipt, UNREAD)]
        yield header, unread[0] if unread else [present(r, RECEIPTS, number) for r in receipts]


def encoded_receipts(
    receipts: Iterator[Any], number: int, read: list[Any], leaves: list[bytes]
) -> Iterator[Any]:
    """Yield receipts, and add each to `read`, and its encoding to `leaves`, before its logs are
    taken from it: encoded it takes a quarter of its JSON."""
    for receipt in receipts:
        try:
            leaves.append(block_hashing.receipt_leaf(receipt))
        except (ValueError, TypeError) as error:
            name = type(error).__name__
            raise blocks.MalformedBlock(f"block {number}: a receipt: {name}") from None
        read.append(receipt)
        yield receipt


def read_part(result: Any, type_: Any, number: int) -> Any:
    """Return a result as the struct `type_`, or one of UNREAD; an error, or null, unchanged.

    Results come parsed over a socket, raw over HTTP.
    """
    if isinstance(result, msgspec.Raw):
        try:
            transport.require_few_elements(memoryview(result), client.MAX_ANSWER_BYTES)
        except client.AnswerTooLarge as error:
            return error
    elif not isinstance(result, dict | list):
        return result
    try:
        return blocks.read_json(result, type_, number)
    except blocks.MalformedBlock as error:
        return error


def transaction_hashes(header: Any) -> list[Any]:
    if isinstance(header, UNREAD):
        return []
    return [transaction.hash for transaction in header.transactions]


class MissingPart(client.NodeError):
    """The node returns null or an error for a part of a block. explained() finds out why."""

    def __init__(self, message: str, *, number: int = 0) -> None:
        super().__init__(message)
        self.number = number


def present(answer: Any, name: str, number: int) -> Any:
    """Return the answer unchanged. Raises MissingPart if it is an error or null."""
    if isinstance(answer, UNREAD):
        return answer
    if isinstance(answer, client.RpcError):
        raise MissingPart(
            f"the node returned an error for {name} {number}: {answer}", number=number
        )
    if answer is None:
        raise MissingPart(f"the node does not have {name} {number}", number=number)
    return answer


def result_of(answer: Any) -> Any:
    if isinstance(answer, client.RpcError):
        raise answer
    return answer


def block_number(value: Any) -> int:
    number = quantity(value)
    if number >= 2**63:
        raise BadHex("a block number is beyond 63 bits")
    return number


class NodeHead(NamedTuple):
    """The number of a node's newest block, its chain id, and the hash of its block that has the
    number of the indexed head, None where it has none."""

    number: int
    chain_id: int
    hash_at_indexed: bytes | None


def read_head(node: client.Node, indexed: int | None = None) -> NodeHead:
    """Return what the node has, in one request."""
    calls = [client.Call("eth_blockNumber", ()), client.Call("eth_chainId", ())]
    if indexed is not None:
        calls.append(client.Call("eth_getBlockByNumber", (hex(indexed), False)))
    with answers_of(node):
        number, chain_id, *headers = node.results(calls)
        return NodeHead(
            block_number(result_of(number)),
            quantity(result_of(chain_id)),
            _block_hash(headers[0]) if headers else None,
        )


def read_chain_id(node: client.Node) -> int:
    with answers_of(node):
        return quantity(node.call("eth_chainId"))


def read_hash(node: client.Node, number: int) -> bytes | None:
    """Return the hash of the node's block `number`; None if the node has none."""
    with answers_of(node):
        return _block_hash(*node.batch([client.Call("eth_getBlockByNumber", (hex(number), False))]))


def _block_hash(answer: Any) -> bytes | None:
    if answer is None or (isinstance(answer, client.RpcError) and answer.is_missing_block):
        return None
    return data(result_of(answer)["hash"], 32)


def read_genesis_hash(node: client.Node) -> bytes:
    """Return the hash of block 0. Raises HistoryPruned, NodeError."""
    if (genesis_hash := read_hash(node, 0)) is not None:
        return genesis_hash
    missing = MissingPart("the node does not have block 0")
    if isinstance(explained(node, missing), client.HistoryPruned):
        raise client.HistoryPruned(
            f"{missing}, whose hash identifies the chain: use one that has it"
        )
    raise missing


@contextmanager
def answers_of(node: client.Node) -> Iterator[None]:
    """Raise NodeError for a malformed answer and for an error that is read inside. After a
    malformed one the node rests, so that whoever reads again reads from the next one."""
    try:
        yield
    except (BadHex, KeyError, TypeError) as error:
        node.rest()
        raise client.MalformedResponse(f"the node's response is malformed: {error}") from error
    except client.RpcError as error:
        raise client.NodeError(f"the node returned an error: {error}") from error


def settled(
    node: client.Node,
    read: Callable[[client.Node], _T],
    doubts: Callable[[_T], int] = lambda result: 0,
) -> _T:
    """Return what `read` makes of a node's answer: one of many that a batch of blocks takes, which
    would all be read again otherwise.

    This is the one rule by which a step asks again: where an answer is one of FALSE_ANSWERS, or
    `doubts` are left of its result, the node rests, and each other one is asked, or the same one
    READS times; of doubtful results that with the fewest is returned, of another than the node that
    was read first. All else, and what stays false, is raised, and the next step begins anew.
    """
    results: list[_T] = []
    failure: Exception | None = None
    nodes = [node]
    for attempt, read_from in enumerate(nodes):  # others are added after the first reading
        try:
            results.append(read(read_from))
            if not doubts(results[-1]):
                return results[-1]
        except (blocks.MalformedBlock, client.NodeError) as error:
            failure = error
            if read_from is node and not isinstance(error, FALSE_ANSWERS):
                break
        if not attempt:
            node.rest()
            nodes += [node] * (READS - 1) if node.is_single else node.all_single_nodes()
    if failure is not None and not results:
        raise failure
    return min(results[1:] or results, key=doubts)


# Behind one URL there may be several nodes, of which some lack the newest blocks yet.
RECENT_BLOCKS = 16
EMPTY_BLOCKS = 16  # read until one has transactions, whose receipts may be missing


def explained(node: client.Node, missing: MissingPart) -> client.NodeError:
    """Return the reason why a part of a block is missing: HistoryPruned, or an error that passes.
    Where there are several nodes, the next one is asked from then on."""
    number = missing.number
    try:
        head = block_number(node.call("eth_blockNumber"))
        if number >= head:
            return client.NodeError(f"{missing} yet")
        node.rest()
        if is_kept(node, number):
            return missing
        if head - RECENT_BLOCKS < number != 0:  # block 0 is never too new
            return client.NodeError(f"{missing}, but has block {head}")
        first = first_kept(node, number, head)
    except (client.NodeError, client.RpcError, BadHex):
        return missing
    if first is None:
        return missing
    return client.HistoryPruned(
        f"the node has pruned blocks before {first}, and block {number} is needed: use a node that"
        f" has it{other_cures()}, or set SCAN_START_BLOCK={first} for an empty index"
    )


def other_cures() -> str:
    """Return what extensions advise, each after a comma."""
    return "".join(f", {part.cure}" for part in registry.parts(PrunedHistory))


def are_elsewhere(settings: Settings) -> bool:
    """Return whether an extension has the blocks that the node has pruned."""
    return any(part.has_blocks(settings) for part in registry.parts(PrunedHistory))


def first_kept(node: client.Node, dropped: int, head: int) -> int | None:
    """Return the first block after `dropped` that the node has, by bisection; None if it has not
    even `head`. Raises NodeError."""
    if not is_kept(node, head):
        return None
    between = range(dropped + 1, head)
    return dropped + 1 + bisect_left(between, True, key=partial(is_kept, node))


def require_kept(node: client.Node, number: int) -> None:
    """Raise HistoryPruned where the node has dropped a block or its receipts, NodeError where it
    cannot be read. For block 0, which nodes keep, block 1 is checked."""
    number = max(number, 1)
    if not is_kept(node, number):
        raise explained(node, MissingPart(f"the node does not have block {number}", number=number))


def is_kept(node: client.Node, number: int) -> bool:
    """Return whether the node has a block and its receipts. If the block has no transactions, the
    receipts of the next block that has some decide. Raises NodeError."""
    for candidate in range(number, number + EMPTY_BLOCKS):
        block = _ask(node, "eth_getBlockByNumber", hex(candidate), False)
        if isinstance(block, client.AnswerTooLarge):
            return True
        if not isinstance(block, dict):
            return candidate > number
        if transactions := block.get("transactions"):
            receipts = _ask(node, "eth_getBlockReceipts", hex(candidate))
            if isinstance(receipts, client.RpcError) and receipts.is_missing_method:
                receipts = _ask(node, "eth_getTransactionReceipt", transactions[0])
            if isinstance(receipts, client.RpcError):
                return isinstance(receipts, client.AnswerTooLarge)
            return bool(receipts)
    return True


def _ask(node: client.Node, method: str, *params: object) -> Any:
    """Return the result, or the node's error; raise NodeError for an error that passes."""
    try:
        return node.call(method, *params, most_bytes=client.MAX_ANSWER_BYTES)
    except client.RpcError as error:
        if error.is_transient:
            raise client.NodeError(str(error)) from None
        return error
