"""Transfers of coin by their logs (EIP-7708), in blocks with `coin_logs`. Pure.

A transaction's first log of coin is that of its own value.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from scan.ethereum.blocks import COIN_EMITTER, DecodedBlock, MalformedBlock
from scan.ethereum.events import TransferShape, transfer_event
from scan.ethereum.internal_transfers import InternalTransfer, TransferType
from scan.hex import to_hex


def logged_transfers(block: DecodedBlock) -> list[InternalTransfer]:
    """Return the transfers of coin inside the block's transactions, by their logs.

    Raises MalformedBlock where a transaction's first log is not that of its own value.
    """
    of_transactions: dict[int, list[InternalTransfer]] = {}
    for transfer in _transfers(block):
        of_transactions.setdefault(transfer.transaction_index, []).append(transfer)
    internal = []
    for transaction in block.transactions:
        index, sender = transaction.transaction_index, transaction.from_address
        recipient = transaction.to_address or transaction.contract_address
        transfers = of_transactions.get(index, [])
        if transaction.moved_value:
            own = transfers[0][3:] if transfers else None
            if own != (sender, recipient, transaction.value):
                raise MalformedBlock(
                    f"block {block.number}: transaction {to_hex(transaction.hash)} has no log of"
                    " its value (EIP-7708)"
                )
            transfers = transfers[1:]
        internal += [t._replace(transfer_index=index) for index, t in enumerate(transfers, 1)]
    return internal


def _transfers(block: DecodedBlock) -> Iterator[InternalTransfer]:
    for log in block.logs if block.coin_logs else ():
        event = transfer_event(log) if log.address == COIN_EMITTER else None
        if event is not None and event.shape is TransferShape.AMOUNT:
            parties = event.from_address, event.to_address
            kind = TransferType.TRANSFER
            yield InternalTransfer(log.transaction_index, 0, kind, *parties, event.words[0][1])


def require_logged(block: DecodedBlock, traced: Sequence[InternalTransfer]) -> None:
    """Raise MalformedBlock unless the transfers by the block's traces are those by its logs."""
    by_traces = Counter(
        (t.transaction_index, t.from_address, t.to_address, t.value)
        for t in traced
        if t.value and t.from_address != t.to_address
    )
    by_logs = Counter((t.transaction_index, *t[3:]) for t in logged_transfers(block))
    if differing := (by_traces - by_logs) | (by_logs - by_traces):
        index, sender, recipient, value = min(differing)
        raise MalformedBlock(
            f"block {block.number}: traces and logs of coin (EIP-7708) differ in transaction"
            f" {to_hex(block.transactions[index].hash)}: {value} wei from {to_hex(sender)} to"
            f" {to_hex(recipient)} are in one of them alone"
        )
