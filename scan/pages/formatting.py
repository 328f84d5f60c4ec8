"""Formats values for display: amounts, numbers, times, and names, which may be hostile."""

import json
import unicodedata

COIN_DECIMALS = 18
MAX_NAME = 60

# The usual names of the records' BEP types.
STANDARDS = {"BEP20": "ERC-20", "BEP721": "ERC-721", "BEP1155": "ERC-1155"}
# Invisible characters, and those that change the direction of text.
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co")


def grouped(value: int | str) -> str:
    return f"{int(value):,}"


def amount(value: int | str, decimals: int = COIN_DECIMALS) -> str:
    """The whole amount in units: `1,234.5`."""
    digits = int(value)
    sign, digits = ("-", -digits) if digits < 0 else ("", digits)
    whole, fraction = divmod(digits, 10**decimals)
    rest = f"{fraction:0{decimals}d}".rstrip("0") if fraction else ""
    return f"{sign}{whole:,}{'.' if rest else ''}{rest}"


def short_amount(value: int | str, decimals: int = COIN_DECIMALS) -> str:
    """With a truncated fraction, never rounded up; small amounts keep more digits."""
    text = amount(value, decimals)
    whole, point, fraction = text.partition(".")
    zeros = len(fraction) - len(fraction.lstrip("0"))
    most = max(6, zeros + 3) if whole.strip("-") == "0" else 6 if len(whole) <= 4 else 2
    return text if len(fraction) <= most else f"{whole}{point}{fraction[:most]}…"


def short_id(token_id: str) -> str:
    """The first and last digits of a long id, such as one made from a hash."""
    return token_id if len(token_id) <= 20 else f"{token_id[:8]}…{token_id[-8:]}"


def gwei(wei: int | str) -> str:
    """A gas price with at most three decimals, rounded down."""
    return amount(int(wei) // 10**6, 3)


def share(part: int | str, whole: int | str) -> str:
    """Per cent with two decimals; empty if `whole` is not positive."""
    total = int(whole)
    if total <= 0:
        return ""
    basis_points = int(part) * 10_000 // total
    return f"{basis_points // 100}.{basis_points % 100:02d} %"


def day_time(iso: str) -> str:
    """`2026-01-31T23:59:59Z` as `2026-01-31 23:59:59 UTC`."""
    return iso.replace("T", " ").replace("Z", " UTC")


def visible(text: str) -> str:
    """Text with invisible and direction-changing characters replaced by their code points."""
    if text.isprintable():  # a fast path, as a source may have a million characters
        return text
    return "".join(
        f"[U+{ord(character):04X}]"
        if unicodedata.category(character) in _HIDDEN_CATEGORIES
        else character
        for character in text
    )


def visible_block(text: str) -> str:
    """As visible(), but keeps line breaks."""
    return "\n".join(visible_lines(text))


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def visible_lines(text: str) -> list[str]:
    """The lines of a text, each as visible(), but with tabs."""
    lines = text.replace("\r\n", "\n").split("\n")
    return ["\t".join(visible(part) for part in line.split("\t")) for line in lines]


def short_name(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= MAX_NAME else f"{shown[: MAX_NAME - 1]}…"
