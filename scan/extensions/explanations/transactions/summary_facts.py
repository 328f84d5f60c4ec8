"""The facts about a transaction of which a rule makes its sentence, the rule's result, and the
forms of events in summary_sentences.json, filled with the events' arguments.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.stored_blocks import TransactionLog
from scan.extensions.decoding.details import TransactionDetails
from scan.extensions.explanations.transactions import summary_parts
from scan.hex import to_hex
from scan.pages.formatting import UNLIMITED

MAX_WORDS = 8
WORD = 32

Form = Mapping[str, Any]


def topic_of(event: str) -> bytes:
    return keccak256(event.encode())


def words_of(log: TransactionLog) -> list[bytes]:
    """Return a log's arguments as words. In all events of the table, indexed arguments come
    first."""
    data = log.data[: MAX_WORDS * WORD]
    plain = [data[at : at + WORD] for at in range(0, len(data) - WORD + 1, WORD)]
    return [*log.topics[1:], *plain]


def address_of(word: bytes) -> str | None:
    return to_hex(word[12:]) if not any(word[:12]) else None


def fits(form: Form, log: TransactionLog, words: Sequence[bytes], sender: str) -> bool:
    """Return whether the log has the form's arguments, and they meet its conditions."""
    if len(log.topics) != form["topics"]:
        return False
    if len(words) != form["event"].count(",") + 1:
        return False
    addresses = re.findall(r"\{(\d):(?:address|token)\}", form["text"])
    if any(address_of(words[int(index)]) is None for index in addresses):
        return False
    for index, condition in form.get("where", {}).items():
        word = words[int(index)]
        number = int.from_bytes(word)
        if not {
            "sender": address_of(word) == sender,
            "zero": number == 0,
            "one": number == 1,
            "unlimited": number >= UNLIMITED,
        }[condition]:
            return False
    return True


def values_of(
    text: str, words: Sequence[bytes], emitter: str, names: summary_parts.Names
) -> dict[str, list[summary_parts.Part]]:
    """Return the values of a text's placeholders `{argument:kind}`, where argument is the index of
    a word, or `emitter`."""
    values: dict[str, list[summary_parts.Part]] = {}
    for key in re.findall(r"\{([^}]+)\}", text):
        argument, kind = key.split(":")
        word = b"" if argument == "emitter" else words[int(argument)]
        address = emitter if argument == "emitter" else address_of(word) or summary_parts.ZERO
        number = int.from_bytes(word)
        if kind == "amount":
            part = summary_parts.asset_part(names, summary_parts.Asset(emitter), number)
        elif kind == "item":
            item = summary_parts.Asset(emitter, str(number))
            part = summary_parts.asset_part(names, item, 1)
        else:
            part = _PARTS[kind](names, address)
        values[key] = [part]
    return values


_PARTS = {
    "address": summary_parts.address_part,
    "contract": summary_parts.contract_part,
    "token": summary_parts.token_part,
    "collection": summary_parts.collection_part,
}
MAX_NAMED = 400  # addresses that are looked up
MAX_LOGS_NAMED = 20  # logs whose arguments are looked up

Record = Mapping[str, Any]
Values = dict[str, list[summary_parts.Part]]
Flows = dict[summary_parts.Asset, int]


class Facts(NamedTuple):
    """The facts about a transaction. `internal` are its internal transfers; None where its calls
    were not traced, or are too many to be read.

    `transfers` and `trades` are complete if they are as many as their counts. `error` is the known
    reason of a failure; `is_error_quoted`: it has the contract's words; `failed_at` is
    the file and the line, "" where they are not known. `has_code`: the sender's
    account runs code (EIP-7702); None where that is unknown or not needed. `is_state_changed`: the
    called contract's state changed as its event says.
    """

    transaction: Record
    details: TransactionDetails
    transfers: Sequence[Record] = ()
    transfer_count: int = 0
    trades: Sequence[Record] = ()
    trade_count: int = 0
    internal: Sequence[Record] | None = None
    error: str | None = None
    internal_count: int = 0
    has_code: bool | None = None
    is_error_quoted: bool = False
    is_state_changed: bool = False
    failed_at: str = ""

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
        logs = self.details.logs or ()
        parties = ("toAddress", "contractAddress", "fromAddress")
        addresses = [
            *(self.transaction[key] for key in parties),
            *(transfer["tokenAddress"] for transfer in self.transfers),
            *(trade[key] for trade in self.trades for key in ("tokenIn", "tokenOut")),
            *(to_hex(log.address) for log in logs[:MAX_NAMED]),
            *(
                transfer[key]
                for transfer in self.transfers[:1]
                for key in ("fromAddress", "toAddress")
            ),
            *(address_of(word) for log in logs[:MAX_LOGS_NAMED] for word in words_of(log)),
        ]
        return [*dict.fromkeys(filter(None, addresses))][:MAX_NAMED]

    def flows(self) -> Flows:
        """Return the net amount of each asset that the sender got, without fees."""
        return self.flows_of_all().get(self.sender) or {}

    def flows_of_all(self) -> dict[str, Flows]:
        """Return the net amount of each asset that each address got, without fees, where it is not
        0."""
        moved = [
            (summary_parts.Asset(transfer["tokenAddress"], transfer["tokenId"]), transfer)
            for transfer in self.transfers
        ]
        moved += [(summary_parts.COIN, transfer) for transfer in self.internal or ()]
        moved.append((summary_parts.COIN, self.transaction))
        flows: dict[str, Flows] = defaultdict(lambda: defaultdict(int))
        for asset, transfer in moved:
            value = int(transfer["value"])
            flows[transfer["toAddress"] or summary_parts.ZERO][asset] += value
            flows[transfer["fromAddress"]][asset] -= value
        return {
            address: {asset: value for asset, value in flow.items() if value}
            for address, flow in flows.items()
        }


class Recognised(NamedTuple):
    """The name and values of the form that a transaction fits. `stated` are the net amounts that
    its sentence says the sender got. `has_value`: the sentence names the coin that was sent."""

    form: str
    values: Values
    has_value: bool = False
    stated: Mapping[summary_parts.Asset, int] = {}
