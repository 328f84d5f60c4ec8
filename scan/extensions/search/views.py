"""Search for blocks, transactions, addresses, tokens and contracts by number, hash or name: GET
/api/v1/search; the page /search, which redirects for a hash, an address, a block's number or an
operator's whole label, and otherwise lists the results; and /search/suggestions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote

import flask
import orjson
from flask import Blueprint, request

from scan import parameters, registry
from scan.api.hooks import Api
from scan.errors import InvalidParameter, Unavailable
from scan.ethereum.text_cleaning import IGNORABLE
from scan.extensions.search.hooks import (
    MAX_DECLARED,
    MAX_NAME,
    Results,
    Search,
    exact_result,
    signature_result,
)
from scan.hex import to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.pages.hooks import Pages
from scan.pages.site import page
from scan.queries import contracts
from scan.queries.reader import Reader

MAX_TEXT = 2048
MAX_FOUND = 20
LEAST_OF_TRANSACTION = 8  # hex digits of a transaction's hash that are looked for
NEWEST_TRANSACTIONS = 100_000  # among which: 33 ms in memory
LEAST_SIMILAR = 3  # characters: a trigram

_DIGITS = re.compile(r"#?([0-9][0-9,_']{0,25}|0[xX][0-9a-fA-F]{1,16})\Z")
_HEX = re.compile(r"(?:0[xX])?([0-9a-fA-F]{40}|[0-9a-fA-F]{64})\Z")
_SELECTOR = re.compile(r"0[xX][0-9a-fA-F]{8}\Z")
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\xab\xbb<>"
# A hash, an address or a number in the address of an explorer's page.
_PAGE = re.compile(
    r"(?:https?://)?[\w.-]{1,253}(?::\d{1,5})?/(?:[\w#!.-]{1,64}/){0,3}"
    r"(?:tx|transactions?|address|accounts?|contracts?|tokens?|nft|blocks?|userop)/"
    r"(0[xX][0-9a-fA-F]{40,64}|\d{1,19})(?:[/?#].*)?\Z",
    re.I | re.S,
)
# An account with its chain: a short name (EIP-3770), or CAIP-10.
_ON_A_CHAIN = re.compile(r"(?:eip155:\d{1,32}|[a-z0-9-]{1,32}):(0[xX][0-9a-fA-F]{40,64})\Z")
# An address as IBAN writes it (ICAP, direct and basic), with two check digits.
_ICAP = re.compile(r"(?:iban:)?XE([0-9]{2})([0-9A-Z]{30,31})\Z", re.I)

# An address or a hash as pages show them, 0x5FbDB2…0aa3, or its beginning.
_PART = re.compile(
    r"0[xX](?:([0-9a-fA-F]{4,59})(?:…|\.{2,3})([0-9a-fA-F]{4,59})|([0-9a-fA-F]{6,63}))\Z"
)
# Results whose names are numbers, hashes and operators' labels, which nobody else can choose.
UNMISTAKABLE = ("block", "transaction", "address")
ADDRESS_DIGITS, HASH_DIGITS = 40, 64

Record = Mapping[str, Any]


def value_in(text: str) -> str:
    """Return a text without what copying adds, and of an explorer's link, of an account with its
    chain or of an ICAP number the hash, address or number alone."""
    start, end = 0, len(text)
    while start < end and _is_added(text[start]):
        start += 1
    while end > start and _is_added(text[end - 1]):
        end -= 1
    bare = text[start:end]
    if match := _PAGE.match(bare) or _ON_A_CHAIN.match(bare):
        return match[1]
    if match := _ICAP.match(bare.replace(" ", "")):
        digits = "".join(str(int(character, 36)) for character in f"{match[2]}XE{match[1]}")
        value = int(match[2], 36)
        if int(digits) % 97 == 1 and value < 1 << 160:
            return f"0x{value:040x}"
    is_value = any(form.match(bare) for form in (_HEX, _DIGITS, _PART))
    return bare if is_value else text.strip()


def _is_added(character: str) -> bool:
    """Return whether copying may add it: what cannot be seen, and quotes."""
    return character.isspace() or character in _QUOTES or bool(IGNORABLE.match(character))


def whole_value(reader: Reader, text: str, *, with_transactions: bool = True) -> str:
    """Return the address or block hash of which a text is a part, if only one is, or else that of a
    transaction among the newest ones; else the text."""
    part = _PART.match(text)
    head, tail = (part[1] or part[3], part[2] or "") if part else ("", "")
    if not part or hash_or_address(text) or len(head + tail) > HASH_DIGITS:
        return text
    may_be_address = len(head + tail) <= ADDRESS_DIGITS
    addresses = _range(head, ADDRESS_DIGITS) if may_be_address else (None, None)
    hashes = _range(head, HASH_DIGITS)
    value, has_none = reader.row(
        "queries/values_find_by_part",
        first_address=addresses[0],
        last_address=addresses[1],
        first_hash=hashes[0],
        last_hash=hashes[1],
        tail=tail.lower(),
    )
    if has_none and with_transactions and len(head + tail) >= LEAST_OF_TRANSACTION:
        value = _transaction(reader, hashes, tail.lower())
    return value or text


def _transaction(reader: Reader, hashes: tuple[bytes, bytes], tail: str) -> str | None:
    """Return the hash of the only one of the newest transactions between two hashes that ends with
    a tail; None also where as many are looked for as may be at once."""
    value: str | None
    try:
        (value,) = reader.row(
            "queries/transactions_find_by_part",
            is_unbounded=True,
            first_hash=hashes[0],
            last_hash=hashes[1],
            tail=tail,
            newest=NEWEST_TRANSACTIONS,
        )
    except Unavailable:
        reader.do_not_cache()
        return None
    return value


def _range(head: str, digits: int) -> tuple[bytes, bytes]:
    """Return the first and the last value that begin with some of so many digits."""
    return bytes.fromhex(head.ljust(digits, "0")), bytes.fromhex(head.ljust(digits, "f"))


def results_of(reader: Reader, text: str, *, with_similar: bool = True) -> list[Record]:
    """Return the records that extensions find and those of search(): at most MAX_FOUND."""
    records = orjson.loads(search(reader, text, with_similar=with_similar))
    listed = [results for results in _all_results().values() if not results.template]
    first, last = (
        [record for of in listed if of.is_last is is_last for record in of.records(reader, text)]
        for is_last in (False, True)
    )
    declared = [*last, *_errors(reader, text), *_methods(reader, text)]
    return [*first, *records, *declared][:MAX_FOUND]


def _methods(reader: Reader, text: str) -> list[Record]:
    """Return a function's name or selector, of which the transactions that call it are listed."""
    if _SELECTOR.match(text):
        if not contracts.is_known_selector(reader, bytes.fromhex(text[2:])):
            return []
        return [exact_result("method", text.lower(), text.lower(), ())]
    if not contracts.NAME.match(text) or len(text) > MAX_NAME:
        return []
    try:
        contracts.selectors(reader, text)
    except InvalidParameter:  # no function, or too many of this name
        return []
    return [exact_result("method", text, text, ())]


