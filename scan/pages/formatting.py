"""Values as people read them: amounts, numbers, times, names that may be hostile."""

import json
import unicodedata

COIN_DECIMALS = 18
MAX_NAME = 60

# What the BEP types of the records are called in the standards that people know.
STANDARDS = {"BEP20": "ERC-20", "BEP721": "ERC-721", "BEP1155": "ERC-1155"}
# Invisible characters, and those that turn the direction of the text around them.
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
    """Its fraction cut, never rounded up: the smaller the amount, the more digits stay."""
    text = amount(value, decimals)
    whole, point, fraction = text.partition(".")
    zeros = len(fraction) - len(fraction.lstrip("0"))
    most = max(6, zeros + 3) if whole.strip("-") == "0" else 6 if len(whole) <= 4 else 2
    return text if len(fraction) <= most else f"{whole}{point}{fraction[:most]}…"


def short_id(token_id: str) -> str:
    """Both ends of an id that is long, as those made of hashes are."""
    return token_id if len(token_id) <= 20 else f"{token_id[:8]}…{token_id[-8:]}"


def gwei(wei: int | str) -> str:
    """A gas price to three digits after the point, rounded down."""
    return amount(int(wei) // 10**6, 3)


def share(part: int | str, whole: int | str) -> str:
    """Per cent, to two digits; empty where there is no whole."""
    total = int(whole)
    if total <= 0:
        return ""
    basis_points = int(part) * 10_000 // total
    return f"{basis_points // 100}.{basis_points % 100:02d} %"


def day_time(iso: str) -> str:
    """`2026-01-31T23:59:59Z` as `2026-01-31 23:59:59 UTC`."""
    return iso.replace("T", " ").replace("Z", " UTC")


def visible(text: str) -> str:
    """Somebody's text with every character that hides or reorders others written out."""
    if text.isprintable():  # nearly all are, and a source may have a million characters
        return text
    return "".join(
        f"[U+{ord(character):04X}]"
        if unicodedata.category(character) in _HIDDEN_CATEGORIES
        else character
        for character in text
    )


def visible_block(text: str) -> str:
    """As visible(), of a text whose lines count."""
    return "\n".join(visible_lines(text))


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def visible_lines(text: str) -> list[str]:
    """The lines of a source file, each made visible; tabs stay."""
    lines = text.replace("\r\n", "\n").split("\n")
    return ["\t".join(visible(part) for part in line.split("\t")) for line in lines]


def short_name(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= MAX_NAME else f"{shown[: MAX_NAME - 1]}…"
