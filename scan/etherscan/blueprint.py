"""One request in Etherscan's form: its parameters, the chain it means, its action, the reply."""

from urllib.parse import parse_qsl

from flask import Blueprint, Response, request

from scan.etherscan.actions import find_action
from scan.etherscan.caches import caches
from scan.etherscan.parameters import Parameters
from scan.etherscan.replies import PATHS, Failure, Reply, RpcReply
from scan.http.prerequisites import Prerequisite, prerequisite_of, requires
from scan.http.requests import form, reader
from scan.queries import network

MOST_CACHED_BYTES = 512 * 1024  # longer lists would push everything else out of the cache
WRONG_CHAIN = "Missing or unsupported chainid parameter: this is chain {}"

blueprint = Blueprint("etherscan", __name__)


@blueprint.errorhandler(Failure)
def _answer_failure(failure: Failure) -> Response:
    reader().do_not_cache()  # it may be the node's, which may answer the next request
    return _response(failure.reply)


def _prerequisite(query: str) -> Prerequisite | None:
    """Of the action that a query names; an unknown one has none."""
    try:
        action = find_action(Parameters(parse_qsl(query)))
    except Failure:
        return None
    return prerequisite_of(action)


@requires(_prerequisite)
def _answer() -> Response:
    asked = Parameters(_pairs())
    _require_own_chain(asked)
    return _response(find_action(asked)(asked))


for path in PATHS:
    blueprint.add_url_rule(
        path, path.strip("/").replace("/", "_"), _answer, methods=["GET", "POST"]
    )


def _pairs() -> list[tuple[str, str]]:
    """Of the query, then of a form, which counts where both have a name."""
    return [*request.args.items(multi=True), *form().items(multi=True)]


def _require_own_chain(asked: Parameters) -> None:
    """A `chainid` is optional; where it is given it has to be ours."""
    if not asked.text("chainid"):
        return
    known = caches().chain_ids
    if not known:
        chain_id = network.chain_id(reader())
        known += [chain_id] if chain_id else []
    if known and str(asked.integer("chainid", 0)) != known[0]:
        raise Failure(WRONG_CHAIN.format(known[0]))


def _response(reply: Reply | RpcReply) -> Response:
    body = reply.body()
    if len(body) > MOST_CACHED_BYTES:
        reader().do_not_cache()
    response = Response(body, mimetype="application/json")
    if isinstance(reply, Reply) and reply.total is not None:
        response.headers["X-Total-Count"] = str(reply.total)
    return response