def _errors(reader: Reader, text: str) -> list[Record]:
    """Return the errors of verified contracts that a name or a selector means, each with the first
    contract that has it."""
    if len(text) > MAX_NAME:
        return []
    return [
        signature_result("error", to_hex(error.address), error.signature, text)
        for error in contracts.declared(reader, text, contracts.ERROR, MAX_DECLARED)
        if error.address
    ]


def search(reader: Reader, text: str, *, with_similar: bool = True) -> str:
    """Return records as a JSON array; raises InvalidParameter for a text of more than MAX_TEXT
    characters."""
    stripped = value_in(parameters.text(text, "q", most=MAX_TEXT))
    if len(stripped) > MAX_NAME:
        return "[]"
    content = hash_or_address(stripped)
    body: str
    body, count, has_similar = reader.row(
        "queries/search_list_by_text",
        text=stripped,
        number=_number(stripped),
        hash=content if len(content) == 32 else None,
        address=content if len(content) == 20 else None,
    )
    may_be_similar = with_similar and len(stripped) >= LEAST_SIMILAR and not content
    if count < MAX_FOUND and has_similar and may_be_similar:
        return _with_similar(reader, body, stripped)
    return body


def destination_of(text: str, records: Sequence[Record]) -> Record | None:
    """Return the only record of a search that has this hash, address, number or operator's label;
    None without one. A name of a token or a contract, which anybody can choose, leads nowhere, and
    neither does what extensions find."""
    value = to_hex(content) if (content := hash_or_address(value_in(text))) else None
    exact = [
        record
        for record in records
        if record["match"] == "exact"
        and (
            record["type"] in UNMISTAKABLE
            or (record["type"] in ("token", "contract") and record["value"] == value)
        )
    ]
    return exact[0] if len(exact) == 1 else None


