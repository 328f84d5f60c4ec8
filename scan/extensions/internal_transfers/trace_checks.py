"""What contradicts traces, which no hash covers: the transaction itself, and proven balances. Pure.

An invented call inside a transaction cannot be told from a real one by its form. But its outermost
call is the transaction's own, whose fields are proven; and nobody spends more than what it has.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scan.ethereum.block_access_lists import BalanceChanges
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction, MalformedBlock
from scan.ethereum.internal_transfers import InternalTransfer
from scan.hex import data, quantity, to_hex

LAST_ETHEREUM_TYPE = b"\4"  # transactions of a chain's own types have traces of its own, too
# The spenders of a block whose balances are worth a call of the node: most blocks have none.
LEAST_SPENT_WEI = 100 * 10**18
MOST_SPENDERS = 8

# A transaction's index, from, to (None: an account that is not known), wei.
Move = tuple[int, bytes, bytes | None, int]


class ContradictingTraces(MalformedBlock):
    """Traces that are false. They are refused, and the block is indexed without traces where no
    node has others."""


def require_own_call(transaction: DecodedTransaction, frame: Any, *, has_status: bool) -> None:
    """Raise ContradictingTraces unless the outermost call, in callTracer's format, is that of a
    transaction that succeeded. Raises BadHex, KeyError and TypeError where it is malformed."""
    if transaction.type <= LAST_ETHEREUM_TYPE:
        differing = next(_differing(transaction, frame, has_status), None)
        if differing:
            raise ContradictingTraces(
                f"the trace of transaction {to_hex(transaction.hash)} has another {differing}"
            )


def _differing(transaction: DecodedTransaction, frame: Any, has_status: bool) -> Iterator[str]:
    """Yield the names of the fields that differ. gasUsed is compared where `gas` is the limit of
    the transaction: other nodes leave out what a transaction costs before it runs."""
    is_creation = transaction.to_address is None
    if frame["type"] != ("CREATE" if is_creation else "CALL"):
        yield "type"
    if data(frame["from"], 20) != transaction.from_address:
        yield "from"
    recipient = transaction.contract_address if is_creation else transaction.to_address
    if not frame.get("error") and data(frame["to"], 20) != recipient:
        yield "to"
    if quantity(frame.get("value") or "0x0") != transaction.value:
        yield "value"
    if "input" in frame and (data(frame["input"][:10]) or None) != transaction.method:
        yield "input"
    if has_status and frame.get("error"):  # receipts before Byzantium have none
        yield "status"
    limit = int.from_bytes(transaction.gas_limit or b"")
    has_gas = frame.get("gas") is not None and quantity(frame["gas"]) == limit
    if has_gas and quantity(frame["gasUsed"]) != transaction.gas_used:
        yield "gasUsed"


def large_spenders(block: DecodedBlock, transfers: Sequence[InternalTransfer]) -> list[bytes]:
    """Return the accounts whose balances before the block are to be proven: at most MOST_SPENDERS
    that spend most inside transactions, of those that spend LEAST_SPENT_WEI there. Where logs prove
    transfers (EIP-7708), and before Byzantium, there are none."""
    if block.coin_logs or not block.has_statuses or not block.number:
        return []
    spent: Counter[bytes] = Counter()
    for transfer in transfers:
        spent[transfer.from_address] += transfer.value
    largest = spent.most_common(MOST_SPENDERS)
    return [address for address, wei in largest if wei >= LEAST_SPENT_WEI]


def require_spendable(
    block: DecodedBlock, transfers: Sequence[InternalTransfer], balances: Mapping[bytes, int]
) -> None:
    """Raise ContradictingTraces where an account spends more than it has, in the order of the
    block. `balances` in wei before the block are those of the accounts that are looked at.

    What accounts get without a transfer is taken as theirs from the beginning, and fees as not
    paid: an honest trace is never refused.
    """
    held = Counter(balances)
    held[block.miner] += block.producer_fees
    for credit in block.credits:
        held[credit.address] += max(credit.amount_wei, 0)
    for _, sender, recipient, wei in _moves(block, transfers):
        if sender in balances and held[sender] < wei:
            raise ContradictingTraces(
                f"block {block.number}: by its traces {to_hex(sender)} spends {wei} wei of"
                f" {held[sender]} that are proven to be its own"
            )
        held[sender] -= wei
        if recipient is not None:
            held[recipient] += wei


def require_recorded(
    block: DecodedBlock, transfers: Sequence[InternalTransfer], changes: BalanceChanges
) -> None:
    """Raise ContradictingTraces where transfers change a balance otherwise than the block's access
    list has it, which names each balance after the transactions that changed it.

    The producer and others that get fees are left out. Of the first change of an account only its
    sign is known: before it the account had at least nothing.
    """
    if not changes:
        return
    of_fees = {block.miner, *(credit.address for credit in block.credits)}
    parties = {party for t in transfers for party in (t.from_address, t.to_address)} - of_fees
    net = _net_changes(block, transfers)
    for address in sorted(parties):
        if (index := _differing_index(block, dict(changes.get(address, ())), net[address])) >= 0:
            raise ContradictingTraces(
                f"block {block.number}: its traces and its access list differ in what transaction"
                f" {index} moved of {to_hex(address)}"
            )


def _differing_index(block: DecodedBlock, after: Mapping[int, int], moved: Counter[int]) -> int:
    """Return the index of the first transaction that moved something else than balances `after`
    transactions say; -1 if there is none."""
    before: int | None = None
    for index in sorted({*after, *moved}):
        if 1 <= index <= len(block.transactions):
            own = after.get(index, before or 0) - moved[index]
            is_right = own >= 0 if before is None else own == before
            if not is_right or (index not in after and moved[index]):
                return index - 1
        before = after.get(index, before)
    return -1


def _net_changes(
    block: DecodedBlock, transfers: Sequence[InternalTransfer]
) -> dict[bytes, Counter[int]]:
    """Return what each account gained by transactions in wei, by their indexes in access lists."""
    net: defaultdict[bytes, Counter[int]] = defaultdict(Counter)
    for transaction in block.transactions:
        net[transaction.from_address][transaction.transaction_index + 1] -= transaction.fee
    for index, sender, recipient, wei in _moves(block, transfers):
        net[sender][index + 1] -= wei
        if recipient is not None:
            net[recipient][index + 1] += wei
    return net


def _moves(block: DecodedBlock, transfers: Sequence[InternalTransfer]) -> Iterator[Move]:
    inside: dict[int, list[InternalTransfer]] = {}
    for transfer in transfers:
        inside.setdefault(transfer.transaction_index, []).append(transfer)
    for transaction in block.transactions:
        index = transaction.transaction_index
        if transaction.moved_value:
            recipient = transaction.to_address or transaction.contract_address
            yield index, transaction.from_address, recipient, transaction.value
        for transfer in inside.get(index, ()):
            yield index, transfer.from_address, transfer.to_address, transfer.value
