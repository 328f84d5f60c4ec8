"""/contracts: all contracts, the newest first."""

from flask import Blueprint, Response

from scan.pages.filtered_lists import entity_list
from scan.pages.records import names_of

blueprint = Blueprint("pages_contracts", __name__)


@blueprint.get("/contracts")
def list_contracts() -> Response:
    shown = entity_list("contract_creations", "/contracts", "/contract-creations")
    return shown.response("contracts.html", shown=shown, names=names_of(shown.records))
