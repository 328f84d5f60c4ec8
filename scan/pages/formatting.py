"""Values as text for people: amounts, numbers, times, and names, which may be hostile.

Amounts in a table's column have fractions as wide as the longest, so that points stand below each
other, and heads and whole numbers end where their column does.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from markupsafe import Markup

from scan.ethereum.checksums import checksummed, short
from scan.ethereum.text_cleaning import IGNORABLE, clean
from scan.ethereum.units import COIN_DECIMALS, GWEI_DECIMALS, in_units
from scan.queries.holdings import exact_worth

MAX_NAME = 60
_LIKE_ADDRESS = re.compile(r"\b0x[0-9a-f]{4,}")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{40}\b")
MAX_SYMBOL = 28  # of a pair: two fit into a name
MAX_TEXT = 20_000  # characters of a transaction's input
FEE_PLACES = 8  # a transaction costs a hundred thousandth of a coin
MAX_WHOLE_DIGITS = 21  # of amounts in lists; longer ones are shown as powers of ten
UNLIMITED = 2**255  # approvals from here on: uses lower what began as the largest number
_WHOLE_TYPES = (2**160 - 1, 2**96 - 1)  # the largest numbers of tokens, which uses do not lower

_EXCHANGE = re.compile(r"([a-z]+?)(swap)?-v([0-9]+)")
_LOWER_SWAP = ("uni", "bi")  # Uniswap and Biswap, but SushiSwap

# Invisible characters, and those that change the direction of text.
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co")
_AS_PICTURE = "\ufe0f"  # after an emoji
_EXPONENT = re.compile(r"\A(\d[\d.]*)e(-?\d+)(?= )")  # of the amount, and not in a name
_SUPERSCRIPT_DIGITS = tuple("⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def grouped(value: int | str) -> str:
    return f"{int(value):,}"


def counted(number: int | str, noun: str) -> str:
    """Return a number with its noun: `1 transfer`, `2,001 transfers`."""
    if int(number) != 1:
        if noun.endswith("y") and noun[-2] not in "aeiou":
            noun = f"{noun[:-1]}ie"
        noun = f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
    return f"{grouped(number)} {noun}"


def amount(value: int | str, decimals: int | None = COIN_DECIMALS) -> str:
    """Return the whole amount in units: `1,234.5`."""
    return in_units(int(value), decimals, ",")


def is_unlimited(approved: int | str) -> bool:
    return int(approved) >= UNLIMITED or int(approved) in _WHOLE_TYPES


def short_amount(value: int | str, decimals: int | None = COIN_DECIMALS, most: int = 6) -> str:
    """Return the amount with a truncated fraction of at most so many digits, never rounded up;
    small amounts keep more, large ones two, and those that a list has no room for are powers of
    ten."""
    text = amount(value, decimals)
    if power := _as_power(text):
        return "".join(power)
    whole, point, fraction = text.partition(".")
    zeros = len(fraction) - len(fraction.lstrip("0"))
    if whole.strip("-") == "0" and zeros > MAX_WHOLE_DIGITS:
        cut = "…" if len(fraction) > zeros + 1 else ""
        return f"{whole[:-1]}{fraction[zeros]}{cut}·10{_superscript(-zeros - 1)}"
    places = max(most, zeros + 3) if whole.strip("-") == "0" else most if len(whole) <= 4 else 2
    return text if len(fraction) <= places else f"{whole}{point}{fraction[:places]}…"


class AlignedAmount(NamedTuple):
    """An amount for columns aligned at the decimal point; `full` has all digits, None if they are
    shown."""

    whole: str
    fraction: str
    full: str | None


def aligned(value: int | str, decimals: int | None = COIN_DECIMALS, most: int = 6) -> AlignedAmount:
    """Return the amount truncated to the width of a column, `most` digits after the point of
    numbers below 1."""
    return _truncated(amount(value, decimals), most)


def _as_power(full: str, places: int = 3) -> tuple[str, str] | None:
    """Return both parts of an amount with many digits before the point, `1` and `.157…·10⁷⁷`; None
    for others."""
    digits = full.partition(".")[0].replace(",", "").lstrip("-")
    if len(digits) <= MAX_WHOLE_DIGITS:
        return None
    sign = "-" if full.startswith("-") else ""
    shown = digits[1 : places + 1]
    cut = "…" if digits[places + 1 :].strip("0") or "." in full else ""
    fraction = f".{shown}{cut}" if cut else f".{shown}".rstrip(".0")
    return sign + digits[0], f"{fraction}·10{_superscript(len(digits) - 1)}"


def _truncated(full: str, most: int = 6) -> AlignedAmount:
    whole, point, fraction = full.partition(".")
    if power := _as_power(full):
        return AlignedAmount(*power, full)
    places = _places(whole, most)
    if len(fraction) <= places:
        return AlignedAmount(whole, point + fraction, None)
    if whole == "0" and not fraction[:places].strip("0"):
        return AlignedAmount("<0", "." + "1".zfill(places), full)
    return AlignedAmount(whole, f".{fraction[:places]}…", full)


def supply(value: int | str, decimals: int | None) -> AlignedAmount:
    """Return a token's supply, of which a list shows whole tokens."""
    shown = aligned(value, decimals)
    if shown.fraction.endswith(_SUPERSCRIPT_DIGITS):
        return shown
    full = amount(value, decimals)
    whole, _, fraction = full.partition(".")
    return AlignedAmount(
        "<1" if fraction and whole == "0" else whole, "", full if fraction else None
    )


