"""What rows of tables have many of, as HTML: links to addresses, transactions and blocks, names,
times and amounts; and the rows of transactions. A macro of Jinja takes 5 us and a page has 600 of
these, so they are functions, which return plain text; templates have them as `cells`, marked as
HTML, and macros.html under the same names as its macros.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from markupsafe import escape

from scan.ethereum.checksums import checksummed
from scan.ethereum.events import ZERO_ADDRESS
from scan.ethereum.units import COIN_DECIMALS
from scan.hex import to_hex
from scan.pages import formatting
from scan.pages.records import NAMELESS, Names, Record
from scan.queries import holdings, transactions

NO_NAMES: Mapping[str, Any] = {}
ZERO = to_hex(ZERO_ADDRESS)
_MARKUP = re.compile("[&<>'\"]")


def _escaped(value: object) -> str:
    """Return a value as HTML: most have nothing to escape, which markupsafe finds out slowly."""
    text = str(value)
    return text if text.isalnum() or not _MARKUP.search(text) else str(escape(value))


def named(text: str) -> str:
    """Return a name, which anybody may have chosen, isolated from the direction of its line."""
    return f"<bdi>{_escaped(formatting.short_name(text))}</bdi>"


def shortened(value: str, head: int = 8, style: str = "") -> str:
    """Return a whole value, so that it is copied whole; style shortens it for eyes."""
    text = _escaped(value)
    return (
        f'<span class="{style}hash short">{text[:head]}<span class="cut" role="img" aria-label="…">'
        f"{text[head:-4]}</span>{text[-4:]}</span>"
    )


def whole_hash(value: str) -> str:
    """Return a whole value, of which a narrow screen shows the beginning and the end."""
    first, middle, last = (_escaped(part) for part in (value[:14], value[14:-10], value[-10:]))
    return f'<span class="hash">{first}<span class="middle">{middle}</span>{last}</span>'


def title_of(text: str, most: int = 12) -> str:
    """Return the whole of what style may cut: it is shown under the pointer, and where the link has
    the focus."""
    return f' title="{_escaped(formatting.visible(text[:300]))}"' if len(text) > most else ""


def claimed(name: str, address: str) -> str:
    """Return a name that an address has chosen for itself, in no place of the address."""
    warning = ""
    if formatting.resembles_another(name, address):
        warning = (
            ' <span class="badge bad" title="The name is written like an address, but not this'
            ' one">not its address</span>'
        )
    return (
        f'<span class="claim" title="{_escaped(formatting.visible(name[:300]))}: a name that the'
        f' address has chosen">{named(name)}</span>{warning}'
    )


def address(value: str, names: Mapping[str, Any] = NO_NAMES, whole: bool = False) -> str:
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
    text = shortened(checksummed(value), 6 if name else 8)
    if whole:
        text = whole_hash(checksummed(value))
    claim = f" {claimed(entry['claim'], value)}" if entry and "claim" in entry else ""
    return f'<a href="/address/{_escaped(value)}"{attributes}>{title}{text}</a>{claim}'


def party(value: str, names: Mapping[str, Any], own: str | None) -> str:
    """Return the link to an address of a row, or the address whose list it is without one."""
    return shortened(checksummed(value), style="own ") if value == own else address(value, names)


def transaction(hash: str, row: str = "", tab: str = "") -> str:
    """Return the link to a transaction. `row`: the id of a row on its page, or on a `tab` of it,
    which the link leads to."""
    path = f"{hash}{f'?tab={tab}' if tab else ''}{f'#{row}' if row else ''}"
    return f'<a href="/tx/{_escaped(path)}">{shortened(hash)}</a>'


def block(number: int) -> str:
    return f'<a href="/block/{int(number)}">{formatting.grouped(number)}</a>'


def age(time: str) -> str:
    """Return a time (ISO 8601), which a script shows as an age."""
    text = _escaped(time)
    return f'<time datetime="{text}" data-age>{formatting.day_time(text)}</time>'


def digits(
    value: int | str, amount: formatting.AlignedAmount, unit: str | None, *, has_title: bool = False
) -> str:
    """Return an amount. In a column its point stands below the others'. Where digits are left out,
    all of them are shown where the pointer, a finger or the focus is, and in the title if it has
    one."""
    full = ""
    if amount.full:
        of_unit = f" {_escaped(formatting.short_name(unit))}" if unit else ""
        full = f' tabindex="0" data-full="{amount.full}{of_unit}"'
        full += f' title="{amount.full}{of_unit}"' if has_title else ""
    return (
        f'<data class="amount" value="{_escaped(value)}"{full}>{_escaped(amount.whole)}'
        f'<span class="fraction">{_escaped(amount.fraction)}</span></data>'
    )


def amount(value: int | str, decimals: int | None = COIN_DECIMALS, unit: str | None = "") -> str:
    return digits(value, formatting.aligned(value, decimals), unit)


def supply(token: Record) -> str:
    """Return a token's supply; where a list has no room for millions, a style shows them so."""
    value, decimals = int(token["totalSupply"]), token["decimals"] or 0
    shown = formatting.supply(value, decimals)
    text = digits(value, shown, token["symbol"])
    if shown.fraction or value < 10 ** (decimals + 6):
        return text
    return f'<span data-compact="{formatting.compact(value, decimals, 2)}">{text}</span>'


