"""Responses of the form {"status", "message", "result"}, with HTTP 200 also for errors: several
clients do not read `result` with any other status.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import orjson

from scan.errors import RateLimited, ScanError
from scan.http.interfaces import Interface
from scan.server.wsgi_responses import WsgiResponse, json_response

if TYPE_CHECKING:  # the gateway of several chains has no queries
    from scan.queries.reader import KeptFrom

PATHS = ("/api", "/v2/api")
CHAIN_LIST = "/v2/chainlist"
RATE_LIMITED = "Max rate limit reached. "


class Reply(NamedTuple):
    """A response; `result` is serialized by orjson; `total` is the number of rows of a list on
    all pages, `kept_from` the oldest block whose rows are kept, None where all are.
    """

    result: object
    status: str = "1"
    message: str = "OK"
    total: int | None = None
    kept_from: int | None = None

    def body(self) -> bytes:
        return orjson.dumps({"status": self.status, "message": self.message, "result": self.result})


class RpcReply(NamedTuple):
    """The node's JSON-RPC response: `name` is result or error."""

    name: str
    value: object

    def body(self) -> bytes:
        response = {"jsonrpc": "2.0", "id": 1, self.name: self.value}
        try:
            return orjson.dumps(response)
        except TypeError:  # integers beyond 64 bits, halves of surrogate pairs
            return json.dumps(response, separators=(",", ":")).encode()


class Failure(Exception):
    """A failure of a request, whose response has status 0."""

    def __init__(self, result: object, message: str = "NOTOK") -> None:
        super().__init__(message)
        self.reply = Reply(result, "0", message)


def rows_reply(
    rows: Sequence[object],
    none_found: str,
    total: int | None = None,
    kept_from: "KeptFrom | None" = None,
) -> Reply:
    """Return the response of a list; an empty one has status 0.

    Clients check whether a message begins with OK, as Etherscan's OK-Missing/Invalid API Key does,
    and compare the messages of empty lists whole.
    """
    first = None if kept_from is None else kept_from.number
    if not rows:
        return Reply([], "0", none_found, total, first)
    message = "OK" if first is None else f"OK-Rows before block {first} are not kept"
    return Reply(rows, "1", message, total, first)


def refuse(error: ScanError) -> WsgiResponse:
    """Return an error in Etherscan's form."""
    text = (RATE_LIMITED if isinstance(error, RateLimited) else "") + error.message
    value = {"status": "0", "message": "NOTOK", "result": text}
    return json_response(200, value, list(error.headers.items()))


ETHERSCAN = Interface(
    refuse,
    paths=frozenset({*PATHS, CHAIN_LIST}),
    api_key_parameter="apikey",
    catalogued="/api",
)
