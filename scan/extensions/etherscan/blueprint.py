"""One Etherscan-compatible request: parameters, chain id, action, response; the list of chains."""

from urllib.parse import parse_qsl

from flask import Blueprint, Response, request

from scan.extensions.etherscan.actions import find_action
from scan.extensions.etherscan.chain_list import chain_list, public_url, record
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import CHAIN_LIST, PATHS, Failure, Reply, RpcReply
from scan.http.form_body import form
from scan.http.prerequisites import Prerequisite, prerequisite_of, requires
from scan.http.requests import query_arguments, reader
from scan.http.responses import JsonResponse, json_value
from scan.http.services import services
from scan.queries.network import name_of

WRONG_CHAIN = "Missing or unsupported chainid parameter: this is chain {}"

blueprint = Blueprint("etherscan", __name__)


@blueprint.errorhandler(Failure)
def _failure_response(failure: Failure) -> Response:
    reader().do_not_cache()  # the node may have failed, and answer the next request
    return _response(failure.reply)


def _prerequisite(query: str) -> Prerequisite | None:
    """Return the prerequisite of the action that a query names; an unknown one has none."""
    try:
        action = find_action(Parameters(parse_qsl(query)))
    except Failure:
        return None
    return prerequisite_of(action)


@requires(_prerequisite)
def _respond() -> Response:
    # The form's value counts if a name is in both.
    parameters = Parameters([*request.args.items(multi=True), *form().items(multi=True)])
    _require_own_chain(parameters)
    return _response(find_action(parameters)(parameters))


for path in PATHS:
    blueprint.add_url_rule(
        path, path.strip("/").replace("/", "_"), _respond, methods=["GET", "POST"]
    )


@blueprint.get(CHAIN_LIST)
def list_own_chain() -> JsonResponse:
    """Return the chain of this service; none before the first block."""
    query_arguments()
    settings, chain_id = services().settings, reader().sources.chain_id.read()
    reader().do_not_cache()  # it names the host that the client has used
    base = f"{public_url(request.environ, settings.trusted_proxies)}{settings.base_path}"
    records = []
    if chain_id is not None:
        name = name_of(chain_id, settings.chain_name)
        records = [record(chain_id, name, f"{base}/", f"{base}/v2/api", is_answering=True)]
    return json_value(chain_list(records))


def _require_own_chain(parameters: Parameters) -> None:
    """Raise Failure for a `chainid` other than the indexed chain's; the parameter is optional."""
    if not parameters.text("chainid"):
        return
    chain_id = reader().sources.chain_id.read()
    if chain_id is not None and str(parameters.integer("chainid", 0)) != chain_id:
        raise Failure(WRONG_CHAIN.format(chain_id))


def _response(reply: Reply | RpcReply) -> Response:
    since = reader().balances_since
    if isinstance(reply, Reply) and reply.message == "OK" and since is not None:
        reply = reply._replace(message=f"OK-Balances are known since block {since}")
    response = Response(reply.body(), mimetype="application/json")
    if isinstance(reply, Reply) and reply.total is not None:
        response.headers["X-Total-Count"] = str(reply.total)
    if isinstance(reply, Reply) and reply.kept_from is not None:
        response.headers["X-Scan-Kept-From"] = str(reply.kept_from)
    return response
