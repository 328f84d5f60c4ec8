"""Rows of events as files: `scan export events.vault_deposit`, with the columns of the view."""

from collections.abc import Iterator
from typing import Any

import orjson

from scan import parameters
from scan.contracts.abi import AbiType
from scan.database.connection import Database
from scan.ethereum import column_types
from scan.extensions.events import event_filters, event_lists
from scan.extensions.events.event_lists import FollowedEvent
from scan.extensions.events.event_tables import EventTable, read_table
from scan.extensions.exports.hooks import AddedTable, Exports, Values

PREFIX = "events."
ROWS_AT_ONCE = 1000
_OF_LOG = {
    "block_number": column_types.BIGINT,
    "timestamp": column_types.TIMESTAMP,
    "transaction_hash": column_types.TEXT,
    "log_index": column_types.INTEGER,
    "contract": column_types.TEXT,
}
_OF_SQL = {"boolean": column_types.BOOLEAN, "bytea": column_types.BYTES}


def tables(database: Database, names: set[str]) -> dict[str, AddedTable]:
    """Return the tables of events that names mean, such as events.vault_deposit."""
    wanted = {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}
    if not wanted:
        return {}
    added = {}
    for address, contract, number, view, event, columns, forms in database.rows(
        "events/views_list", address=None
    ):
        if view in wanted:
            view_forms = orjson.loads(forms)
            table = read_table(
                bytes(address), contract, view, event, orjson.loads(columns), view_forms
            )
            rows = _Rows(FollowedEvent(number, table, 0, view_forms))
            added[f"{PREFIX}{view}"] = AddedTable(columns_of(table), rows)
    return added


def columns_of(table: EventTable) -> dict[str, column_types.ColumnType]:
    """Return the columns of a file of a table's rows, with their types."""
    numbers: dict[str, list[AbiType]] = {}
    for form in table.forms:
        for column, abi_type in zip(form.columns, form.entry.types, strict=True):
            numbers.setdefault(column.name, []).append(abi_type)
    names = {name for name, _ in table.view_columns}
    return _OF_LOG | {
        name: _number(numbers[name], is_divisible=names.isdisjoint(f"{name}_{n}" for n in range(4)))
        if sql_type == "numeric"
        else _OF_SQL.get(sql_type, column_types.TEXT)
        for name, sql_type in table.view_columns
    }


def _number(types: list[AbiType], *, is_divisible: bool) -> column_types.ColumnType:
    """Return the type of a column of numbers, which are of these types: as decimal text where no
    other has all of them, or where another column has a name of the four that a uint256 is."""
    if any(abi_type.decimals for abi_type in types):
        return column_types.TEXT
    if all((abi_type.size or 0) <= (64 if abi_type.kind == "int" else 63) for abi_type in types):
        return column_types.BIGINT
    if is_divisible and all(abi_type.kind == "uint" for abi_type in types):
        return column_types.UINT256
    return column_types.TEXT


class _Rows:
    """Reads the rows of an event, a range of blocks at a time."""

    def __init__(self, event: FollowedEvent) -> None:
        self._columns = columns_of(event.table)
        self._event = event
        self._filters = event_filters.read(event.table, {}, {})

    def __call__(self, database: Database, block_from: int, block_to: int) -> Iterator[Values]:
        after, limit = None, ROWS_AT_ONCE
        while True:
            [row] = database.rows(
                "queries/decoded_events_list",
                **event_lists.statement_forms(self._event, self._filters),
                direction="asc",
                limit=limit,
                offset=0,
                after=after,
                block_from=block_from,
                block_to=min(block_to, parameters.BIGINT_MAX),
                seen_block=None,
                max_entries=None,
                max_total=None,
                max_bytes=event_lists.MAX_PAGE_BYTES,
                max_compared_bytes=event_lists.MAX_COMPARED_BYTES,
            )
            _, data, count, _, after_page, *_ = row
            if data is None:
                limit = max(1, limit // 10)
                continue
            if count:
                yield self._values(orjson.loads(data))
            if after_page is None:
                return
            after = after_page

    def _values(self, logs: list[dict[str, Any]]) -> Values:
        rows = [event_lists.row_of_view(self._event, log["form"], log) for log in logs]
        return {
            name: [_value(row[name], type_) for row in rows]
            for name, type_ in self._columns.items()
        }


def _value(value: Any, type_: column_types.ColumnType) -> object:
    if value is None or isinstance(value, bool):
        return value
    if type_ is column_types.TIMESTAMP:
        return parameters.unix_seconds(value)
    if type_ in (column_types.BIGINT, column_types.INTEGER, column_types.UINT256):
        return int(value)
    if type_ is column_types.BYTES:
        return bytes.fromhex(value[2:])
    return value if isinstance(value, str) else orjson.dumps(value).decode()


HOOKS = Exports(cells={}, tables=tables)