def fee(wei: int | str, symbol: str) -> str:
    """Return what was paid, cut as other amounts are, with all its digits in the title."""
    return digits(wei, formatting.aligned(wei, most=formatting.FEE_PLACES), symbol, has_title=True)


def gas_price(wei: int | str) -> str:
    return digits(wei, formatting.aligned_gwei(wei), "Gwei")


def row_id(id: str, hash: str = "") -> str:
    """Return the id of a row in a transaction, by its index there: on the page of its transaction,
    and among the rows of others. It does not depend on where a list begins."""
    return f'id="{_escaped(id)}{f"-{_escaped(hash[2:])}" if hash else ""}"'


def worth(prices: holdings.UnitPrices, total: Decimal | str) -> str:
    text = _escaped(formatting.worth(total))
    return f'<span class="quiet">≈ {text} {named(prices.currency)}</span>'


def coin_below(prices: holdings.UnitPrices | None, wei: str) -> str:
    """Return the worth of an amount of the coin on a line of its own, below it in a table."""
    if prices is None or prices.coin is None or wei == "0":
        return ""
    of_coin = worth(prices, formatting.coin_worth(wei, prices.coin))
    return f'<span class="below"> {of_coin}</span>'


def token_worth(
    prices: holdings.UnitPrices | None, value: int | str, decimals: int | None, address: str
) -> str:
    """Return the worth of an amount of a token, to stand beside it, where there is one."""
    total = prices.token_worth(address, value, decimals) if prices else None
    return "" if prices is None or total is None else f" {worth(prices, total)}"


def token_amount(value: int | str, address: str, names: Names) -> str:
    """Return an amount of a token, in its own units where it is known."""
    token = names.get(address, NAMELESS)["token"]
    return amount(value, token["decimals"], token["symbol"]) if token else amount(value, 0)


def token_link(address: str, names: Names) -> str:
    """Return the link to a token, by its symbol."""
    token = names.get(address, NAMELESS)["token"]
    symbol = token and (token["symbol"] or token["name"])
    text = named(symbol) if symbol else shortened(checksummed(address), 6)
    attributes = f'href="/token/{_escaped(address)}" class="symbol"{title_of(symbol or "", 7)}'
    return f"<a {attributes}>{logo(token)}{text}</a>{namesake(token, is_brief=True)}"


def logo(token: Mapping[str, Any] | None, size: int = 16) -> str:
    """Return the logo of a token list, to stand before the name of the token."""
    if not token or not token.get("logoUrl"):
        return ""
    attributes = f'src="{_escaped(token["logoUrl"])}" alt="" width="{size}" height="{size}"'
    return f'<img class="logo" {attributes} loading="lazy"> '


def namesake(token: Mapping[str, Any] | None, *, is_brief: bool = False) -> str:
    """Return the note that a token has the symbol, or the name, of another one or of the coin."""
    other = token and token["namesake"]
    if not other:
        return ""
    shared = other["sharedText"]
    if other["address"] is None:
        return f' <span class="badge">same {shared} as the coin</span>'
    facts = f"{formatting.counted(other['holderCount'], 'holder')} since {other['firstSeen'][:10]}"
    title = f"{_escaped(checksummed(other['address']))}, {facts}"
    link = f'<a class="badge namesake" href="/token/{_escaped(other["address"])}" title="{title}">'
    if other.get("later"):
        return f" {link}another, later token has this {shared}</a>"
    return f" {link}same {shared} as {named(other[shared])}{'' if is_brief else f', {facts}'}</a>"


