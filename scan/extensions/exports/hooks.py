"""What other extensions add to exports, in their exports.py."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.database.connection import Database
from scan.ethereum import column_types
from scan.queries.holdings import AssetDay
from scan.registry import Part

Record = Mapping[str, Any]


class Context(NamedTuple):
    """Values that cells need beside their record: `own` is the address in the list's path, `coin`
    the coin's symbol, `token` the record of the token whose holders are listed, `prices` those of
    the assets of records on their days."""

    own: str | None
    coin: str
    token: Record
    chain_id: str | None = None
    prices: Mapping[AssetDay, Decimal] = MappingProxyType({})
    currency: str = ""  # of the prices


Values = dict[str, list[object]]


def typed_value(value: Any, type_: column_types.ColumnType) -> object:
    """Return a value of JSON as a column of a type has it: integers as int, times as Unix seconds,
    lists and objects as JSON text."""
    if value is None or isinstance(value, bool):
        return value
    if type_ is column_types.TIMESTAMP:
        return parameters.unix_seconds(value)
    if type_ in (column_types.BIGINT, column_types.INTEGER, column_types.UINT256):
        return int(value)
    if type_ is column_types.BYTES:
        return bytes.fromhex(value[2:])
    return value if isinstance(value, str) else orjson.dumps(value).decode()


class AddedTable(NamedTuple):
    """A table that is exported besides the core's. `columns` may all be null; `rows` yields its
    rows of a range of blocks, both ends included, in batches, by column: integers as int, texts,
    bytes."""

    columns: Mapping[str, column_types.ColumnType]
    rows: Callable[[Database, int, int], Iterator[Values]]


class Exports(Part, module="exports"):
    """Lists and tables as files."""

    cells: Mapping[str, Callable[[Any, Context], Any]]
    """CSV cells computed from a record, not a field, by the column's source."""
    tables: Callable[[Database, set[str]], Mapping[str, AddedTable]] | None = None
    """Tables that `scan export` writes besides the core's, of these names those that are its."""
