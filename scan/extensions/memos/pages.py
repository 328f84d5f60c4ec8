"""/memos, of all or with a text, and the memo of a transaction on its page."""

from flask import Blueprint, Response

from scan import hooks
from scan.pages.filtered_lists import entity_list
from scan.pages.records import names_of
from scan.pages.sections import Shown, TransactionSection

blueprint = Blueprint("pages_memos", __name__)


@blueprint.get("/memos")
def list_memos() -> Response:
    shown = entity_list("memos", "/memos", "/memos")
    return shown.response("memos.html", shown=shown, names=names_of(shown.records))


HOOKS = hooks.Pages(
    blueprints=(blueprint,),
    menu=(("Chain", "/memos", "Memos"),),
    sections=(
        TransactionSection({"transaction_facts": "transaction_memo.html"}, lambda _: Shown({})),
    ),
)
