"""Tokens, their transfers, holders and items as Blockscout shows them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.errors import InvalidParameter
from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.lists import Position, Record, contexts_of
from scan.extensions.blockscout.objects import STANDARDS, Object, renamed
from scan.extensions.blockscout.routing import text
from scan.extensions.transaction_details.method_names import add_methods
from scan.hex import data
from scan.http.requests import reader
from scan.queries import tokens

ALL_STANDARDS = (*STANDARDS.values(), "ERC-404", "ERC-7984", "ERC-8056")
OURS = {standard: ours for ours, standard in STANDARDS.items()}
NOBODY = "0x" + "0" * 40


class TokenTypes(NamedTuple):
    """The token types of a list, None for all. Of several, a page is read of all types and others
    are left out, so that it may have fewer rows."""

    chosen: frozenset[str] | None

    @property
    def only(self) -> str | None:
        """Return the type if it is a single one, by which a list can be read, else None."""
        return next(iter(self.chosen)) if self.chosen and len(self.chosen) == 1 else None

    def of(self, records: Sequence[Record], name: str) -> list[Record]:
        return [r for r in records if self.chosen is None or r[name] in self.chosen]


ALL_TYPES = TokenTypes(None)


def token_types() -> TokenTypes:
    """Return the types of the parameter `type`, which has standards separated by commas; those that
    Scan does not index have no rows."""
    given = text("type")
    if given is None:
        return ALL_TYPES
    named = [name.strip() for name in given.upper().strip("[]").split(",")]
    unknown = [name for name in named if name not in ALL_STANDARDS]
    if unknown:
        allowed = ", ".join(ALL_STANDARDS)
        raise InvalidParameter(f"type must be of {allowed}, separated by commas.", field="type")
    return TokenTypes(frozenset(OURS[name] for name in named if name in OURS))


class TokenObjects:
    """The objects of a page's tokens, which one statement reads."""

    def __init__(self, shown: Iterable[str]) -> None:
        keys = [data(address) for address in dict.fromkeys(shown)]
        self._records = tokens.by_addresses(reader(), keys)

    def of(self, address: str) -> Object:
        return token_object(self._records[address])


def token_object(record: Mapping[str, Any]) -> Object:
    return {
        **renamed("token", record),
        "decimals": str(record["decimals"]) if record["type"] == "BEP20" else None,
        "total_supply": None if record["type"] == "BEP1155" else record["totalSupply"],
        "icon_url": record.get("logoUrl"),
    }


def transfer_objects(records: Sequence[Record]) -> list[Object]:
    context_of = contexts_of(records)
    add_methods(reader(), context_of.values())
    objects = AddressObjects(r[side] for r in records for side in ("fromAddress", "toAddress"))
    token_objects = TokenObjects(record["tokenAddress"] for record in records)
    return [
        _transfer(record, context_of[record["transactionHash"]], objects, token_objects)
        for record in records
    ]


def transfer_position(record: Record) -> Position:
    return {
        "block_number": record["blockNumber"],
        "index": record["logIndex"],
        "index_in_batch": record["batchIndex"],
    }


def _transfer(
    record: Record, context: Record, objects: AddressObjects, token_objects: TokenObjects
) -> Object:
    token = token_objects.of(record["tokenAddress"])
    return {
        **renamed("transfer", context | record, address=objects.of_optional),
        "total": transfer_total(record),
        "token": token,
        "type": _kind(record),
        "method": context.get("method"),
        "token_type": token["type"],
    }


def transfer_total(record: Record) -> Object:
    if record["tokenType"] == "BEP20":
        return {"value": record["value"], "decimals": str(record["tokenDecimals"])}
    item = {"token_id": record["tokenId"], "token_instance": None}
    if record["tokenType"] == "BEP721":
        return item
    return {**item, "value": record["value"], "decimals": None}


def _kind(record: Record) -> str:
    if record["toAddress"] == NOBODY:
        return "token_burning"
    return "token_minting" if record["fromAddress"] == NOBODY else "token_transfer"