def _places(whole: str, most: int = 6) -> int:
    """Return the digits that a column has after the point, `most` of numbers below 1."""
    return most if whole == "0" else 6 if len(whole) <= 5 else 2


def aligned_gwei(wei: int | str) -> AlignedAmount:
    """Return a gas price cut to three decimals; of less than 0.1 Gwei its first three digits."""
    full = amount(wei, GWEI_DECIMALS)
    whole, point, fraction = full.partition(".")
    zeros = len(fraction) - len(fraction.lstrip("0"))
    places = zeros + 3 if whole == "0" else 3
    if len(fraction) <= places:
        return AlignedAmount(whole, point + fraction, None)
    return AlignedAmount(whole, f".{fraction[:places]}…", full)


def coin_worth(wei: int | str, price: Decimal) -> Decimal:
    return exact_worth(wei, COIN_DECIMALS, price)


def worth(total: Decimal | str) -> str:
    """Return a worth in a currency, rounded to hundredths."""
    total = Decimal(total)
    if total >= 10**15:
        mantissa, _, exponent = f"{total:.2E}".partition("E+")
        return f"{mantissa}·10{_superscript(int(exponent))}"
    if 0 < total < Decimal("0.01"):
        return "<0.01"
    return f"{total:,.2f}"


def short_address(address: str) -> str:
    return short(checksummed(address))


def resembles_another(name: str, address: str) -> bool:
    """Return whether a name has what looks like an address, or the beginning of one, but is not
    that of `address`, in lower case."""
    return any(not address.startswith(written) for written in _LIKE_ADDRESS.findall(name.lower()))


def checksummed_text(text: str, address: str) -> str:
    """Return a text of the API with the checksum in the short form of `address`."""
    return text.replace(short(address), short_address(address))