def hash_or_address(text: str) -> bytes:
    """Return the 32 bytes of a hash, or the 20 of an address; no bytes for another text."""
    match = _HEX.match(text)
    return bytes.fromhex(match[1]) if match else b""


def _with_similar(reader: Reader, body: str, text: str) -> str:
    """Return the records, and those of similar names; few such searches run at once, since one
    among many tokens is slow."""
    try:
        (similar,) = reader.row(
            "queries/search_list_similar", is_unbounded=True, text=text, limit=MAX_FOUND
        )
    except Unavailable:
        reader.do_not_cache()
        return body
    records = orjson.loads(body)
    values = {record["value"] for record in records}
    records += [record for record in orjson.loads(similar) if record["value"] not in values]
    return orjson.dumps(records[:MAX_FOUND]).decode()


def _number(text: str) -> int | None:
    """Return a block's number, also as people write it (21,000,000, #232, 0xe8); None for another
    text."""
    match = _DIGITS.match(text)
    if match is None:
        return None
    written = re.sub("[,_']", "", match[1])
    number = int(written, 16 if written[:2] in ("0x", "0X") else 10)
    return number if number <= parameters.BIGINT_MAX else None


api_views = Blueprint("search", __name__)


@api_views.get("/search")
def get_results() -> Response:
    text = parameters.required(query_arguments("q"), "q")
    text = whole_value(reader(), value_in(text))
    return json_value({"results": results_of(reader(), text)})


RESULTS = {
    "block": Results("Blocks", "/block/"),
    "transaction": Results("Transactions", "/tx/"),
    "address": Results("Addresses", "/address/"),
    "token": Results("Tokens", "/token/"),
    "contract": Results("Verified contracts", "/address/"),
    "method": Results("Transactions by method", "/txs?method="),
    "error": Results("Errors of verified contracts", "/address/"),
}
MAX_SUGGESTIONS = 8
ADDRESS_BYTES = 20

page_views = Blueprint("pages_search", __name__)


@page_views.get("/search")
def show_search() -> Response:
    text = whole_value(reader(), value_in(request.args.get("q", "")))
    try:
        results = results_of(reader(), text) if text else []
    except InvalidParameter as error:
        error.message = f"The search{error.message.removeprefix('q')}"
        raise
    destination = destination_of(text, results)
    if destination is not None:
        return _redirect(RESULTS[destination["type"]].path, destination["value"])
    of_templates = [results for results in _all_results().values() if results.template]
    others = {r.template: records for r in of_templates if (records := r.records(reader(), text))}
    content = hash_or_address(text)
    # Its page says why it is not indexed.
    if content and not results:
        if len(content) == ADDRESS_BYTES:
            return _redirect(RESULTS["address"].path, to_hex(content))
        of_hash = (kind.path for kind in _all_results().values() if kind.has(reader(), content))
        return _redirect(next(of_hash, RESULTS["transaction"].path), to_hex(content))
    return page("search.html", query=text, others=others, groups=_grouped(results), paths=_paths())


@page_views.get("/search/suggestions")
def suggest() -> Response:
    """Return the suggestions that a script shows below the search box."""
    typed = value_in(request.args.get("q", ""))
    text = whole_value(reader(), typed, with_transactions=False)
    results = results_of(reader(), text, with_similar=False) if text else []
    groups = _grouped(results[:MAX_SUGGESTIONS])
    return page("suggestions.html", groups=groups, paths=_paths())


def _redirect(path: str, value: str) -> Response:
    return flask.Response(status=302, headers={"Location": f"{path}{quote(value)}"})


@cache
def _all_results() -> Mapping[str, Results]:
    return RESULTS | registry.merged(part.results for part in registry.parts(Search))


def _paths() -> Mapping[str, str]:
    return {type_: results.path for type_, results in _all_results().items()}


def _grouped(results: Iterable[Record]) -> list[tuple[str, list[Record]]]:
    """Return the results by kind, the kind of the best result first."""
    groups: dict[str, list[Record]] = {}
    for result in results:
        groups.setdefault(result["type"], []).append(result)
    return [(_all_results()[kind].title, results) for kind, results in groups.items()]


HOOKS = (Api(blueprints=(api_views,)), Pages(blueprints=(page_views,)))
