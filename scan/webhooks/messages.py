"""Events as messages that people read: bodies of requests to Slack, Discord, Telegram and Teams.

The coin's symbol stands bare, and that of a token in a list that the operator imported; any other
token says itself what it is called, and is quoted with its address. Whatever strangers chose is
reduced to letters, few digits and signs that no form and no client takes for markup, a mention, a
link or a telephone number.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import orjson

from scan.database.connection import Database
from scan.ethereum import units
from scan.ethereum.checksums import short
from scan.ethereum.text_cleaning import clean

MAX_NAME = 24  # characters
MAX_NAME_DIGITS = 4  # more of them in a name may be a telephone number
MAX_SUMMARY = 300  # characters
MAX_DIGITS = 40  # of a number
_SIGNS = frozenset("- .")
# Those of our own sentences, and of amounts, quoted names and numbers of items in them.
_SIGNS_OF_SUMMARIES = _SIGNS | frozenset("+$,()\u201c\u201d\u2026\u00d7#")
# A dot but that of a name such as `USDC.e`, as no site is called by one letter.
_DOT_OF_NAME = re.compile(r"\.(?!(?<=[^\W\d]\.)[a-zA-Z]\Z)")
# What clients take for the address of a site: a dot before two letters or digits, but for that of
# a decimal number.
_DOT_OF_HOST = re.compile(r"\.(?=\w\w)(?!(?<=\d\.)\d+(?!\w|\.\w))")
# What clients take for a tag or a heading: a # that is not before an item's number.
_HASH_OF_TAG = re.compile(r"#(?![\d\u2026]+(?!\w))|(?<! )#")
_QUOTED = re.compile("\u201c([^\u201d]*)\u201d")
_HEX = re.compile(r"0[xX][0-9a-fA-F]{4,}")
SUSPICIONS = {"zero_amount": "it moves nothing", "imitation": "its symbol is another token's"}


class SummaryPart(NamedTuple):
    """A piece of a sentence about a transaction, and the address or the token that it names."""

    text: str
    type: str | None = None
    address: str | None = None


Summary = Sequence[SummaryPart]
# Returns sentences about transactions by their hashes, given with the numbers of their blocks; of
# those about which there is one.
Summaries = Callable[[Mapping[str, int]], Mapping[str, Summary]]


class Unit(NamedTuple):
    """How amounts of the coin or of a token are said; without `decimals`, in the smallest unit.
    `name` is its symbol, quoted with its address unless it is known."""

    name: str
    decimals: int | None


class Findings(NamedTuple):
    """What the index knows about the events of a message: the coin (None) and tokens, sentences
    about transactions by their hashes, and suspicious transfers by the places of their events."""

    units: Mapping[str | None, Unit]
    summaries: Mapping[str, Summary]
    suspicions: Mapping[int, str]


class Form(NamedTuple):
    """The form of a service: its body of a text, a link's text in it, the seconds that it wants
    between messages, and the most characters of a text (UTF-16)."""

    body: Callable[[str, str], dict[str, Any]]  # of a text, and the webhook's URL
    link: str  # with {url} and {text}
    pause_s: float
    most: int

    def message(
        self,
        database: Database,
        summaries: Summaries,
        pages: str,
        receiver: str,
        bodies: Sequence[bytes],
    ) -> tuple[bytes, int]:
        """Return the body of one message about events, with links each to `pages`, the address of
        the pages, if there is one, and how many of the events it has, from the first one on. Raises
        DatabaseError."""
        events = [orjson.loads(body) for body in bodies]
        findings = read_findings(database, summaries, events)
        lines = [self._line(place, event, findings, pages) for place, event in enumerate(events)]
        count = 1
        while count < len(lines) and _length("\n".join(lines[: count + 1])) <= self.most:
            count += 1
        return orjson.dumps(self.body("\n".join(lines[:count]), receiver)), count

    def _line(self, place: int, event: Mapping[str, Any], findings: Findings, pages: str) -> str:
        line, transaction = sentence(event, findings.units), event["data"]["hash"]
        if place in findings.suspicions:
            line += f"; suspicious: {SUSPICIONS[findings.suspicions[place]]}, sent by another"
        if transaction in findings.summaries and not _is_apart(event["data"]):
            line = f"{plain_summary(findings.summaries[transaction], findings.units)}: {line}"
        watched = event["data"]["watchAddress"]
        links = {f"tx/{transaction}": "Transaction", f"address/{watched}": "Watched address"}
        for path, text in links.items() if pages else ():
            line += " " + self.link.format(url=html.escape(f"{pages}/{path}"), text=text)
        return line


def read_findings(
    database: Database, summaries: Summaries, events: Sequence[Mapping[str, Any]]
) -> Findings:
    """Return what the index knows about events. Raises DatabaseError."""
    current = [event["data"] for event in events if not _is_apart(event["data"])]
    blocks = {data["hash"]: data["blockNumber"] for data in current}
    read = summaries(blocks) if blocks else {}
    parts = [part for summary in read.values() for part in summary]
    tokens = {part.address for part in parts if part.type == "token" and part.address is not None}
    for field in ("tokenAddress", "tokenIn", "tokenOut"):
        tokens |= {event["data"][field] for event in events if field in event["data"]}
    return Findings(_read_units(database, tokens), read, _read_suspicions(database, events))


def _read_units(database: Database, tokens: Collection[str]) -> dict[str | None, Unit]:
    rows = database.rows("webhooks/units_list", tokens=_bytes(tokens))
    return {token: Unit(unit_name(token, *called), decimals) for token, decimals, *called in rows}


def _read_suspicions(database: Database, events: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    places = [n for n, event in enumerate(events) if event["event"] == "token_transfer"]
    transfers = [events[place]["data"] for place in places]
    rows = database.rows(
        "webhooks/transfers_list_suspicious",
        hashes=_bytes(data["hash"] for data in transfers),
        tokens=_bytes(data["tokenAddress"] for data in transfers),
        senders=_bytes(data["from"] for data in transfers),
        recipients=_bytes(data["to"] for data in transfers),
        values=[data["value"] for data in transfers],
    )
    return {places[n]: suspicion for n, suspicion in rows if suspicion}


def _bytes(texts: Iterable[str]) -> list[bytes]:
    return [bytes.fromhex(text[2:]) for text in texts]


def unit_name(token: str | None, symbol: str, is_known: bool, namesake: str | None) -> str:
    """Return how a token, or the coin (None), is called. `namesake` is what it has of another."""
    name = plain(symbol)
    if token is None or (is_known and name):
        return name
    which = f", which has {namesake}" if namesake else ""
    return f"\u201c{name}\u201d ({short(token)}{which})" if name else f"tokens of {short(token)}"


def _slack(text: str, _: str) -> dict[str, Any]:
    return {"text": text, "unfurl_links": False, "unfurl_media": False}


def _discord(text: str, _: str) -> dict[str, Any]:
    suppress_embeds = 1 << 2
    return {"content": text, "allowed_mentions": {"parse": []}, "flags": suppress_embeds}


def _telegram(text: str, receiver: str) -> dict[str, Any]:
    chat = {name: value for name, [value, *_] in parse_qs(urlsplit(receiver).query).items()}
    return {
        **{name: chat[name] for name in ("chat_id", "message_thread_id") if name in chat},
        "text": text,
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }


def _teams(text: str, _: str) -> dict[str, Any]:
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": text.replace("\n", "\n\n"), "wrap": True}],
    }
    content_type = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": content_type, "content": card}]}


FORMATS: Mapping[str, Form] = {
    "slack": Form(_slack, "<{url}|{text}>", 1.0, 4000),
    # 30 a minute for a channel, 5 in 2 s
    "discord": Form(_discord, "[{text}](<{url}>)", 2.0, 2000),
    # 20 a minute for a group
    "telegram": Form(_telegram, '<a href="{url}">{text}</a>', 3.0, 4096),
    "teams": Form(_teams, "[{text}]({url})", 1.0, 8000),
}


def sentence(event: Mapping[str, Any], units: Mapping[str | None, Unit]) -> str:
    """Return what happened, in one line without markup."""
    data = event["data"]
    if event["event"] == "tx":
        text = _transaction(data, units)
    elif event["event"] == "token_transfer":
        text = _moved(data, _tokens(data, units))
    elif event["event"] == "internal_transfer":
        text = _moved(data, amount(data["value"], units[None])) + " in a contract's call"
    elif event["event"] == "dex_trade":
        sold, bought = (
            amount(data[f"amount{side}"], _unit(data[f"token{side}"], units))
            for side in ("In", "Out")
        )
        family, _, factory = data["dex"].partition("-0x")
        exchange = plain(family) + (f" ({short('0x' + factory)})" if factory else "")
        text = f"{short(data['maker'])} traded {sold} for {bought} on {exchange}"
    else:
        topics = data["topics"]
        named = plain((data.get("event") or {}).get("name") or "")
        unnamed = short(topics[0]) if topics else "an anonymous event"
        name = f"\u201c{named}\u201d" if named else unnamed
        text = f"{short(data['address'])} emitted {name}"
    if data.get("test"):
        text = f"Test: {text}"
    elif data.get("removed"):
        text = f"Taken back, as its block is no longer in the chain: {text}"
    return f"{text}, block {data['blockNumber']}"


def _is_apart(data: Mapping[str, Any]) -> bool:
    """Return whether an event is of no transaction in the chain."""
    return bool(data.get("test") or data.get("removed"))


def _transaction(data: Mapping[str, Any], units: Mapping[str | None, Unit]) -> str:
    sender, recipient = short(data["from"]), data["to"]
    if recipient is None:
        created = data.get("contractAddress")
        text = f"{sender} created {'a contract' if created is None else short(created)}"
    elif data["value"] == "0":
        method = data.get("methodId")
        text = f"{sender} called {f'{method} of ' if method else ''}{short(recipient)}"
    else:
        text = _moved(data, amount(data["value"], units[None]))
    return f"{text}, which failed" if data.get("status") is False else text


def _moved(data: Mapping[str, Any], what: str) -> str:
    """Return who sent or received something, as the watched address sees it."""
    sender, recipient = data["from"], data["to"]
    if data["watchAddress"] == recipient:
        return f"{short(recipient)} received {what} from {short(sender)}"
    return f"{short(sender)} sent {what} to {short(recipient)}"


def _tokens(data: Mapping[str, Any], units: Mapping[str | None, Unit]) -> str:
    unit, item = _unit(data["tokenAddress"], units), data["tokenId"]
    if item is None:
        return amount(data["value"], unit)
    count = "" if data["value"] == "1" else f"{_digits(data['value'])} of "
    return f"{count}{unit.name} {_digits(item)}"


def _unit(token: str, units: Mapping[str | None, Unit]) -> Unit:
    return units.get(token) or Unit(unit_name(token, "", False, None), None)


def amount(value: str, unit: Unit) -> str:
    """Return an amount, a whole number of smallest units, in units, as sentences about transactions
    have it."""
    smallest = "" if unit.decimals is not None else "smallest units of "
    return f"{units.shortened(int(value), unit.decimals or 0)} {smallest}{unit.name}"


def _digits(number: str) -> str:
    """Return a whole number in groups, so that it is no telephone number; a huge one is cut."""
    cut = f"{number[:6]}…{number[-6:]}"
    return f"{int(number):,}" if len(number) <= MAX_DIGITS else cut


def plain(name: str, most: int = MAX_NAME) -> str:
    """Return what a stranger called something, without markup, mentions, links, telephone numbers,
    and bidirectional or invisible text."""
    text = _without_markup(_HEX.sub(" ", clean(name, 4 * MAX_SUMMARY)), _SIGNS)
    if sum(char.isnumeric() for char in text) > MAX_NAME_DIGITS:
        text = "".join(" " if char.isnumeric() else char for char in text)
    return " ".join(_DOT_OF_NAME.sub(" ", text).split())[:most].strip(" -.")


def plain_summary(summary: Summary, units: Mapping[str | None, Unit]) -> str:
    """Return a sentence about a transaction in the same way, cut after a word, with tokens and
    addresses as they are in the sentences about events."""
    text = "".join(_plain_part(part, units) for part in summary)
    text = _HASH_OF_TAG.sub("", _without_markup(text, _SIGNS_OF_SUMMARIES))
    return text if len(text) <= MAX_SUMMARY else f"{text[:MAX_SUMMARY].rpartition(' ')[0]}\u2026"


def _plain_part(part: SummaryPart, units: Mapping[str | None, Unit]) -> str:
    text = _QUOTED.sub(lambda quoted: f"\u201c{plain(quoted[1], MAX_SUMMARY)}\u201d", part.text)
    if part.address is None:
        return text
    is_bare = "\u201c" not in text and short(part.address) not in text
    if part.type == "token" and is_bare:
        amount_of, _, symbol = text.rpartition(" ")
        return (
            f"{amount_of} {units[part.address].name if part.address in units else symbol}".strip()
        )
    return text


def _without_markup(text: str, signs: Collection[str]) -> str:
    kept = (
        " " if char.isspace() else char
        for char in text
        if char in signs
        or char.isspace()
        or (char.isalnum() and unicodedata.bidirectional(char) in ("L", "EN", "ON"))
    )
    return " ".join(_DOT_OF_HOST.sub(" ", "".join(kept)).split())


def _length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
