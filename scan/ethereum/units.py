"""Amounts as decimal numbers."""

COIN_DECIMALS = 18
GWEI_DECIMALS = 9


def in_units(value: int, decimals: int | None = COIN_DECIMALS, separator: str = "") -> str:
    """Return base units as an exact decimal number without zeros at its end, such as `1234.5`, or
    as they are where decimals are not known.

    `separator` stands between groups of three digits before the point.
    """
    whole, fraction = divmod(abs(value), 10 ** (decimals or 0))
    rest = f".{fraction:0{decimals}d}".rstrip("0") if fraction else ""
    return f"{'-' if value < 0 else ''}{whole:{separator}}{rest}"
