"""GET /api/v1/accounts."""

from collections.abc import Mapping

from flask import Blueprint

from scan.api.hooks import Api
from scan.extensions.addresses_by_balance import queries
from scan.extensions.addresses_by_balance.queries import AccountPage
from scan.http.list_responses import LISTED, list_body, list_response
from scan.http.requests import Response, query_arguments, reader
from scan.queries.pages import Page

blueprint = Blueprint("addresses_by_balance", __name__)


@blueprint.get("/accounts")
def list_accounts() -> Response:
    """Return addresses by balance, the largest first."""
    arguments = query_arguments(*LISTED)
    return list_response(
        "accounts", arguments, lambda window: queries.page(reader(), window), body=_accounts_body
    )


def _accounts_body(name: str, page: Page, arguments: Mapping[str, str]) -> Response:
    assert isinstance(page, AccountPage)
    return list_body(name, page, arguments, complete=page.reason is None, reason=page.reason)


HOOKS = Api(blueprints=(blueprint,))
