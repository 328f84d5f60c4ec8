"""Amounts as decimal numbers."""

COIN_DECIMALS = 18
GWEI_DECIMALS = 9
MAX_FRACTION_DIGITS = 6
MAX_WHOLE_DIGITS = 21  # of an amount that is written out


def in_units(value: int, decimals: int | None = COIN_DECIMALS, separator: str = "") -> str:
    """Return base units as an exact decimal number without zeros at its end, such as `1234.5`, or
    as they are where decimals are not known.

    `separator` stands between groups of three digits before the point.
    """
    whole, fraction = divmod(abs(value), 10 ** (decimals or 0))
    rest = f".{fraction:0{decimals}d}".rstrip("0") if fraction else ""
    return f"{'-' if value < 0 else ''}{whole:{separator}}{rest}"


def shortened(value: int, decimals: int) -> str:
    """Return an amount in units, truncated as `1,234.567891…`; a huge one as `1.15e59`."""
    digits, _, rest = in_units(value, decimals).partition(".")
    if len(digits) > MAX_WHOLE_DIGITS:
        return f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"
    whole = int(digits)
    if not rest:
        return f"{whole:,}"
    zeros = len(rest) - len(rest.lstrip("0"))
    if not whole and zeros > MAX_WHOLE_DIGITS:
        return f"{rest[zeros]}e-{zeros + 1}"
    most = max(MAX_FRACTION_DIGITS, zeros + 3) if not whole else MAX_FRACTION_DIGITS
    cut = rest[:most].rstrip("0") if len(rest) > most else rest
    ellipsis = "…" if len(rest) > most else ""
    return f"{whole:,}.{cut or '0'}{ellipsis}"
