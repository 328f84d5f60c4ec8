"""Calldata and logs of one transaction, which the index does not store, read from the node."""

from itertools import pairwise
from typing import Any, NamedTuple

from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.client import AnswerTooLarge, Call, Node, RpcError
from scan.hex import BadHex, data, quantity

TIMEOUT_S = 1.5
# A log takes 400 to 800 bytes of a node's JSON beside its data.
MOST_BYTES = 16 * 1024 * 1024
MAX_LOGS = 20_000

REFUSED = "The node refuses to give this transaction."
MISSING = "The node does not have this transaction now."
OTHER_BLOCK = "The node has this transaction in another block than the index."
MALFORMED = "The node's answer is malformed."
TOO_MANY_LOGS = f"The transaction has more logs than are read here ({MAX_LOGS:,})."


class ContentsUnavailable(Exception):
    """The message is a sentence for clients."""


class TransactionLog(NamedTuple):
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes
    log_index: int


class TransactionContents(NamedTuple):
    """`logs` is None where there are too many; `log_count` also where they could not be counted."""

    nonce: int
    gas_limit: int
    input: bytes
    logs: tuple[TransactionLog, ...] | None
    log_count: int | None


class TransactionPlace(NamedTuple):
    """A transaction as the index has it."""

    hash: str
    block_number: int
    block_hash: str
    to_address: str | None


def read_contents(node: Node, place: TransactionPlace) -> TransactionContents:
    """Raises NodeError, and ContentsUnavailable where the node gives another one, or nonsense."""
    # The receipt comes first: batches of its method shrink where its answers are large.
    methods = ("eth_getTransactionReceipt", "eth_getTransactionByHash")
    calls = [Call(method, (place.hash,)) for method in methods]
    try:
        receipt, sent = node.results(calls, TIMEOUT_S, MOST_BYTES)
        return _contents(place, sent, receipt)
    except (BadHex, KeyError, TypeError, AttributeError, ValueError):
        raise ContentsUnavailable(MALFORMED) from None


def _contents(place: TransactionPlace, sent: Any, receipt: Any) -> TransactionContents:
    _check_is_given(sent)
    _check_place(place, sent, sent["hash"])
    fields = quantity(sent["nonce"]), quantity(sent["gas"]), data(sent["input"])
    if isinstance(receipt, AnswerTooLarge):
        return TransactionContents(*fields, None, None)
    _check_is_given(receipt)
    _check_place(place, receipt, receipt["transactionHash"])
    logs = _list(receipt["logs"])
    if len(logs) > MAX_LOGS:
        return TransactionContents(*fields, None, len(logs))
    return TransactionContents(*fields, _logs(place, logs), len(logs))


def _check_is_given(answer: Any) -> None:
    if isinstance(answer, RpcError):
        raise ContentsUnavailable(REFUSED)
    if answer is None:
        raise ContentsUnavailable(MISSING)


def _check_place(place: TransactionPlace, answer: Any, transaction_hash: object) -> None:
    if data(answer["blockHash"], 32) != data(place.block_hash):
        raise ContentsUnavailable(OTHER_BLOCK)
    to = answer.get("to")
    if (
        data(transaction_hash, 32) != data(place.hash)
        or quantity(answer["blockNumber"]) != place.block_number
        or (None if to is None else data(to, 20)) != _address(place.to_address)
    ):
        raise ContentsUnavailable(MALFORMED)


def _address(text: str | None) -> bytes | None:
    return None if text is None else data(text, 20)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadHex("not a list")
    return value


def _logs(place: TransactionPlace, logs: list[Any]) -> tuple[TransactionLog, ...]:
    found = tuple(_log(place, each) for each in logs)
    indexes = [log.log_index for log in found]
    if any(after <= before for before, after in pairwise(indexes)):
        raise ContentsUnavailable(MALFORMED)
    return found


def _log(place: TransactionPlace, each: Any) -> TransactionLog:
    topics = tuple(data(topic, 32) for topic in _list(each["topics"]))
    if len(topics) > MAX_TOPICS or each.get("removed") is True:
        raise ContentsUnavailable(MALFORMED)
    if data(each["transactionHash"], 32) != data(place.hash):
        raise ContentsUnavailable(MALFORMED)
    index = quantity(each["logIndex"])
    if index >= 2**31:
        raise ContentsUnavailable(MALFORMED)
    return TransactionLog(data(each["address"], 20), topics, data(each["data"]), index)
