"""Events as messages that people read: bodies of requests to Slack, Discord, Telegram and Teams.

Whatever strangers chose (symbols of tokens, names of exchanges and of contracts' events, and what
sentences about transactions have of these) is reduced to letters, digits and a few signs that no
form takes for markup, a mention or a link.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import orjson

from scan.database.connection import Database
from scan.hex import to_hex

MAX_NAME = 24  # characters
MAX_SUMMARY = 300  # characters
MAX_DIGITS = 40  # of a number
FRACTION_DIGITS = 6
_SIGNS = frozenset("$+- .")
# Those of our own sentences, and of amounts, quoted names and numbers of items in them.
_SIGNS_OF_SUMMARIES = _SIGNS | frozenset(",()\u201c\u201d\u2026\u00d7#")
# What clients take for the address of a site: a dot before two letters or digits, but for that of
# a decimal number.
_DOT_OF_HOST = re.compile(r"\.(?=\w\w)(?!(?<=\d\.)\d+(?!\w|\.\w))")
# What clients take for a tag or a heading: a # that is not before an item's number.
_HASH_OF_TAG = re.compile(r"#(?![\d\u2026]+(?!\w))|(?<! )#")

# Returns sentences about transactions by their hashes, given with the numbers of their blocks; of
# those about which there is one.
Summaries = Callable[[Mapping[str, int]], Mapping[str, str]]


class Unit(NamedTuple):
    """How amounts of the coin or of a token are said; without `decimals`, in the smallest unit."""

    symbol: str
    decimals: int | None


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
        """Return the body of one message about events, with a link each to `pages`, the address of
        the pages, if there is one, and how many of the events it has, from the first one on. Raises
        DatabaseError."""
        events = [orjson.loads(body) for body in bodies]
        tokens = {
            event["data"][field]
            for event in events
            for field in ("tokenAddress", "tokenIn", "tokenOut")
            if field in event["data"]
        }
        rows = database.rows(
            "webhooks/token_units_list", tokens=[bytes.fromhex(t[2:]) for t in tokens]
        )
        units: dict[str | None, Unit] = {}
        for address, symbol, decimals in rows:
            token = None if address is None else to_hex(address)
            units[token] = Unit(plain(symbol or "") or short(token or ""), decimals)
        current = [event["data"] for event in events if not _is_apart(event["data"])]
        blocks = {data["hash"]: data["blockNumber"] for data in current}
        summary_of = summaries(blocks) if blocks else {}
        lines: list[str] = []
        for event in events:
            data, line = event["data"], sentence(event, units)
            if data["hash"] in summary_of and not _is_apart(data):
                line = f"{plain_summary(summary_of[data['hash']])}: {line}"
            if pages:
                url = html.escape(f"{pages}/tx/{data['hash']}")
                line += " " + self.link.format(url=url, text="Transaction")
            if lines and _length("\n".join([*lines, line])) > self.most:
                break
            lines.append(line)
        return orjson.dumps(self.body("\n".join(lines), receiver)), len(lines)


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
    "discord": Form(_discord, "[{text}](<{url}>)", 1.0, 2000),
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
        text = f"{short(data['maker'])} traded {sold} for {bought} on {plain(data['dex'])}"
    else:
        topics = data["topics"]
        named = plain((data.get("event") or {}).get("name") or "")
        name = named or (short(topics[0]) if topics else "an anonymous event")
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
    return f"{count}{unit.symbol} {_digits(item)}"


def _unit(token: str, units: Mapping[str | None, Unit]) -> Unit:
    return units.get(token) or Unit(short(token), None)


def amount(value: str, unit: Unit) -> str:
    """Return an amount, a whole number of smallest units, in units, cut after some digits."""
    decimals = unit.decimals or 0
    digits = value.zfill(decimals + 1)
    whole, fraction = digits[: len(digits) - decimals], digits[len(digits) - decimals :]
    fraction = fraction[:FRACTION_DIGITS].rstrip("0")
    if whole == "0" and not fraction and value != "0":
        return f"less than 0.{'0' * (FRACTION_DIGITS - 1)}1 {unit.symbol}"
    number = f"{int(whole[:MAX_DIGITS]):,}" if len(whole) <= MAX_DIGITS else _digits(whole)
    smallest = "" if unit.decimals is not None else "smallest units of "
    return f"{number}{'.' + fraction if fraction else ''} {smallest}{unit.symbol}"


def _digits(number: str) -> str:
    return number if len(number) <= MAX_DIGITS else f"{number[:8]}…{number[-8:]}"


def short(text: str) -> str:
    """Return an address or a hash that is cut in its middle."""
    return f"{text[:8]}…{text[-6:]}"


def plain(name: str) -> str:
    """Return what a stranger called something, without markup, mentions, links and bidirectional
    text."""
    return _without_markup(name[: 4 * MAX_NAME], _SIGNS)[:MAX_NAME]


def plain_summary(text: str) -> str:
    """Return a sentence about a transaction in the same way, cut after a word."""
    text = _HASH_OF_TAG.sub("", _without_markup(text, _SIGNS_OF_SUMMARIES))
    return text if len(text) <= MAX_SUMMARY else f"{text[:MAX_SUMMARY].rpartition(' ')[0]}\u2026"


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
