"""/earnings, and the section of a block's page with what its producer earned."""

from flask import Blueprint, Response

from scan.extensions.block_records.earnings.api import page_of
from scan.pages.filtered_lists import Field, filtered_list
from scan.pages.hooks import Pages, Section
from scan.pages.records import names_of

blueprint = Blueprint("pages_earnings", __name__)
FIELDS = (
    Field("miner", "Fee recipient", "address"),
    Field("from", "Since (UTC)", "day"),
    Field("to", "Until (UTC)", "day"),
)


@blueprint.get("/earnings")
def list_earnings() -> Response:
    shown = filtered_list(
        "/earnings", "/stats/earnings", FIELDS, page_of, paging=("limit", "cursor")
    )
    return shown.response("earnings.html", shown=shown, names=names_of(shown.records))


HOOKS = Pages(
    blueprints=(blueprint,),
    menu=(("Chain", "/earnings", "Fee recipients"),),
    sections=(Section({"block": "block_earnings.html"}),),
)