def since(record: Record) -> str:
    """Return the mark of a token whose events do not add up, or that is older than the index, where
    its balance could not be read."""
    if "inconsistentSince" in record:
        return ' <span class="quiet">by events, which do not add up</span>'
    if "balancesSince" in record:
        return f' <span class="quiet">since block {block(record["balancesSince"])}</span>'
    return ""


OUTCOMES = {
    True: '<span class="ok"></span>',
    False: '<span class="badge bad">failed</span> ',
    None: '<span class="badge">status not known</span> ',
}


def succeeded(record: Record) -> str:
    return OUTCOMES[transactions.outcome(record)]


def reason(record: Record) -> str:
    """Return why a transaction failed, as far as its list knows; its page knows more."""
    phrase = formatting.short_addresses(record["reason"])
    why = f"{title_of(record['reason'], 60)}>{named(phrase or 'Why?')}"
    link = f'<a href="/tx/{_escaped(record["hash"])}#reason"{why}</a>'
    return f'<span class="reason">{succeeded(record)}{link}</span>'


def method(record: Record) -> str:
    """Return what a transaction calls: a text, a method, or nothing."""
    if "memo" in record:
        memo = _escaped(formatting.short_name(record["memo"]))
        title = f"Text, not a call: it begins with {_escaped(record['methodId'])}"
        cell = f'<span class="badge" title="{title}">“<bdi>{memo}</bdi>”</span>'
        is_long, full = len(record["memo"]) > 14, memo
    elif record.get("method") is not None:
        name = _escaped(formatting.short_name(record["method"]))
        is_long = len(record["method"]) > 16
        full = _escaped(formatting.visible(record["method"][:300])) if is_long else ""
        title = "" if is_long else f' title="{_escaped(record["methodId"])}"'
        cell = f'<code class="badge"{title}>{name}</code>'
    else:
        style = "badge kind" if _creates(record) else "badge"
        return f'<span class="{style}">{_without_method(record)}</span>'
    return f'<span tabindex="0" data-full="{full}">{cell}</span>' if is_long else cell


def _creates(record: Record) -> bool:
    return not record["toAddress"] and transactions.creates_contract(record)


def _without_method(record: Record) -> str:
    if record["toAddress"]:
        return "Data" if "method" in record else "Coin transfer"
    return "New contract" if _creates(record) else "No recipient"


def flow(record: Record, own: str | None) -> str:
    """Return which way it went, for the address whose list it is."""
    sender, receiver = record["fromAddress"], record["toAddress"] or record.get("contractAddress")
    direction = "self" if sender == receiver else "out" if sender == own else "in"
    style = "flow" if direction == "self" else f"flow {direction}"
    return f'<span class="badge {style}">{direction}</span>'


@functools.lru_cache(maxsize=16_384)  # a list is shown anew with each block, most of it as before
def _quantity(
    change: str, token_id: str | None, address: str, symbol: str | None, decimals: int
) -> str:
    value = change.removeprefix("-")
    text = formatting.short_amount(value, decimals, most=3)
    full = title_of(formatting.amount(value, decimals), len(text))
    counted = f'<data value="{value}"{full}>{text}</data> '
    counted = counted if token_id is None or value != "1" else ""
    id = "" if token_id is None else f" #{_escaped(formatting.short_id(token_id))}"
    return f"{counted}{_brief('token', address, symbol)}{id}"


@functools.lru_cache(maxsize=4096)
def _brief(kind: str, address: str, name: str | None) -> str:
    """Return the link to a token by its symbol, or to an address by the operator's label: names
    that anybody may have chosen stand beside the address, for which a row has no room."""
    text = named(name) if name else shortened(checksummed(address), 6)
    return f'<a href="/{kind}/{_escaped(address)}"{title_of(name or "")}>{text}</a>'


