"""Transactions that the node has and the index has not, most of which wait for their block: one by
its hash, those of a sender in the node's pool, and what became of one that is gone.
"""

from enum import StrEnum
from typing import Any, NamedTuple

import orjson

from scan.api.renamed_fields import recording
from scan.cached_values import SizedCache
from scan.contracts.abi_decoding import Decoded, DecodingBudget
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum import client, transaction_checks
from scan.ethereum.request_node import NodeSession
from scan.extensions.decoding import contract_abis, decoding
from scan.hex import BadHex, data, json_object, quantity, quantity_or_none, to_hex
from scan.parameters import BIGINT_MAX, MAX_TYPE
from scan.queries import entities
from scan.queries.filtered_pages import MAX_ENTRIES
from scan.queries.list_pages import Window
from scan.queries.reader import Reader

recorded = recording(__file__)

MOST_BYTES = 1024 * 1024
MOST_SENT_AGAIN = 10_000  # bytes of input that a page gives to a wallet
WALLETS_TYPES = (0, 1, 2)  # those of other types have more than a wallet is given
NO_TRANSACTION = "The node answered a request for this transaction with an error."
MAX_UINT64 = 2**64 - 1  # of nonces and gas limits (EIP-2681, EIP-1985)
FIRST_WITH_FEES = 2  # the first type with fees in place of a gas price (EIP-1559)
# Fields of the record that a proof does not cover. What the node does with it, nothing proves.
UNPROVEN = {
    transaction_checks.Proof.NOTHING: (
        "hash fromAddress toAddress nonce value gasLimit maxFeePerGas maxPriorityFeePerGas type"
        " methodId queued"
    ).split(),
    transaction_checks.Proof.HASH: ["fromAddress", "queued"],
    transaction_checks.Proof.SIGNATURE: ["queued"],
}


