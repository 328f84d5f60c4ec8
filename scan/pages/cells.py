"""What rows of tables have many of, as HTML: links to addresses, transactions and blocks, names,
times and amounts. A macro of Jinja takes 5 us and a page has 600 of these, so they are functions;
macros.html has them under the same names as its macros.
"""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from scan.ethereum.signatures import checksummed
from scan.ethereum.token_metadata import COIN_DECIMALS
from scan.pages import formatting

NO_NAMES: Mapping[str, Any] = {}


def named(text: str) -> Markup:
    """Return a name, which anybody may have chosen, isolated from the direction of its line."""
    return Markup(f"<bdi>{escape(formatting.short_name(text))}</bdi>")


def shortened(value: str, head: int = 8, style: str = "") -> Markup:
    """Return a whole value, so that it is copied whole; style shortens it for eyes."""
    text = str(escape(value))
    return Markup(
        f'<span class="{style}hash short">{text[:head]}<span class="cut" role="img" aria-label="…">'
        f"{text[head:-4]}</span>{text[-4:]}</span>"
    )


def title_of(text: str, most: int = 12) -> str:
    """Return the whole of what style may cut: it is shown under the pointer, and where the link has
    the focus."""
    if len(text) <= most:
        return Markup()
    return Markup(f' title="{escape(formatting.visible(text[:300]))}"')


def claimed(name: str, address: str) -> Markup:
    """Return a name that an address has chosen for itself, in no place of the address."""
    warning = ""
    if formatting.resembles_another(name, address):
        warning = (
            ' <span class="badge bad" title="The name is written like an address, but not this'
            ' one">not its address</span>'
        )
    return Markup(
        f'<span class="claim" title="{escape(formatting.visible(name[:300]))}: a name that the'
        f' address has chosen">{named(name)}</span>{warning}'
    )


def address(value: str, names: Mapping[str, Any] = NO_NAMES, whole: bool = False) -> Markup:
    """Return the link to an address. Paths have lower case, so that one page has one path; what is
    read and copied has the checksum."""
    entry = names.get(value)
    name = entry["name"] if entry else None
    attributes = title = ""
    if name:
        attributes = f' class="called{" whole" if whole else ""}"{title_of(name)}'
        title = f"{named(name)} "
    elif whole:
        attributes = ' class="whole"'
    text = checksummed(value)
    if whole:
        shown = Markup(f'<span class="hash">{escape(text)}</span>')
    else:
        shown = shortened(text, 6 if name else 8)
    claim = f" {claimed(entry['claim'], value)}" if entry and "claim" in entry else ""
    return Markup(f'<a href="/address/{escape(value)}"{attributes}>{title}{shown}</a>{claim}')


def party(value: str, names: Mapping[str, Any], own: str | None) -> Markup:
    """Return the link to an address of a row, or the address whose list it is without one."""
    return shortened(checksummed(value), style="own ") if value == own else address(value, names)


def transaction(hash: str, row: str = "", tab: str = "") -> Markup:
    """Return the link to a transaction. `row`: the id of a row on its page, or on a `tab` of it,
    which the link leads to."""
    path = f"{hash}{f'?tab={tab}' if tab else ''}{f'#{row}' if row else ''}"
    return Markup(f'<a href="/tx/{escape(path)}">{shortened(hash)}</a>')


def block(number: int) -> Markup:
    return Markup(f'<a href="/block/{int(number)}">{formatting.grouped(number)}</a>')


def age(time: str) -> Markup:
    """Return a time (ISO 8601), which a script shows as an age."""
    text = str(escape(time))
    return Markup(f'<time datetime="{text}" data-age>{formatting.day_time(text)}</time>')


def digits(value: int | str, amount: formatting.AlignedAmount, unit: str | None) -> Markup:
    """Return an amount. In a column its point stands below the others'. Where digits are left out,
    all of them are shown where the pointer, a finger or the focus is."""
    full = ""
    if amount.full:
        of_unit = f" {escape(formatting.short_name(unit))}" if unit else ""
        full = f' tabindex="0" data-full="{amount.full}{of_unit}"'
    return Markup(
        f'<data class="amount" value="{escape(value)}"{full}>{escape(amount.whole)}'
        f'<span class="fraction">{escape(amount.fraction)}</span></data>'
    )


def amount(value: int | str, decimals: int | None = COIN_DECIMALS, unit: str | None = "") -> Markup:
    return digits(value, formatting.aligned(value, decimals), unit)


def fee(wei: int | str, symbol: str) -> Markup:
    """Return what was paid: it is rounded, where a balance is cut so that it is never too much."""
    return digits(wei, formatting.rounded(wei), symbol)


def gas_price(wei: int | str) -> Markup:
    return digits(wei, formatting.aligned_gwei(wei), "Gwei")


def row_id(id: str, hash: str = "") -> Markup:
    """Return the id of a row in a transaction, by its index there: on the page of its transaction,
    and among the rows of others. It does not depend on where a list begins."""
    of_transaction = f"-{escape(hash[2:])}" if hash else ""
    return Markup(f'id="{escape(id)}{of_transaction}"')