def moved(record: Record, names: Names) -> str:
    """Return what a transaction moved of tokens, seen from its sender, or from the address whose
    list it is: what was given, an arrow, and what was gained, or else the only other party."""
    given: list[Mapping[str, Any]] = []
    gained: list[Mapping[str, Any]] = []
    others = set()
    for change in record["moved"]:
        (given if change["change"][0] == "-" else gained).append(change)
        others.add(change["counterparty"])
    if given and gained:
        arrow = '<span aria-label="for">→</span>'
        return f"{_several(given, names)} {arrow} {_several(gained, names)}"
    text = _several(given or gained, names)
    others.discard(ZERO)
    other = others.pop() if len(others) == 1 else None
    if other is None:
        return text
    arrow = '<span aria-label="to">→</span>' if given else '<span aria-label="from">←</span>'
    return f"{text} {arrow} {_brief('address', other, names.get(other, NAMELESS)['label'])}"


def _several(changes: Sequence[Mapping[str, Any]], names: Names) -> str:
    """Return amounts of tokens, and items, without their signs."""
    texts = []
    for change in changes[:2]:
        address = change["tokenAddress"]
        token = names.get(address, NAMELESS)["token"]
        symbol = token and (token["symbol"] or token["name"])
        decimals = token["decimals"] if token else 0
        texts.append(_quantity(change["change"], change["tokenId"], address, symbol, decimals))
        if token and token["namesake"]:
            texts[-1] += namesake(token, is_brief=True)
    more = f' <span class="quiet">and {len(changes) - 2} more</span>' if changes[2:] else ""
    return ", ".join(texts) + more


def transaction_rows(
    records: Iterable[Record],
    names: Names,
    symbol: str,
    own: str | None = None,
    with_block: bool = True,
    prices: holdings.UnitPrices | None = None,
) -> str:
    """Return the rows of a table of transactions, for which macros take four times as long."""
    rows, unit = [], _escaped(symbol)
    for record in records:
        failed = "" if record["status"] else ' class="failed"'
        role = "rest" if failed and record["value"] == "0" and not record["moved"] else "one"
        before, after = succeeded(record), ""
        if "reason" in record:
            before, after = "", reason(record)
        number = f'<td class="rest" data-label="Block">{block(record["blockNumber"])}</td>'
        direction = f'<td data-label="Direction">{flow(record, own)}</td>' if own else ""
        recipient = record["toAddress"] or record["contractAddress"]
        to = party(recipient, names, own) if recipient else ""
        value = f"""{amount(record["value"], COIN_DECIMALS, symbol)}\
<span class="unit narrow"> {unit}</span>{coin_below(prices, record["value"])}"""
        if record["moved"]:
            has_coin, of_tokens = record["value"] != "0", moved(record, names)
            line = f'<span class="what{" below" if has_coin else ""}">{of_tokens}</span>'
            value = f"{value}{line}" if has_coin else line
        hash_ = _escaped(record["hash"])
        # What it calls as text, by which a narrow screen links it.
        called = record["memo"] if "memo" in record else record.get("method")
        words = _without_method(record) if called is None else formatting.short_name(called)
        in_words = f'<bdi class="narrow">{_escaped(words)}</bdi>'
        link = f'<a href="/tx/{hash_}">{shortened(hash_)}{in_words}</a>'
        rows.append(
            f"""<tr {row_id("tx", record["hash"])}{failed}>
<td class="lead" data-label="Hash">{before}{link}{after}</td>
<td class="rest" data-label="Method">{method(record)}</td>
{number if with_block else ""}<td class="when" data-label="Age">{age(record["timestamp"])}</td>
<td class="party" data-label="From">{party(record["fromAddress"], names, own)}</td>
{direction}<td class="party" data-label="To">{to}</td>
<td class="number {role}" data-label="Value, {unit}">{value}</td>
<td class="number rest" data-label="Fee, {unit}">{fee(record["fee"], symbol)}\
{coin_below(prices, record["fee"])}</td>
<td class="number rest" data-label="Gas used">{formatting.grouped(record["gasUsed"])}</td>
</tr>
"""
        )
    # Each row has a link, and so no other stops: fitted() would look for links row by row.
    return "".join(rows).replace(formatting.STOP, formatting.NO_STOP)
