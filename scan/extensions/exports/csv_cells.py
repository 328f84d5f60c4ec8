"""Columns of CSV files: each makes the cell of a record."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.exports.csv_format import (
    Cell,
    amount,
    coins,
    date_time,
    text,
    token_id,
    units,
    wei,
)
from scan.queries.network import token_standard

Record = Mapping[str, Any]


class Context(NamedTuple):
    """Values that cells need beside their record: `own` is the address in the list's path, `coin`
    the coin's symbol, `token` the record of the token whose holders are listed."""

    own: str | None
    coin: str
    token: Record
    chain_id: str | None = None


class Column(NamedTuple):
    name: str
    cell: Callable[[Record, Context], Cell]
    of_own: bool = False  # only in the list of an address


def field(name: str, key: str = "") -> Column:
    return Column(name, lambda record, _: record[key or name])


def text_field(name: str, key: str = "") -> Column:
    return Column(name, lambda record, _: text(record[key or name] or ""))


def token_type(key: str) -> Column:
    """Return the column of a token's standard as pages call it; empty for the coin."""
    return Column("token_type", lambda r, c: token_standard(r[key], c.chain_id) if r[key] else None)


def coins_field(name: str, key: str) -> Column:
    return Column(name, lambda record, _: coins(record[key]))


def wei_field(name: str, key: str) -> Column:
    return Column(name, lambda record, _: wei(record[key]))


def direction(record: Record, context: Context) -> str:
    """Return `in`, `out` or `self`, seen from `own`; a created contract is a recipient, too."""
    is_sender = record["fromAddress"] == context.own
    recipient = record["toAddress"] or record.get("contractAddress")
    if is_sender:
        return "self" if recipient == context.own else "out"
    return "in"


def fee_in_wei(record: Record, context: Context) -> str | None:
    """Return the fee in wei, also of failed transactions; None in a list of another address."""
    if context.own is not None and record["fromAddress"] != context.own:
        return None
    return str(record["fee"])


def fee_part(name: str) -> Callable[[Record, Context], Cell]:
    """Return the cell of a part of the fee, empty where there is no fee or no such part."""

    def cell(record: Record, context: Context) -> Cell:
        return wei(record.get("feeParts", {}).get(name)) if fee_in_wei(record, context) else None

    return cell


def transferred(record: Record, _: Context) -> str:
    """Return the amount of coins that the transaction transferred: 0 if it failed."""
    return amount(record["value"], COIN_DECIMALS) if record["status"] else "0"


def token_amount(key: str, token: str) -> Callable[[Record, Context], Cell]:
    """Return the cell of a token's amount, empty where its decimals are not known."""

    def cell(record: Record, _: Context) -> Cell:
        decimals = record[f"{token}Decimals"]
        return None if decimals is None else amount(record[key], decimals)

    return cell


def trade_side(side: str, token: str, amount_key: str) -> tuple[Column, ...]:
    return (
        Column(f"amount_{side}", token_amount(amount_key, token)),
        Column(f"symbol_{side}", lambda record, _: text(record[f"{token}Symbol"] or "")),
        Column(f"units_{side}", lambda record, _: units(record[amount_key])),
        field(f"token_{side}", token),
    )


def topic(n: int) -> Column:
    return Column(
        f"topic{n}", lambda record, _: record["topics"][n] if n < len(record["topics"]) else None
    )


TIME = (
    field("time_utc", "timestamp"),
    Column("date_time", lambda record, _: date_time(record["timestamp"])),
    field("block", "blockNumber"),
)
PARTIES = (
    Column("direction", direction, of_own=True),
    field("from", "fromAddress"),
    field("to", "toAddress"),
)
# Empty but for tokens that are older than the index.
BALANCE_SINCE = Column("balance_since_block", lambda record, _: record.get("balanceSince"))
YES_NO = {True: "yes", False: "no", None: ""}
COIN = Column("symbol", lambda _, context: text(context.coin))
# Each record has the symbol and decimals of its own token.
BALANCE = (
    Column("amount", lambda record, _: amount(record["balance"], record.get("decimals", 0))),
    Column("symbol", lambda record, _: text(record["symbol"])),
    Column("name", lambda record, _: text(record["name"])),
    Column("units", lambda record, _: units(record["balance"])),
    field("token", "tokenAddress"),
    token_type("type"),
    BALANCE_SINCE,
)
TOKEN_ID = Column("token_id", lambda record, _: token_id(record["tokenId"]))
