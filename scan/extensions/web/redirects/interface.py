"""URLs of Blockscout's and Etherscan's pages, which redirect to those of Scan.

Every target begins with a path of Scan, in which arguments are quoted: none leads to another host.
"""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from flask import Blueprint, Flask, Response, request

from scan import parameters
from scan.errors import InvalidParameter, NotFound
from scan.http.hooks import Interfaces
from scan.http.request_state import Interface
from scan.settings import Settings

# A page without a counterpart redirects to the nearest one.
TARGETS: Mapping[str, str] = {
    "/address/<address>/coin-balances": "/address/{address}?tab=chart",
    "/address/<address>/contracts": "/address/{address}?tab=contract",
    "/address/<address>/internal-transactions": "/address/{address}?tab=internal",
    "/address/<address>/logs": "/address/{address}?tab=events",
    "/address/<address>/token-transfers": "/address/{address}?tab=transfers",
    "/address/<address>/tokens": "/address/{address}?tab=tokens",
    "/address/<address>/transactions": "/address/{address}",
    "/api-docs": "/docs/",
    "/block/countdown/<block>": "/block/{block}",
    "/blocks/<block>": "/block/{block}",
    "/contract-verification": "/verify",
    "/contractsVerified": "/verified-contracts",
    "/forkedblocks": "/blocks",
    "/gas-tracker": "/gas",
    "/gastracker": "/gas",
    "/internal-txs": "/internal-transfers",
    "/op/<operation>": "/user-operation/{operation}",
    "/ops": "/user-operations",
    "/pending-transactions": "/txs",
    "/search-results": "/search?q={q}",
    "/stats": "/charts",
    "/token/<address>/instance/<token_id>": "/nft/{address}/{token_id}",
    "/token/<address>/inventory": "/token/{address}?tab=items",
    "/token/<address>/token-holders": "/token/{address}?tab=holders",
    "/token/<address>/token-transfers": "/token/{address}",
    "/tokens-nft": "/tokens",
    "/tokens-nft1155": "/tokens",
    "/tokens/<address>": "/token/{address}",
    "/tokentxns": "/token-transfers",
    "/tokentxns-nft": "/token-transfers?tokenType=BEP721",
    "/tokentxns-nft1155": "/token-transfers?tokenType=BEP1155",
    "/tx/<transaction>/<tab>": "/tx/{transaction}",
    "/txsInternal": "/internal-transfers",
    "/txsPending": "/txs",
    "/uncles": "/blocks",
    "/verifyContract": "/verify",
}
# Checks of the arguments in paths: for others there is no such page.
CHECKS: Mapping[str, Callable[[str], object]] = {
    "address": parameters.address,
    "block": parameters.block_number_or_hash,
    "operation": parameters.hash32,
    "token_id": parameters.token_id,
    "transaction": parameters.hash32,
}

blueprint = Blueprint("pages_redirects", __name__)


def _redirect(**arguments: str) -> Response:
    assert request.url_rule is not None  # Flask has chosen this view by it
    try:
        for name in CHECKS.keys() & arguments.keys():
            CHECKS[name](arguments[name])
    except InvalidParameter as error:
        raise NotFound(f"There is no such page. {error.message}") from None
    given = {"q": request.args.get("q", ""), **arguments}
    quoted = {name: quote(value, safe="") for name, value in given.items()}
    target = TARGETS[request.url_rule.rule].format_map(quoted)
    return Response(status=301, headers={"Location": target})


for number, path in enumerate(TARGETS):
    blueprint.add_url_rule(path, f"target_{number}", _redirect)


def register(app: Flask, settings: Settings) -> Sequence[Interface]:
    if settings.pages:
        app.register_blueprint(blueprint)
    return ()


HOOKS = Interfaces(register=register)