class PendingTransaction(NamedTuple):
    """A transaction as the node has it, but for what `proof` covers; amounts in wei. The node
    reports `block_number`, None while no block has it, and `next_nonce`, its sender's next nonce,
    None where it does not give it."""

    hash: bytes
    block_number: int | None
    from_address: bytes
    to_address: bytes | None
    value: int
    nonce: int
    next_nonce: int | None
    gas_limit: int
    max_fee_per_gas: int  # the gas price of transactions before EIP-1559
    max_priority_fee_per_gas: int | None
    type: int
    input: bytes
    is_queued: bool = False  # in the node's pool, behind a nonce that nothing there has
    proof: transaction_checks.Proof = transaction_checks.Proof.NOTHING

    def record(self) -> dict[str, Any]:
        is_call = self.to_address is not None and len(self.input) >= 4
        return recorded("pending_transaction", self) | {
            "methodId": to_hex(self.input[:4]) if is_call else None,
            "queued": self.is_queued,
            "unproven": UNPROVEN[self.proof],
        }

    @property
    def highest_fee(self) -> int:
        return self.gas_limit * self.max_fee_per_gas

    @property
    def replacement(self) -> dict[str, str]:
        """Nonce and fees of a transaction that nodes take in its place, as a wallet is given them:
        most nodes want 10 % more of each fee."""
        fees = {"gasPrice": self.max_fee_per_gas}
        if self.max_priority_fee_per_gas is not None:
            fees = {
                "maxFeePerGas": self.max_fee_per_gas,
                "maxPriorityFeePerGas": self.max_priority_fee_per_gas,
            }
        raised = {name: hex(max(fee + 1, -(-fee * 9 // 8))) for name, fee in fees.items()}
        return {"nonce": hex(self.nonce), **raised}

    @property
    def cancellation(self) -> dict[str, str]:
        """What a wallet is given to send nothing to itself in its place."""
        return {"to": to_hex(self.from_address), "data": "0x", "value": "0x0", **self.replacement}

    @property
    def same_call(self) -> dict[str, str] | None:
        """What a wallet is given to send it again; None where that would not be the same, or only
        the node says what it was."""
        is_known = self.type in WALLETS_TYPES and self.proof is not transaction_checks.Proof.NOTHING
        if not is_known or len(self.input) > MOST_SENT_AGAIN:
            return None
        to = {} if self.to_address is None else {"to": to_hex(self.to_address)}
        call = {"data": to_hex(self.input), "value": hex(self.value), "gas": hex(self.gas_limit)}
        return {**to, **call, **self.replacement}

    @property
    def earlier_nonces(self) -> int | None:
        """The number of its sender's transactions that have to be mined before it; negative where
        another with its nonce was mined; None where the next nonce is unknown."""
        return None if self.next_nonce is None else self.nonce - self.next_nonce


def read_pending(node: NodeSession, transaction_hash: bytes) -> PendingTransaction | None:
    """Return the transaction; None where the node says that it does not have it.

    Raises the errors of NodeSession, and UpstreamFailed where the answer is an error or malformed.
    """
    [answer] = node.results(
        [client.Call("eth_getTransactionByHash", (to_hex(transaction_hash),))], MOST_BYTES
    )
    if answer is None:
        return None
    sent = None if isinstance(answer, client.RpcError) else parsed(answer)
    if sent is None or sent.hash != transaction_hash:
        raise UpstreamFailed(NO_TRANSACTION)
    return sent._replace(next_nonce=next_nonce_of(node, sent.from_address))


def parsed(answer: Any) -> PendingTransaction | None:
    """Return the transaction in a node's JSON, without the sender's next nonce; None where it is
    malformed, or another than its hash and its signature are of."""
    try:
        answer = json_object(answer)
        to, type_ = answer.get("to"), quantity(answer.get("type") or "0x0")
        has_fees = type_ >= FIRST_WITH_FEES
        priority_fee = answer.get("maxPriorityFeePerGas") if has_fees else None
        sent = PendingTransaction(
            hash=data(answer["hash"], 32),
            block_number=quantity_or_none(answer.get("blockNumber")),
            from_address=data(answer["from"], 20),
            to_address=None if to is None else data(to, 20),
            value=quantity(answer["value"]),
            nonce=quantity(answer["nonce"]),
            next_nonce=None,
            gas_limit=quantity(answer["gas"]),
            max_fee_per_gas=quantity(answer["maxFeePerGas" if has_fees else "gasPrice"]),
            max_priority_fee_per_gas=quantity_or_none(priority_fee),
            type=type_,
            input=data(answer["input"]),
            proof=transaction_checks.proof_of(answer),
        )
    except (BadHex, KeyError, transaction_checks.Contradiction):
        return None
    if max(sent.nonce, sent.gas_limit) > MAX_UINT64 or sent.type > MAX_TYPE:
        return None
    return sent


def next_nonce_of(node: NodeSession, address: bytes) -> int | None:
    """Return the nonce of an address's next transaction; None where the node does not give it."""
    call = client.Call("eth_getTransactionCount", (to_hex(address), "latest"))
    try:
        [answer] = node.results([call], MOST_BYTES)
        nonce = quantity(answer)
    except (BadHex, UpstreamFailed, Unavailable):
        return None
    return nonce if nonce <= MAX_UINT64 else None


MAX_SEARCHED = 2_000  # transactions in the pool of a node that does not list those of one sender
MOST_POOL_BYTES = 4 * 1024 * 1024
STATES = ("pending", "queued")
NO_POOL = "The node does not offer its transaction pool (txpool)."
TOO_LARGE = "The node's answer is too large."


class SenderPool(NamedTuple):
    """A sender's transactions in the order of their nonces, or why they are not known."""

    transactions: list[PendingTransaction]
    reason: str | None = None


def read_pool(node: NodeSession, address: bytes) -> SenderPool:
    """Read the transactions of a sender, of a node without txpool_contentFrom from its whole pool
    where that is small. Raises the errors of NodeSession."""
    [answer] = node.results([client.Call("txpool_contentFrom", (to_hex(address),))], MOST_BYTES)
    if isinstance(answer, client.AnswerTooLarge):
        return SenderPool([], TOO_LARGE)
    if isinstance(answer, client.RpcError):
        return _searched(node, address)
    return _of_sender(answer, address)


def _searched(node: NodeSession, address: bytes) -> SenderPool:
    """Search the node's whole pool."""
    [status] = node.results([client.Call("txpool_status", ())], MOST_BYTES)
    try:
        status = json_object(status)
        size = sum(quantity(status[state]) for state in STATES)
    except (BadHex, KeyError):
        return SenderPool([], NO_POOL)
    if size > MAX_SEARCHED:
        return SenderPool(
            [],
            f"The node does not list a sender's transactions, and its pool is not searched above"
            f" {MAX_SEARCHED:,} transactions.",
        )
    [content] = node.results([client.Call("txpool_content", ())], MOST_POOL_BYTES)
    if isinstance(content, client.AnswerTooLarge):
        return SenderPool([], TOO_LARGE)
    if not isinstance(content, dict):
        return SenderPool([], NO_POOL)
    sender = to_hex(address)
    return _of_sender({state: _of_key(content.get(state), sender) for state in STATES}, address)


def _of_key(by_sender: Any, address: str) -> Any:
    """Return the value of an address, in any case of letters."""
    if not isinstance(by_sender, dict):
        return None
    return next((value for key, value in by_sender.items() if key.lower() == address), {})


def _of_sender(answer: Any, address: bytes) -> SenderPool:
    if not isinstance(answer, dict):
        return SenderPool([], NO_POOL)
    pool: list[PendingTransaction] = []
    for state in STATES:
        by_nonce = answer.get(state)
        for value in by_nonce.values() if isinstance(by_nonce, dict) else ():
            sent = parsed(value)
            if sent is not None and sent.from_address == address:
                pool.append(sent._replace(is_queued=state == "queued"))
    return SenderPool(sorted(pool, key=lambda sent: sent.nonce))


TIMEOUT_S = 1.5
MAX_LISTED = 100


class State(StrEnum):
    """What a transaction that is not indexed waits for, or what became of it."""

    PENDING = "pending"
    QUEUED = "queued"  # behind a nonce that nothing in its sender's pool has
    MINED = "mined"  # the node reports its block
    REPLACED = "replaced"  # another with its nonce is indexed
    NONCE_USED = "nonce used"  # one with its nonce was mined, which the index does not show yet
    BEING_REPLACED = "being replaced"  # the pool has another with its nonce
    DROPPED = "dropped"  # neither the node nor its pool has one with its nonce, which is not used
    UNKNOWN = "not known"


class SenderAndNonce(NamedTuple):
    sender: bytes
    nonce: int
    is_signed: bool = False  # a signature of the sender covers them


class SeenTransactions(SizedCache[SenderAndNonce]):
    """Signed transactions by hash, some 10,000 that this process has shown as pending: what it
    needs to say what became of them."""

    ENTRY_BYTES = 400

    def __init__(self) -> None:
        super().__init__(4_000_000)

    def note(self, sent: PendingTransaction) -> None:
        if sent.proof is transaction_checks.Proof.SIGNATURE:
            seen = SenderAndNonce(sent.from_address, sent.nonce, is_signed=True)
            self.store(sent.hash, seen, self.ENTRY_BYTES)


class Unindexed(NamedTuple):
    """A transaction that is not indexed, as the node has it, or `gone` where it does not give it.

    `replaced_by` is the hash of the transaction with its nonce that is mined or pending, where a
    page of its sender's newest, or its pool, has it; `missing_nonce` an earlier nonce that nothing
    in its sender's pool has, None where there is none, or the node does not say. `reason` says why
    its state is not known, or what the node reports; `has_failed`: the node did not say whether it
    has it."""

    state: State
    sent: PendingTransaction | None = None
    replaced_by: str | None = None
    missing_nonce: int | None = None
    reason: str = ""
    gone: SenderAndNonce | None = None
    has_failed: bool = False

    def as_transaction(self) -> dict[str, Any] | None:
        """Return the record of what the node gives, with the names of a mined transaction's; what
        its block decides is null."""
        if self.sent is None:
            return None
        record = self.sent.record()
        has_fees = self.sent.type >= FIRST_WITH_FEES
        later = dict.fromkeys(("gasUsed", "status", "timestamp"))
        return {
            **{name: record[name] for name in ("hash", "fromAddress", "toAddress", "value")},
            "blockNumber": self.sent.block_number,
            "gasPrice": None if has_fees else record["maxFeePerGas"],
            **later,
            **{name: record[name] for name in ("nonce", "gasLimit", "type", "methodId")},
            "maxFeePerGas": record["maxFeePerGas"] if has_fees else None,
            "maxPriorityFeePerGas": record["maxPriorityFeePerGas"],
            "state": self.state,
            "replacedBy": self.replaced_by,
            "missingNonce": self.missing_nonce,
            "unproven": [
                *(name for name in record["unproven"] if name != "queued"),
                *("blockNumber", "gasPrice", "state", "replacedBy", "missingNonce"),
            ],
        }

    def record(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "transaction": None if self.sent is None else self.sent.record(),
            "replacedBy": self.replaced_by,
            "missingNonce": self.missing_nonce,
            "reason": self.reason or None,
            "unproven": ("state", "replacedBy", "missingNonce"),
        }


class Listed(NamedTuple):
    """The transactions of a sender in the node's pool: records of the first MAX_LISTED by nonce,
    and how many there are; None, with the reason, where the node does not say."""

    records: list[dict[str, Any]]
    total: int | None
    reason: str | None = None


def sender_transactions(reader: Reader, sender: bytes) -> Listed:
    """Return what the node's pool has of a sender."""
    reader.do_not_cache()
    pool = _pool(reader.node.within(TIMEOUT_S), sender)
    if pool.reason is not None:
        return Listed([], None, pool.reason)
    listed = pool.transactions[:MAX_LISTED]
    for sent in listed:
        reader.sources.get(SeenTransactions).note(sent)
    return Listed([sent.record() for sent in listed], len(pool.transactions))


def get(
    reader: Reader, transaction_hash: bytes, named: SenderAndNonce | None = None
) -> Unindexed | None:
    """Return a transaction that is not indexed; None where the node says that it does not have it,
    which was not seen before, and `named` by nobody.

    Raises UpstreamFailed or Unavailable of such a one where the node does not say."""
    reader.do_not_cache()
    seen = reader.sources.get(SeenTransactions)
    known = seen.get(transaction_hash) or named
    try:
        node = reader.node.within(TIMEOUT_S)
        sent = read_pending(node, transaction_hash)
    except (UpstreamFailed, Unavailable) as error:
        if known is None:
            raise
        return _gone(reader, transaction_hash, known, error.message)._replace(gone=known)
    if sent is not None:
        seen.note(sent)
        return _given(reader, node, sent)
    return known and _gone(reader, transaction_hash, known, None)._replace(gone=known)


def _given(reader: Reader, node: NodeSession, sent: PendingTransaction) -> Unindexed:
    """Return a transaction that the node gives."""
    earlier = sent.earlier_nonces
    if sent.block_number is not None:
        reason = f"The node reports it in block {sent.block_number}."
        return Unindexed(State.MINED, sent, reason=reason)
    if earlier is not None and earlier < 0:
        mined = _mined(reader, sent.from_address, sent.nonce)
        if mined in (None, to_hex(sent.hash)):
            return Unindexed(State.NONCE_USED, sent)
        return Unindexed(State.REPLACED, sent, mined)
    missing = _missing_nonce(node, sent) if earlier else None
    if missing is not None:
        return Unindexed(State.QUEUED, sent._replace(is_queued=True), missing_nonce=missing)
    return Unindexed(State.PENDING, sent)


def _missing_nonce(node: NodeSession, sent: PendingTransaction) -> int | None:
    pool = _pool(node, sent.from_address)
    if pool.reason is not None or sent.next_nonce is None:
        return None
    nonces = {pooled.nonce for pooled in pool.transactions}
    return next((n for n in range(sent.next_nonce, sent.nonce) if n not in nonces), None)


def _pool(node: NodeSession, sender: bytes) -> SenderPool:
    """Read a sender's pool; an error of the node is a reason why it is not known."""
    try:
        return read_pool(node, sender)
    except (UpstreamFailed, Unavailable) as error:
        return SenderPool([], error.message)


def _gone(
    reader: Reader, transaction_hash: bytes, known: SenderAndNonce, failure: str | None
) -> Unindexed:
    """Return what became of a transaction by its sender and its nonce; `failure` is why the node
    did not say whether it has it. Nothing is dropped that the node did not deny three times: by
    its hash, by its sender's nonce, and in its sender's pool."""
    sender, nonce, _ = known
    mined = _mined(reader, sender, nonce)
    if mined not in (None, to_hex(transaction_hash)):
        return Unindexed(State.REPLACED, replaced_by=mined)
    if failure is not None:
        return Unindexed(State.UNKNOWN, reason=failure, has_failed=True)
    node = reader.node.within(TIMEOUT_S)
    next_nonce = next_nonce_of(node, sender)
    if next_nonce is None:
        return Unindexed(State.UNKNOWN, reason="The node does not give its sender's nonce.")
    if next_nonce > nonce:
        return Unindexed(State.NONCE_USED)
    pool = _pool(node, sender)
    if pool.reason is not None:
        return Unindexed(State.UNKNOWN, reason=pool.reason)
    pooled = next((sent for sent in pool.transactions if sent.nonce == nonce), None)
    if pooled is None:
        return Unindexed(State.DROPPED)
    if pooled.hash == transaction_hash:
        reason = "The node has it in its pool, but does not give it."
        return Unindexed(State.UNKNOWN, reason=reason)
    return Unindexed(State.BEING_REPLACED, replaced_by=to_hex(pooled.hash))


def _mined(reader: Reader, sender: bytes, nonce: int) -> str | None:
    """Return the hash of a sender's transaction, of those that a page of the list reads; None, too,
    where too many such lists are read at once."""
    if nonce > BIGINT_MAX:  # none is so large but those of a chain's own types
        return None
    filters = {"from": to_hex(sender), "nonce": nonce}
    try:
        page = entities.page(reader, "transactions", Window(1, 0, max_entries=MAX_ENTRIES), filters)
    except Unavailable:
        return None
    return next((record["hash"] for record in orjson.loads(page.data)), None)


def method_of(reader: Reader, sent: PendingTransaction) -> Decoded | None:
    """Return the function that a transaction calls."""
    if sent.to_address is None:
        return None
    abis, budget = reader.sources.get(contract_abis.ContractAbis), DecodingBudget()
    contract = abis.find([sent.to_address], budget).get(sent.to_address, contract_abis.NO_CONTRACT)
    imported = abis.imported_if_needed([sent.input[:4]])
    return decoding.method_of(sent.input, contract, imported, budget)
