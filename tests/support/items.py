"""Who owns which id, worked out from transfer records one by one, as the API must return it."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from tests.support.anvil import ZERO


@dataclass
class Item:
    """`transfers` oldest first; `balances` of a BEP1155 may be below zero."""

    token: str
    token_id: str
    token_type: str
    owner: str | None = None
    balances: Counter[str] = field(default_factory=Counter)
    transfers: list = field(default_factory=list)

    def move(self, transfer):
        self.transfers.append(transfer)
        sender, recipient = transfer["fromAddress"], transfer["toAddress"]
        if self.token_type == "BEP721":
            self.owner = recipient if recipient != ZERO else None
        else:
            self.balances[sender] -= int(transfer["value"])
            self.balances[recipient] += int(transfer["value"])

    def owners(self):
        if self.token_type == "BEP721":
            return {self.owner: 1} if self.owner else {}
        return {who: much for who, much in self.balances.items() if much > 0 and who != ZERO}

    def record(self):
        return {
            "tokenAddress": self.token,
            "tokenId": self.token_id,
            "tokenType": self.token_type,
            "owner": self.owner,
            "ownerCount": len(self.owners()),
            "transferCount": len(self.transfers),
            "unproven": ["tokenType"],
        }


def items_of(transfers):
    """By token, in the order they were first moved; `transfers` come newest first."""
    items = {}
    for transfer in reversed(list(transfers)):
        if transfer["tokenId"] is not None:
            key = transfer["tokenAddress"], transfer["tokenId"]
            item = items.setdefault(key, Item(*key, transfer["tokenType"]))
            item.move(transfer)
    by_token = defaultdict(list)
    for item in items.values():
        by_token[item.token].append(item)
    return by_token
