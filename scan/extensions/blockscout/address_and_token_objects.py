"""Addresses as Blockscout shows them in every object, with names, tags and fields of proxies;
tokens, their transfers, holders and items.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.cached_values import cached_property
from scan.contracts.abi_decoding import CLAIM, CODE
from scan.contracts.proxy_contracts import Proxy
from scan.errors import InvalidParameter
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout import paths
from scan.extensions.decoding.decoding import add_methods
from scan.hex import data, to_hex
from scan.http.current_request import reader
from scan.queries import addresses, filter_values, tokens

KINDS = paths.NAMES["proxies"]
# Proxies without code of their own, which are verified where their implementations are.
MINIMAL = frozenset({"eip1167", "immutable-args-clone", "eip7702", "eip7760"})


def proxy_fields(proxy: Proxy) -> dict[str, Any]:
    """Return the fields of an address; `is_verified` is among them where the proxy's own code says
    nothing of it. What is only claimed is left out: this form has no place for the evidence."""
    if proxy.evidence == CLAIM:
        return {"proxy_type": None, "implementations": []}
    kind = proxy.kind
    parties = addresses.parties(reader(), proxy.implementations)
    objects = [
        {"address_hash": checksummed(address), "name": parties[address]["contract"]}
        for address in map(to_hex, proxy.implementations)
    ]
    fields: dict[str, Any] = {"proxy_type": KINDS[kind], "implementations": objects}
    if kind in MINIMAL and objects and all(implementation["name"] for implementation in objects):
        fields["is_verified"] = True
    return fields


def delegating(delegate: str) -> Proxy:
    """Return the delegation of an account (EIP-7702)."""
    return Proxy("eip7702", data(delegate), CODE)


UNRATED = "ok"  # Scan rates nobody, but Blockscout's form has `ok` or `scam` of an address


class AddressObjects:
    """The objects of a page's addresses, which one statement reads."""

    def __init__(self, addresses_in_hex: Iterable[str | None]) -> None:
        """The addresses are in lower-case hex; None are left out."""
        self._keys = [data(address) for address in dict.fromkeys(addresses_in_hex) if address]
        self._parties = addresses.parties(reader(), self._keys)

    @cached_property
    def _names(self) -> Mapping[bytes, str]:
        return reader().sources.get(addresses.AddressNames).in_list(reader(), self._keys)

    def of(self, address: str) -> paths.Object:
        party = self._parties.get(address, {})
        fields = address_object(address, party, self._names.get(data(address)))
        if not party.get("delegate"):
            return fields
        # It runs another address's code (EIP-7702).
        return fields | {"is_contract": True, **proxy_fields(delegating(party["delegate"]))}

    def of_optional(self, address: str | None) -> paths.Object | None:
        return None if address is None else self.of(address)


def address_object(address: str, party: Mapping[str, Any], name: str | None) -> paths.Object:
    """Return the object of an address. Its name is a label, that of its deployment or of a verified
    contract, or what it is known for, not what a token calls itself; `name` is its primary name."""
    label, contract = party.get("label"), party.get("contract")
    known = addresses.KNOWN_ADDRESSES.get(address.lower())
    fields: paths.Object = {
        "hash": checksummed(address),
        "isContract": party.get("isContract"),
        "name": label or party.get("deployedAs") or contract or known,
        "isVerified": contract is not None,
        "primaryName": name,
    }
    tag = {"address_hash": fields["hash"], "display_name": label, "label": label}
    return {**paths.renamed("address", fields), "public_tags": [tag] if label else []}


ALL_STANDARDS = (*paths.STANDARDS.values(), "ERC-404", "ERC-7984", "ERC-8056")
OURS = {standard: ours for ours, standard in paths.STANDARDS.items()}
NOBODY = "0x" + "0" * 40


class TokenTypes(NamedTuple):
    """The token types of a list, None for all. Of several, a page is read of all types and others
    are left out, so that it may have fewer rows."""

    chosen: frozenset[str] | None

    @property
    def only(self) -> str | None:
        """Return the type if it is a single one, by which a list can be read, else None."""
        return next(iter(self.chosen)) if self.chosen and len(self.chosen) == 1 else None

    def of(self, records: Sequence[paths.Record], name: str) -> list[paths.Record]:
        return [r for r in records if self.chosen is None or r[name] in self.chosen]


ALL_TYPES = TokenTypes(None)


def token_types() -> TokenTypes:
    """Return the types of the parameter `type`, which has standards separated by commas; those that
    Scan does not index have no rows."""
    text = paths.text("type")
    if text is None:
        return ALL_TYPES
    standards = [name.strip() for name in text.upper().strip("[]").split(",")]
    unknown = [name for name in standards if name not in ALL_STANDARDS]
    if unknown:
        allowed = ", ".join(ALL_STANDARDS)
        raise InvalidParameter(f"type must be of {allowed}, separated by commas.", field="type")
    return TokenTypes(frozenset(OURS[name] for name in standards if name in OURS))


class TokenObjects:
    """The objects of a page's tokens, which one statement reads."""

    def __init__(self, addresses_in_hex: Iterable[str]) -> None:
        keys = [data(address) for address in dict.fromkeys(addresses_in_hex)]
        self._records = tokens.records_of(reader(), keys, ended=True)

    def of(self, address: str) -> paths.Object:
        return token_object(self._records[address])


def _text(decimals: int | None) -> str | None:
    return None if decimals is None else str(decimals)


def token_object(record: Mapping[str, Any]) -> paths.Object:
    """Return a token's object, without the number of its holders where that is by events which do
    not add up, as the object cannot say."""
    if "inconsistentSince" in record:
        record = {**record, "holderCount": None}
    return {
        **paths.renamed("token", record),
        "decimals": _text(record["decimals"]) if record["type"] == "BEP20" else None,
        "total_supply": None
        if record["type"] in filter_values.WITH_AMOUNTS
        else record["totalSupply"],
        "icon_url": record.get("logoUrl"),
    }


def transfer_objects(records: Sequence[paths.Record]) -> list[paths.Object]:
    context_of = paths.contexts_of(records)
    add_methods(reader(), context_of.values(), are_calls=True)
    objects = AddressObjects(r[side] for r in records for side in ("fromAddress", "toAddress"))
    token_objects = TokenObjects(record["tokenAddress"] for record in records)
    transfers = []
    for record in records:
        context = context_of[record["transactionHash"]]
        transfer = {
            **paths.renamed("transfer", context | record, address=objects.of_optional),
            "total": transfer_total(record),
            "token": token_objects.of(record["tokenAddress"]),
            "type": _kind(record),
            "method": context.get("method"),
            "token_type": paths.STANDARDS[record["tokenType"]],
        }
        transfers.append(transfer)
    return transfers


def transfer_position(record: paths.Record) -> paths.Position:
    return paths.renamed("transfer_position", record)


def transfer_total(record: paths.Record) -> paths.Object:
    if record["tokenType"] == "BEP20":
        return {"value": record["value"], "decimals": _text(record["tokenDecimals"])}
    item = {"token_id": record["tokenId"], "token_instance": None}
    if record["tokenType"] == "BEP721":
        return item
    return {**item, "value": record["value"], "decimals": None}


def _kind(record: paths.Record) -> str:
    if record["toAddress"] == NOBODY:
        return "token_burning"
    return "token_minting" if record["fromAddress"] == NOBODY else "token_transfer"
