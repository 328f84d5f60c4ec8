"""GET /: what this is and how far the index has come, for people."""

import json

from flask import Blueprint, Response, render_template, request

from scan.errors import ScanError
from scan.http.services import services

blueprint = Blueprint("pages", __name__, template_folder="templates")

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


@blueprint.get("/")
def landing() -> Response:
    """Never an error: whoever looks here wants to know why nothing else answers."""
    problem, answer, stats, head = None, "", None, {}
    try:
        answer = services().reads.prepared_value("api/network_get_stats")
        stats = json.loads(answer)
        head = json.loads(services().reads.value("api/chain_get_status"))
    except ScanError as error:
        problem = error.message
    page = render_template(
        "landing.html",
        base=request.host_url.rstrip("/"),
        answer=answer,
        stats=stats,
        head=head,
        problem=problem,
    )
    return Response(page, headers={"Content-Security-Policy": POLICY})
