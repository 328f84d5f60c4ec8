"""/search: redirects to a single exact match, otherwise lists the results; /search/suggestions."""

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from flask import Blueprint, Response, request

from scan.http.requests import reader
from scan.pages.site import page
from scan.queries import search as search_queries

PATHS = {
    "block": "/block/",
    "transaction": "/tx/",
    "address": "/address/",
    "token": "/token/",
    "contract": "/address/",
}
TITLES = {
    "block": "Blocks",
    "transaction": "Transactions",
    "address": "Addresses",
    "token": "Tokens",
    "contract": "Verified contracts",
}
MAX_SUGGESTIONS = 8

blueprint = Blueprint("pages_search", __name__)


@blueprint.get("/search")
def search() -> Response:
    text = request.args.get("q", "").strip()
    results = json.loads(search_queries.search(reader(), text)) if text else []
    exact = [result for result in results if result["match"] == "exact"]
    if len(exact) == 1:
        path = f"{PATHS[exact[0]['type']]}{quote(exact[0]['value'])}"
        return Response(status=302, headers={"Location": path})
    return page("search.html", query=text, groups=_grouped(results), paths=PATHS)


@blueprint.get("/search/suggestions")
def suggest() -> Response:
    """Return the part of a page that stands below the box while somebody types."""
    text = request.args.get("q", "").strip()
    results = search_queries.search(reader(), text, with_similar=False) if text else "[]"
    groups = _grouped(json.loads(results)[:MAX_SUGGESTIONS])
    return page("suggestions.html", groups=groups, paths=PATHS)


def _grouped(results: Iterable[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the results by kind, the kind of the best result first."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault(result["type"], []).append(result)
    return [(TITLES[kind], results) for kind, results in groups.items()]