def compact(value: int, decimals: int = 0, places: int = 3) -> str:
    """Return a round value for an axis, `2.5`, `250K` or `1.5M`, with at most `places` digits after
    the point."""
    whole = value // 10**decimals
    if power := _as_power(amount(value, decimals), places):
        return "".join(power)
    for name, size in (("T", 12), ("B", 9), ("M", 6), ("K", 3)):
        if whole >= 10**size:
            places = min(places, decimals + size)
            return amount(value // 10 ** (decimals + size - places), places) + name
    return amount(value, decimals)


def powers(text: str) -> str:
    """Return an amount in a sentence of the API, `1.15e59 W`, as pages write it: `1.15·10⁵⁹ W`."""
    return _EXPONENT.sub(lambda match: f"{match[1]}·10{_superscript(int(match[2]))}", text)


def short_id(token_id: str) -> str:
    """Return the first and last digits of a long id, such as one made from a hash."""
    return token_id if len(token_id) <= 20 else f"{token_id[:8]}…{token_id[-8:]}"


def gwei(wei: int | str) -> str:
    """Return a gas price with at most three decimals, rounded down."""
    return amount(int(wei) // 10**6, 3)


def percent(part: int | str, whole: int | str, places: int = 1) -> str:
    """Return the share of `part` in `whole`, rounded half up: `12.3 %`. Only nothing is 0 %, and
    only all is 100 %; empty if `whole` is not positive."""
    some, total = int(part), int(whole)
    if total <= 0:
        return ""
    if some in (0, total):
        return f"{100 if some else 0} %"
    steps, most = (200 * 10**places * some + total) // (2 * total), 100 * 10**places
    if some > 0 and not steps:
        return f"<{amount(1, places)} %"
    if some < total and steps == most:
        return f">{amount(most - 1, places)} %"
    return f"{Decimal(steps).scaleb(-places):.{places}f} %"


def day_time(iso: str) -> str:
    """Return `2026-01-31T23:59:59Z` as `2026-01-31 23:59:59 UTC`."""
    return iso.replace("T", " ").replace("Z", " UTC")


def visible(text: str) -> str:
    """Return the text with invisible and direction-changing characters replaced by their code
    points."""
    # A fast path, as a source may have a million characters.
    if text.isprintable() and (text.isascii() or not IGNORABLE.search(text)):
        return text
    return "".join(
        f"[U+{ord(character):04X}]"
        if unicodedata.category(character) in _HIDDEN_CATEGORIES or IGNORABLE.match(character)
        else character
        for character in text.replace(_AS_PICTURE, "")
    )


def sentence(text: str) -> str:
    """Return a sentence, visible() and with checksums in its whole addresses."""
    return _ADDRESS.sub(lambda match: checksummed(match[0]), visible(text))


def short_addresses(text: str) -> str:
    """Return a text with its whole addresses in their short form."""
    return _ADDRESS.sub(lambda match: short_address(match[0]), text)


def visible_block(text: str) -> str:
    """Return the text as visible() does, but keep line breaks."""
    return "\n".join(visible_lines(text))


def text_in(content: bytes) -> str | None:
    """Return bytes as text, cut after MAX_TEXT characters; None where they are not UTF-8, have
    other controls than line breaks and tabs, or are empty."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    if not text.strip() or any(unicodedata.category(c) == "Cc" and c not in "\r\n\t" for c in text):
        return None
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def file_anchor(index: int) -> str:
    """Return what the ids of a source file's lines begin with, by its place among the files: the
    first has #L12 and the others #F2-L12, as one page may have them all."""
    return f"F{index + 1}-" if index else ""


def visible_lines(text: str) -> list[str]:
    """Return the lines of a text, each as visible(), but with tabs."""
    lines = text.replace("\r\n", "\n").split("\n")
    return ["\t".join(visible(part) for part in line.split("\t")) for line in lines]


def word(content: bytes) -> str:
    """Return a word of the storage, without leading zeros."""
    return hex(int.from_bytes(content))


def is_blank(text: str | None) -> bool:
    return not clean(text or "", MAX_NAME)


def token_name(token: Mapping[str, Any]) -> str:
    """Return the name that a token is shown by: its name or symbol, or words with its address."""
    name = next((token[key] for key in ("name", "symbol") if not is_blank(token[key])), None)
    address = token.get("address") or token["tokenAddress"]
    return str(name) if name else f"Unnamed token {short_address(address)}"


def pair_name(pool: Mapping[str, Any]) -> str:
    """Return a pool's tokens, `WETH / MUSD`; one without a symbol by its short address."""
    return " / ".join(
        short_address(pool[token]) if is_blank(symbol) else short_name(symbol, MAX_SYMBOL)
        for token, symbol in ((key, pool[f"{key}Symbol"]) for key in ("token0", "token1"))
    )


def exchange_name(dex: str) -> str:
    """Return an exchange as people write it: `uniswap-v3` as `Uniswap V3`, `v3-unconfirmed` as
    `V3 (unconfirmed factory)`."""
    if dex in ("v2-unconfirmed", "v3-unconfirmed"):
        return f"{dex[:2].upper()} (unconfirmed factory)"
    match = _EXCHANGE.fullmatch(dex)
    if not match:
        return dex
    family, swap, version = match.groups()
    if swap and family not in _LOWER_SWAP:
        swap = "Swap"
    return f"{family.capitalize()}{swap or ''} V{version}"


def short_name(text: str, most: int = MAX_NAME) -> str:
    """Return the name as a link shows it: cut, and never blank, although not every character has
    ink."""
    if text and not IGNORABLE.sub("", text).strip():
        return "(blank)"
    visible_name = visible(text)
    return visible_name if len(visible_name) <= most else f"{visible_name[: most - 1]}…"


def short_price(price: Decimal, *, is_in_column: bool = False) -> str:
    """Return a price with six digits, in a column all of them; very large and very small ones as
    powers of ten."""
    rounded = Decimal(f"{price:.6g}").normalize()
    exponent = rounded.adjusted()
    if -9 <= exponent <= 9:
        return f"{rounded:,.{max(5 - exponent, 0)}f}" if is_in_column else f"{rounded:,f}"
    return f"{rounded.scaleb(-exponent)}·10{_superscript(exponent)}"


def _superscript(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)


FRACTION = '<span class="fraction">'
STOP, NO_STOP = (f'tabindex="{index}" data-full=' for index in (0, -1))
TIMES_TEN = "·10"
WIDE = "…"  # about as wide as two digits
_EXACT = re.compile(r"\.[0-9]+\Z|\Z")
_AMOUNT = re.compile(r'<data class="amount" value="([0-9]+)"[^>]*>([0-9,]+)\Z')


def fitted(table: str) -> Markup:
    """Return the rows of a table with fractions of a column that have as many digits, and a class
    for each, `w<number>`: the number of digits that the longest fraction of its column takes.
    Columns of whole numbers are as they were, and so are 0 and numbers of what has no parts.

    Rows with a link are no stop of the Tab key for each of their cut values: they show all of them
    while a link has the focus (scan.css)."""
    if STOP in table:
        rows = str.split(table, "<tr")
        table = "<tr".join([r.replace(STOP, NO_STOP) if "<a " in r else r for r in rows])
    before, *pieces = str.split(table, FRACTION)
    columns, column, fractions, fitted = [], 0, [], [before]
    places: dict[int, int] = defaultdict(int)
    for piece in pieces:
        row = before.rfind("<tr")
        column = before.count("<td", row) if row >= 0 else column + before.count("<td")
        columns.append(column)
        fraction = piece[: piece.index("<")]
        # A fraction is padded if it is exact, of an amount of units that can be divided, and not 0.
        start = before.rfind("<data ")
        amount_ = _AMOUNT.match(before, start) if start >= 0 else None
        is_exact = amount_ is not None and bool(_EXACT.match(fraction))
        is_zero = amount_ and not fraction and amount_[1] == amount_[2].replace(",", "")
        fractions.append((fraction, is_exact and not is_zero))
        if TIMES_TEN not in fraction:  # digits of a power of ten are of no such place
            places[column] = max(places[column], len(fraction.partition(WIDE)[0]))
        before = piece
    widths: dict[int, int] = defaultdict(int)
    padded = []
    for column, (fraction, is_padded) in zip(columns, fractions, strict=True):
        most = places[column] if is_padded else 0
        text = f"{fraction or '.':0<{most}}" if most else fraction
        widths[column] = max(widths[column], len(text) + text.count(WIDE))
        padded.append(text)
    marks = {c: f'{FRACTION[:-2]} w{width}">' if width else FRACTION for c, width in widths.items()}
    for column, (fraction, _), text, piece in zip(columns, fractions, padded, pieces, strict=True):
        fitted += marks[column], text, piece[len(fraction) :]
    return Markup("".join(fitted))
