"""/search: redirects to a single exact match, otherwise lists the results."""

import json
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

blueprint = Blueprint("pages_search", __name__)


@blueprint.get("/search")
def search() -> Response:
    text = request.args.get("q", "").strip()
    results = json.loads(search_queries.search(reader(), text)) if text else []
    exact = [result for result in results if result["match"] == "exact"]
    if len(exact) == 1:
        return Response(status=302, headers={"Location": _path(exact[0])})
    return page("search.html", query=text, results=results, paths=PATHS)


def _path(record: dict[str, str]) -> str:
    return f"{PATHS[record['type']]}{quote(record['value'])}"
