"""/status: how far the index is, and what it has of the chain; /readyz has it for programs."""

from typing import Any

from flask import Blueprint, Response

from scan.http.node_check import read_status
from scan.http.requests import reader
from scan.http.services import services
from scan.pages.hooks import StatusSection, sections_of
from scan.pages.site import page

blueprint = Blueprint("pages_status", __name__)


@blueprint.get("/status")
def status() -> Response:
    reader().do_not_cache()  # it changes without a new block, too
    values: dict[str, Any] = {}
    for section in sections_of(StatusSection):
        values |= section.read()
    return page("status.html", status=read_status(services(), reader()), **values)
