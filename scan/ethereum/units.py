"""Amounts of coin and of tokens as decimal numbers: the one conversion from base units."""

import re
from collections.abc import Mapping

COIN_DECIMALS = 18
GWEI_DECIMALS = 9

_AMOUNT = re.compile(r"(-?)([0-9]{1,78})(?:\.([0-9]{1,78}))? +([^ ]{1,100})", re.ASCII)
_NO_UNIT = re.compile(r"-?[0-9]{1,78}\.[0-9]{1,78}", re.ASCII)


def in_units(value: int, decimals: int = COIN_DECIMALS, separator: str = "") -> str:
    """Return base units as an exact decimal number without zeros at its end, such as `1234.5`.

    `separator` stands between groups of three digits before the point.
    """
    whole, fraction = divmod(abs(value), 10**decimals)
    rest = f".{fraction:0{decimals}d}".rstrip("0") if fraction else ""
    return f"{'-' if value < 0 else ''}{whole:{separator}}{rest}"


def in_base_units(text: str, units: Mapping[str, int | None]) -> int | None:
    """Return the base units of an amount with its unit, such as `1.5 ether`; None for other text.

    `units` has the decimals of each unit, None for an ambiguous one. Raises ValueError, with a
    sentence for people, for a fraction without a unit, for an ambiguous or unknown unit, and for
    more digits than the unit has decimals. `amountUnits` in contract-write.js does the same.
    """
    text = text.strip(" ")
    known = [unit for unit, decimals in units.items() if decimals is not None]
    if _NO_UNIT.fullmatch(text):
        example = next(unit for unit in known if units[unit])
        raise ValueError(
            f"{text} has no unit. Write one, such as {text} {example}, or a whole number."
        )
    amount = _AMOUNT.fullmatch(text)
    if amount is None:
        return None
    sign, whole, fraction, unit = amount.groups("")
    if unit not in units:
        raise ValueError(f"The unit {unit} is not known here. Known are {', '.join(known)}.")
    decimals = units[unit]
    if decimals is None:
        raise ValueError(f"The unit {unit} is ambiguous here: several tokens have this symbol.")
    if len(fraction) > decimals:
        raise ValueError(f"{unit} has {decimals} decimals, not {len(fraction)}.")
    return int(f"{sign}{whole}{fraction.ljust(decimals, '0')}")
