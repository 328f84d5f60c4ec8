"""What is known of a transaction, and what a rule of its summary recognises."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan.contracts.summary_events import address_of, words_of
from scan.contracts.summary_parts import COIN, Asset, Part
from scan.contracts.transaction_details import TransactionDetails
from scan.hex import to_hex

MAX_NAMED = 400  # addresses
MAX_LOGS_NAMED = 20  # whose arguments are shown by name

Record = Mapping[str, Any]
Values = dict[str, list[Part]]
Flows = dict[Asset, int]


class Facts(NamedTuple):
    """What is known of a transaction; `internal` is None where its calls were not traced.

    `transfers` and `trades` are complete if they are as many as their counts. `error` is the reason
    of a failed one, if it is known.
    """

    transaction: Record
    details: TransactionDetails
    transfers: Sequence[Record]
    transfer_count: int
    trades: Sequence[Record]
    trade_count: int
    internal: Sequence[Record] | None
    error: str | None = None

    @property
    def sender(self) -> str:
        return str(self.transaction["fromAddress"])

    @property
    def value(self) -> int:
        return int(self.transaction["value"])

    @property
    def is_complete(self) -> bool:
        return len(self.transfers) == self.transfer_count

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
        flows: Flows = defaultdict(int)
        for transfer in self.transfers:
            value = int(transfer["value"])
            asset = Asset(transfer["tokenAddress"], transfer["tokenId"])
            flows[asset] += value if transfer["toAddress"] == self.sender else 0
            flows[asset] -= value if transfer["fromAddress"] == self.sender else 0
        flows[COIN] -= 0 if self.transaction["toAddress"] == self.sender else self.value
        for transfer in self.internal or ():
            value = int(transfer["value"])
            flows[COIN] += value if transfer["toAddress"] == self.sender else 0
            flows[COIN] -= value if transfer["fromAddress"] == self.sender else 0
        return {asset: value for asset, value in flows.items() if value}


class Recognised(NamedTuple):
    """A form's name and values; `has_value`: they account for the coin that was sent."""

    form: str
    values: Values
    has_value: bool = False
