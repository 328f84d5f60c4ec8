"""The filter of a list of activities: transactions, token transfers and internal transactions."""

from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from scan import parameters
from scan.errors import InvalidParameter
from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.blockscout.lists import one_of
from scan.extensions.blockscout.routing import text
from scan.extensions.blockscout.token_objects import ALL_STANDARDS, OURS
from scan.hex import to_hex

COIN_TRANSFER, INTERACTION, CREATION = "coin_transfer", "contract_interaction", "contract_creation"
OF_COIN = (COIN_TRANSFER, INTERACTION, CREATION)
NATIVE = "native"
MOST_VALUES = 20  # of one parameter

Record = Mapping[str, Any]


class Chosen(NamedTuple):
    """The values that a parameter includes, None for all, and those that another excludes."""

    included: frozenset[str] | None
    excluded: frozenset[str]

    def has(self, value: str | None) -> bool:
        return (self.included is None or value in self.included) and value not in self.excluded

    @property
    def is_open(self) -> bool:
        return self.included is None and not self.excluded

    @property
    def single(self) -> bytes | None:
        """Return the only address that is included; None where there are others or none."""
        if self.included is None or len(self.included) != 1:
            return None
        [value] = self.included
        return None if value == NATIVE else bytes.fromhex(value[2:])


class ActivityFilter(NamedTuple):
    """`types` are kinds of moves of the coin, and token standards; `methods` are selectors in hex;
    amounts are in whole units. Addresses of either side match together where `is_both`."""

    types: frozenset[str] | None
    methods: frozenset[str] | None
    senders: Chosen
    recipients: Chosen
    is_both: bool
    tokens: Chosen
    least: Decimal | None
    most: Decimal | None
    time_from: int | None
    time_to: int | None

    @property
    def has_coin(self) -> bool:
        """Return whether moves of the coin may match."""
        is_typed = self.types is None or not self.types.isdisjoint(OF_COIN)
        return is_typed and self.tokens.has(NATIVE)

    @property
    def has_tokens(self) -> bool:
        is_typed = self.types is None or not self.types <= {*OF_COIN}
        return is_typed and self.tokens.included != frozenset({NATIVE})

    def list_key(self, *, of_tokens: bool) -> dict[str, bytes]:
        """Return the filter of the list that has all matching rows, which is empty for all."""
        sender, recipient = self.senders.single, self.recipients.single
        token = self.tokens.single if of_tokens else None
        if sender is not None and sender == recipient and not self.is_both:
            return {"address": sender}
        if sender is not None and (self.is_both or self.recipients.is_open):
            return {"from": sender}
        if recipient is not None and (self.is_both or self.senders.is_open):
            return {"to": recipient}
        return {} if token is None else {"token": token}

    def has_parties(self, record: Record) -> bool:
        is_sent = self.senders.has(record["fromAddress"])
        is_received = self.recipients.has(record["toAddress"])
        if self.is_both or self.senders.is_open or self.recipients.is_open:
            return is_sent and is_received
        return is_sent or is_received

    def has_amount(self, units: str, decimals: int) -> bool:
        amount = Decimal(units).scaleb(-decimals)
        return (self.least is None or amount >= self.least) and (
            self.most is None or amount <= self.most
        )

    def has_transfer(self, record: Record, method: str | None) -> bool:
        return (
            (self.types is None or record["tokenType"] in self.types)
            and self.tokens.has(record["tokenAddress"])
            and self.has_parties(record)
            and (self.methods is None or method in self.methods)
            and self.has_amount(record["value"], record["tokenDecimals"] or 0)
        )

    def has_move(self, record: Record, kinds: Collection[str], method: str | None) -> bool:
        """Return whether a transaction matches, or an internal one, which is of some `kinds`."""
        return (
            (self.types is None or not self.types.isdisjoint(kinds))
            and self.has_parties(record)
            and (self.methods is None or method in self.methods)
            and self.has_amount(record["value"], COIN_DECIMALS)
        )


def read_filter() -> ActivityFilter:
    """Return the filter of the request's parameters; raises InvalidParameter."""
    return ActivityFilter(
        _types(),
        _methods(),
        _chosen("from_address_hashes"),
        _chosen("to_address_hashes"),
        (one_of("address_relation", ("or", "and", "OR", "AND")) or "or").lower() == "and",
        _chosen("token_contract_address_hashes"),
        _amount("amount_from"),
        _amount("amount_to"),
        _time("age_from", is_upper=False),
        _time("age_to", is_upper=True),
    )


def _listed(name: str) -> list[str] | None:
    given = text(name)
    if given is None:
        return None
    values = [value.strip() for value in given.split(",") if value.strip()]
    if len(values) > MOST_VALUES:
        raise InvalidParameter(f"{name} may have {MOST_VALUES} values.", field=name)
    return values


def _types() -> frozenset[str] | None:
    values = _listed("transaction_types")
    if values is None:
        return None
    allowed = {kind.upper() for kind in (*OF_COIN, *ALL_STANDARDS)}
    for value in values:
        if value.upper() not in allowed:
            message = f"transaction_types must be of {', '.join(sorted(allowed))}."
            raise InvalidParameter(message, field="transaction_types")
    return frozenset(
        OURS.get(value.upper(), value.lower() if value.lower() in OF_COIN else value.upper())
        for value in values
    )


def _methods() -> frozenset[str] | None:
    values = _listed("methods")
    if values is None:
        return None
    return frozenset(to_hex(parameters.method(value, "methods")) for value in values)


def _chosen(name: str) -> Chosen:
    included, excluded = (_addresses(f"{name}_to_{verb}") for verb in ("include", "exclude"))
    return Chosen(included, excluded or frozenset())


def _addresses(name: str) -> frozenset[str] | None:
    values = _listed(name)
    if values is None:
        return None
    return frozenset(
        NATIVE if value == NATIVE and "token" in name else to_hex(parameters.address(value, name))
        for value in values
    )


def _amount(name: str) -> Decimal | None:
    given = text(name)
    try:
        amount = None if given is None else Decimal(given)
    except InvalidOperation:
        amount = Decimal("NaN")
    if amount is not None and not amount.is_finite():
        raise InvalidParameter(f"{name} must be a decimal number.", field=name)
    return amount


def _time(name: str, *, is_upper: bool) -> int | None:
    given = text(name)
    return None if given is None else parameters.time_s(given, name, is_upper=is_upper)
