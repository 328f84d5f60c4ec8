"""Parquet files of one table each, of rows of one kind: their schemas and arrays in Arrow,
compression, writing, reading.

A uint256 has one of the forms of Uint256, since Parquet has no such type: PyArrow's decimal256
takes 72 us a value to load, and DuckDB reads it as a floating-point number without a warning.
Addresses and hashes are fixed-size binary. Rows stand in the chain's order, so a row's ordinal is
its position, counted over the files from the first block on.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy
import pyarrow
from pyarrow import parquet

from scan.cached_values import LazyMapping
from scan.ethereum import blocks, column_types, sparse_tables
from scan.ethereum.forms.form import Credit
from scan.files import whole_file
from scan.indexer.block_rows import TABLES

LIMBS = 4
LIMB_BITS = 64
UINT256_BYTES = 32
INT64_END = 2**63
DECIMAL_END = 10**38

ADDRESS = pyarrow.binary(20)
HASH = pyarrow.binary(32)
BYTES = pyarrow.binary()
BLOCK_NUMBER = pyarrow.int64()
INDEX = pyarrow.int32()
TEXT = pyarrow.string()
BOOLEAN = pyarrow.bool_()
HASHES = pyarrow.list_(HASH)
DECIMAL = pyarrow.decimal128(38)


class Uint256(Enum):
    """The columns that a column of uint256 is in a file. Where a value is null, all of them are."""

    # LIMBS unsigned integers of 64 bits: `value_0` has the lowest bits, `value_3` the highest.
    LIMBS = auto()
    # `value`, a decimal(38), null from DECIMAL_END on, and `value_string`, decimal digits.
    AMOUNT = auto()
    # `value`, an integer of 64 bits, null from INT64_END on, which the protocol excludes.
    INTEGER = auto()


UINT256 = Uint256.LIMBS
ColumnType: TypeAlias = pyarrow.DataType | Uint256


class ColumnFormat(NamedTuple):
    type: ColumnType
    is_nullable: bool = False
    is_unsigned: bool = False  # its bytes are an integer: big-endian, without leading zeros


def optional(type_: ColumnType) -> ColumnFormat:
    return ColumnFormat(type_, is_nullable=True)


def kind(**columns: ColumnType | ColumnFormat) -> dict[str, ColumnFormat]:
    """Return the columns of a kind of row by name."""
    return {
        name: column if isinstance(column, ColumnFormat) else ColumnFormat(column)
        for name, column in columns.items()
    }


_TYPES: Mapping[column_types.ColumnType, ColumnType] = {
    column_types.ADDRESS: ADDRESS,
    column_types.HASH: HASH,
    column_types.HASHES: HASHES,
    column_types.BYTES: BYTES,
    column_types.UNSIGNED: BYTES,
    column_types.UINT256: UINT256,
    column_types.BIGINT: pyarrow.int64(),
    column_types.TIMESTAMP: pyarrow.int64(),
    column_types.INTEGER: INDEX,
    column_types.SMALLINT: pyarrow.int16(),
    column_types.BOOLEAN: BOOLEAN,
    column_types.TEXT: TEXT,
}


def _declared(columns: Mapping[str, column_types.Column]) -> dict[str, ColumnFormat]:
    """Return the formats of declared columns; older rows lack a column that a migration added."""
    return {
        name: ColumnFormat(
            _TYPES[column.type],
            column.is_nullable or bool(column.added_by),
            column.type == column_types.UNSIGNED,
        )
        for name, column in columns.items()
    }


def of_types(columns: Mapping[str, column_types.ColumnType]) -> dict[str, ColumnFormat]:
    """Return the formats of columns of these types, which may be null."""
    return {name: optional(_TYPES[type_]) for name, type_ in columns.items()}


def _of_record(record: type) -> dict[str, ColumnFormat]:
    return _declared(column_types.annotated_columns(record))


# Columns of each kind of row, named as in the table. Most follow from the records of scan/ethereum.
KINDS: Mapping[str, Mapping[str, ColumnFormat]] = LazyMapping(
    lambda: {
        "blocks": {
            **_declared(blocks.BLOCK_COLUMNS),
            **kind(
                gas_price_sum=TEXT,  # decimal: it may exceed a uint256
                withdrawal_count=optional(INDEX),
                traced=optional(BOOLEAN),
                transaction_count=INDEX,
                internal_transfer_count=INDEX,
                log_count=INDEX,
                # Null where contracts were not inspected yet.
                token_transfer_count=optional(INDEX),
                dex_trade_count=optional(INDEX),
            ),
        },
        "transactions": kind(block_number=BLOCK_NUMBER) | _declared(blocks.TRANSACTION_COLUMNS),
        "internal_transfers": kind(block_number=BLOCK_NUMBER)
        | _of_record(sparse_tables.InternalTransfer),
        "withdrawals": kind(block_number=BLOCK_NUMBER) | _of_record(blocks.Withdrawal),
        "credits": _of_record(Credit),
        "contract_creations": _of_record(sparse_tables.ContractCreation),
        "delegated_calls": _of_record(sparse_tables.DelegatedCall),
        "block_bodies": kind(block_number=BLOCK_NUMBER) | _of_record(blocks.StoredBody),
        "uncles": _of_record(blocks.Uncle),
        "log_emitters": kind(address=ADDRESS, block_number=BLOCK_NUMBER),
        "token_transfers": kind(
            block_number=BLOCK_NUMBER,
            transaction_index=INDEX,
            log_index=INDEX,
            token_address=ADDRESS,
            from_address=ADDRESS,
            to_address=ADDRESS,
            batch_index=optional(INDEX),  # null: 0
            value=UINT256,
            token_id=optional(UINT256),
        ),
        "dex_trades": kind(
            block_number=BLOCK_NUMBER,
            log_index=INDEX,
            transaction_index=INDEX,
            dex=TEXT,
            pool_address=BYTES,
            maker=ADDRESS,
            token_in=ADDRESS,
            token_out=ADDRESS,
            amount_in=UINT256,
            amount_out=UINT256,
        ),
        "logs": kind(
            block_number=BLOCK_NUMBER,
            log_index=INDEX,
            transaction_index=INDEX,
            topic0=optional(HASH),
            address=ADDRESS,
            topics=BYTES,  # those after topic0, 32 bytes each
            data=BYTES,
        ),
        **{name: _declared(table.columns) for name, table in TABLES.items()},
    }
)


# Integers that the protocol bounds; in an event, an integer of the same name may be any.
_BOUNDED = frozenset(
    """
    type nonce gas_limit gas_used cumulative_gas_used blob_gas_used excess_blob_gas y_parity
    """.split()
)


def for_engines(columns: Mapping[str, ColumnFormat]) -> dict[str, ColumnFormat]:
    """Return the formats of the same columns in types that all engines have: Apache Iceberg has no
    unsigned integers, none of 16 bits, and none but optional columns in a table that has rows."""
    formats = {name: column._replace(is_nullable=True) for name, column in columns.items()}
    for name, column in formats.items():
        if column.type == pyarrow.int16():
            formats[name] = column._replace(type=INDEX)
        elif column.is_unsigned or column.type == UINT256:
            is_bounded = name in _BOUNDED and "log_index" not in columns
            type_ = Uint256.INTEGER if is_bounded else Uint256.AMOUNT
            formats[name] = column._replace(type=type_)
    return formats


def schema(kind: Mapping[str, ColumnFormat]) -> pyarrow.Schema:
    """Return the Arrow schema of a kind of row."""
    return pyarrow.schema(
        [
            pyarrow.field(field, type_, nullable=column.is_nullable)
            for name, column in kind.items()
            for field, type_ in _types(name, column.type).items()
        ]
    )


def _types(name: str, type_: ColumnType) -> dict[str, pyarrow.DataType]:
    if type_ == Uint256.LIMBS:
        return dict.fromkeys(limb_names(name), pyarrow.uint64())
    if type_ == Uint256.AMOUNT:
        return {name: DECIMAL, f"{name}_string": TEXT}
    return {name: pyarrow.int64() if type_ == Uint256.INTEGER else type_}


def limb_names(name: str) -> list[str]:
    """Return the names of a uint256's columns, the lowest limb's first."""
    return [f"{name}_{limb}" for limb in range(LIMBS)]


def make_table(
    kind: Mapping[str, ColumnFormat], columns: Mapping[str, Sequence[object]]
) -> pyarrow.Table:
    """Return an Arrow table of `columns`, the values by column name; a uint256 is given as an int,
    or as the table has it.

    Raises OverflowError for an int outside its column, ValueError for null where none may be, and
    pyarrow's errors for other types.
    """
    arrays: list[pyarrow.Array] = []
    for name, column in kind.items():
        values: Sequence[Any] = columns[name]
        if isinstance(column.type, Uint256):
            if column.is_unsigned:
                values = [None if value is None else int.from_bytes(value) for value in values]
            arrays += _UINT256_ARRAYS[column.type](values)
        else:
            arrays.append(_array(values, column.type))
        if not column.is_nullable and arrays[-1].null_count:
            raise ValueError(f"column {name} has nulls")
    return pyarrow.Table.from_arrays(arrays, schema=schema(kind))


def _array(values: Sequence[Any], type_: pyarrow.DataType) -> pyarrow.Array:
    if type_ not in (ADDRESS, HASH) or set(map(type, values)) != {bytes}:
        return pyarrow.array(values, type_)
    if set(map(len, values)) != {type_.byte_width}:
        raise ValueError(f"not all values have {type_.byte_width} bytes")
    # A fifth of the time that PyArrow takes for a list of bytes.
    buffers = [None, pyarrow.py_buffer(b"".join(values))]
    return pyarrow.Array.from_buffers(type_, len(values), buffers)


def _limbs(values: Sequence[Any]) -> Any:
    """Return an array of LIMBS numbers for each value; raises OverflowError."""
    little_endian = b"".join([(value or 0).to_bytes(UINT256_BYTES, "little") for value in values])
    return numpy.frombuffer(little_endian, dtype="<u8").reshape(-1, LIMBS)


def _limb_arrays(values: Sequence[Any]) -> list[pyarrow.Array]:
    is_null = [value is None for value in values] if None in values else None
    limbs = _limbs(values)
    mask = None if is_null is None else numpy.array(is_null)
    contiguous = (numpy.ascontiguousarray(limbs[:, limb]) for limb in range(LIMBS))
    return [pyarrow.array(values_of_limb, mask=mask) for values_of_limb in contiguous]


def _amount_arrays(values: Sequence[Any]) -> list[pyarrow.Array]:
    is_decimal = pyarrow.array([v is not None and v < DECIMAL_END for v in values], BOOLEAN)
    # An array of booleans has the bits that say which values of another array are there.
    buffers = [is_decimal.buffers()[1], pyarrow.py_buffer(_limbs(values)[:, :2].tobytes())]
    texts = [None if value is None else str(value) for value in values]
    decimals = pyarrow.Array.from_buffers(DECIMAL, len(values), buffers)
    return [decimals, pyarrow.array(texts, TEXT)]


def _integer_arrays(values: Sequence[Any]) -> list[pyarrow.Array]:
    bounded = [value if value is None or value < INT64_END else None for value in values]
    return [pyarrow.array(bounded, pyarrow.int64())]


_UINT256_ARRAYS = {
    Uint256.LIMBS: _limb_arrays,
    Uint256.AMOUNT: _amount_arrays,
    Uint256.INTEGER: _integer_arrays,
}

COMPRESSION = "zstd"


def write_file(path: Path, table: pyarrow.Table, *, is_compressed: bool = False) -> None:
    """Write a file that is whole or absent, even where several processes write it. The bytes of one
    that `is_compressed` are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        parquet.write_table(
            table,
            file,
            compression="none" if is_compressed else COMPRESSION,
            use_dictionary=not is_compressed,
            write_statistics=not is_compressed,
        )


def read_file(path: Path, kind: Mapping[str, ColumnFormat]) -> pyarrow.Table:
    """Return a file's rows; raises ValueError where the file has other columns."""
    table = parquet.ParquetFile(path).read()
    if not table.schema.equals(schema(kind)):
        raise ValueError(f"{path} has other columns than its kind of row")
    return table
