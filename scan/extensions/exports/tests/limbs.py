"""Columns of uint256 in Parquet files."""

from scan.extensions.exports import parquet


def integers(table, name):
    """Return the values of a uint256 column."""
    limbs = [table[limb_name].to_pylist() for limb_name in parquet.limb_names(name)]
    values = zip(*limbs, strict=True)
    return [None if a is None else a | b << 64 | c << 128 | d << 192 for a, b, c, d in values]
