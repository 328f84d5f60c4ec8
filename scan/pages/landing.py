"""GET /: what this is and how far the index has come, for people."""

import json

from flask import Blueprint, Response, render_template, request

from scan import VERSION
from scan.errors import ScanError
from scan.http.chain_reads import read_chain

blueprint = Blueprint("pages", __name__, template_folder="templates")

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


@blueprint.get("/")
def landing() -> Response:
    """Never an error: whoever looks here wants to know why nothing else answers."""
    problem, answer, stats, head = None, "", None, {}
    try:
        (answer,) = read_chain("api/network_get_stats", version=VERSION)
        stats = json.loads(answer)
        (status,) = read_chain("api/chain_get_status", version=VERSION)
        head = json.loads(status)
    except ScanError as error:
        problem = error.message
    page = render_template(
        "landing.html",
        base=request.host_url.rstrip("/"),
        answer=answer,
        stats=stats,
        head=head,
        problem=problem,
        version=VERSION,
    )
    return Response(page, headers={"Content-Security-Policy": POLICY})
