"""Decimal digits that DuckDB makes of limbs: of a uint256, and of sums of several."""

from contextlib import closing

import pyarrow
import pytest

from scan.extensions.backfill.warehouse import Warehouse
from scan.extensions.exports.parquet import LIMBS, TEXT, ColumnFormat

LIMB = 2**64
NUMBERS = [
    0,
    1,
    *(2**bits + n for bits in (63, 64, 125, 127, 128, 192) for n in (-1, 0, 1)),
    2**256 - 1,
]
OF_NUMBERS = [[number // LIMB**n % LIMB for n in range(LIMBS)] for number in NUMBERS]


@pytest.mark.parametrize(
    ("macro", "rows"),
    [
        ("uint256_text", OF_NUMBERS),
        (
            "sum_text",
            [
                *OF_NUMBERS,
                [5 * LIMB, 7 * LIMB - 7, 0, 0],  # of several numbers of up to 128 bits
                [-LIMB, 1, 0, 0],  # of what came in and went out
                [9, -3 * LIMB, 0, 0],
                [3, 2**61 - 1, 0, 0],
                [3, 2**61, 0, 0],
                [3, -(2**61), 5 * LIMB, -1],
            ],
        ),
    ],
)
def test_digits_of_limbs_are_those_of_the_number(tmp_path, macro, rows):
    names = [f"limb_{n}" for n in range(LIMBS)]
    limbs = {name: [str(row[n]) for row in rows] for n, name in enumerate(names)}
    digits = f"{macro}({', '.join(f'{name}::HUGEINT' for name in names)})"
    with closing(Warehouse.open(tmp_path, memory_bytes=1 << 28, threads=1)) as warehouse:
        warehouse.set_rows("limbs_files", pyarrow.table(limbs))
        columns = {f"{digits} AS digits": ColumnFormat(TEXT)}
        with warehouse.copy_text("bulk/files_copy", "limbs", columns) as (_, file):
            lines = file.read(1 << 20).decode().split()
    expected = [sum(limb * LIMB**n for n, limb in enumerate(row)) for row in rows]
    assert [int(line.strip('"')) for line in lines] == expected
