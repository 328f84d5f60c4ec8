"""/search: redirects for a hash, an address, a block's number, an operator's label, or a part of
one that nothing else has; otherwise lists the results; /search/suggestions."""

from collections.abc import Iterable, Mapping
from functools import cache
from urllib.parse import quote

from flask import Blueprint, Response, request

from scan import registry
from scan.errors import InvalidParameter
from scan.extensions.search import queries as search_queries
from scan.extensions.search.hooks import Results, Search
from scan.extensions.search.queries import Record
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.hooks import Pages
from scan.pages.site import page

RESULTS = {
    "block": Results("Blocks", "/block/"),
    "transaction": Results("Transactions", "/tx/"),
    "address": Results("Addresses", "/address/"),
    "token": Results("Tokens", "/token/"),
    "contract": Results("Verified contracts", "/address/"),
}
MAX_SUGGESTIONS = 8
ADDRESS_BYTES = 20

blueprint = Blueprint("pages_search", __name__)


@blueprint.get("/search")
def search() -> Response:
    text = search_queries.whole_value(reader(), request.args.get("q", "").strip())
    try:
        results = search_queries.results(reader(), text) if text else []
    except InvalidParameter as error:
        error.message = f"The search{error.message.removeprefix('q')}"
        raise
    destination = search_queries.destination(text, results)
    if destination is not None:
        return _redirect(RESULTS[destination["type"]].path, destination["value"])
    of_templates = [results for results in _all_results().values() if results.template]
    others = {r.template: records for r in of_templates if (records := r.records(reader(), text))}
    if not others and len(results) == 1 and results[0]["type"] in search_queries.UNMISTAKABLE:
        return _redirect(RESULTS[results[0]["type"]].path, results[0]["value"])
    named = search_queries.hash_or_address(text)
    # Its page says why it is not indexed; a memo with its text is no reason to stay away from it.
    if named and not any(result["type"] in RESULTS for result in results):
        return _redirect(_path_of_unindexed(named), to_hex(named))
    return page("search.html", query=text, others=others, groups=_grouped(results), paths=_paths())


@blueprint.get("/search/suggestions")
def suggest() -> Response:
    """Return the suggestions that a script shows below the search box."""
    typed = request.args.get("q", "").strip()
    text = search_queries.whole_value(reader(), typed, with_transactions=False)
    results = search_queries.results(reader(), text, with_similar=False) if text else []
    groups = _grouped(results[:MAX_SUGGESTIONS])
    return page("suggestions.html", groups=groups, paths=_paths())


def _redirect(path: str, value: str) -> Response:
    return Response(status=302, headers={"Location": f"{path}{quote(value)}"})


def _path_of_unindexed(named: bytes) -> str:
    """Return the path of the page for an address, or for a hash of no block or transaction."""
    if len(named) == ADDRESS_BYTES:
        return RESULTS["address"].path
    of_hash = (results.path for results in _all_results().values() if results.has(reader(), named))
    return next(of_hash, RESULTS["transaction"].path)


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


HOOKS = Pages(blueprints=(blueprint,))
