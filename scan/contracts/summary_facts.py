"""What is known of a transaction, and what a rule of its summary recognises."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan.contracts.summary_events import address_of, words_of
from scan.contracts.summary_parts import COIN, ZERO, Asset, Part
from scan.contracts.transaction_details import TransactionDetails
from scan.hex import to_hex

MAX_NAMED = 400  # addresses
MAX_LOGS_NAMED = 20  # whose arguments are shown by name

Record = Mapping[str, Any]
Values = dict[str, list[Part]]
Flows = dict[Asset, int]


class Facts(NamedTuple):
    """What is known of a transaction; `internal` is None where its calls were not traced, or
    moved the coin more often than is read.

    `transfers` and `trades` are complete if they are as many as their counts. `error` is the reason
    of a failed one, if it is known, quoted where these are the contract's words. `has_code` is
    whether the sender's account runs code (EIP-7702); None where that is not known, or not needed.
    `is_state_changed`: the called contract's state changed as its event says.
    """

    transaction: Record
    details: TransactionDetails
    transfers: Sequence[Record]
    transfer_count: int
    trades: Sequence[Record]
    trade_count: int
    internal: Sequence[Record] | None
    error: str | None = None
    internal_count: int = 0
    has_code: bool | None = None
    is_error_quoted: bool = False
    is_state_changed: bool = False

    @property
    def sender(self) -> str:
        return str(self.transaction["fromAddress"])

    @property
    def value(self) -> int:
        return int(self.transaction["value"])

    @property
    def is_complete(self) -> bool:
        return len(self.transfers) == self.transfer_count

    @property
    def is_to_itself(self) -> bool:
        return bool(self.transaction["toAddress"] == self.sender)

    def addresses(self) -> list[str]:
        """Return the addresses whose names a sentence may need, at most MAX_NAMED."""
        addresses = [
            self.transaction[key] for key in ("toAddress", "contractAddress", "fromAddress")
        ]
        for transfer in self.transfers:
            addresses.append(transfer["tokenAddress"])
        for trade in self.trades:
            addresses += [trade["tokenIn"], trade["tokenOut"]]
        for log in (self.details.logs or ())[:MAX_NAMED]:
            addresses.append(to_hex(log.log.address))
        for transfer in self.transfers[:1]:
            addresses += [transfer["fromAddress"], transfer["toAddress"]]
        for log in (self.details.logs or ())[:MAX_LOGS_NAMED]:
            addresses += [word for word in map(address_of, words_of(log.log)) if word is not None]
        return list(dict.fromkeys(address for address in addresses if address))[:MAX_NAMED]

    def flows(self) -> Flows:
        """Return what the sender got, less what it gave; the coin's without fees."""
        return self.flows_of_all().get(self.sender) or {}

    def flows_of_all(self) -> dict[str, Flows]:
        """Return what each address got, less what it gave; the coin's without fees."""
        moved = [
            (Asset(transfer["tokenAddress"], transfer["tokenId"]), transfer)
            for transfer in self.transfers
        ]
        moved += [(COIN, transfer) for transfer in self.internal or ()]
        moved.append((COIN, self.transaction))
        flows: dict[str, Flows] = defaultdict(lambda: defaultdict(int))
        for asset, transfer in moved:
            value = int(transfer["value"])
            flows[transfer["toAddress"] or ZERO][asset] += value
            flows[transfer["fromAddress"]][asset] -= value
        return {
            address: {asset: value for asset, value in own.items() if value}
            for address, own in flows.items()
        }


class Recognised(NamedTuple):
    """A form's name and values; `stated` is what its sentence says that the sender got, less what
    it gave. `has_value`: that accounts for the coin that was sent."""

    form: str
    values: Values
    has_value: bool = False
    stated: Mapping[Asset, int] = {}
