"""All responses are {"status", "message", "result"} with HTTP 200, including errors.

Several clients do not read `result` with any other HTTP status.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

import orjson

from scan.errors import RateLimited, ScanError
from scan.http.interfaces import Interface
from scan.server.wsgi import WsgiResponse, json_response

PATHS = ("/api", "/v2/api")
CHAIN_LIST = "/v2/chainlist"
RATE_LIMITED = "Max rate limit reached. "


class Reply(NamedTuple):
    """A response; `result` is serialized by orjson; `total` is the number of rows of a list on
    all pages."""

    result: object
    status: str = "1"
    message: str = "OK"
    total: int | None = None

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
    """The request gets a response with status 0."""

    def __init__(self, result: object, message: str = "NOTOK") -> None:
        super().__init__(message)
        self.reply = Reply(result, "0", message)


def rows_reply(rows: Sequence[object], none_found: str, total: int | None = None) -> Reply:
    """Return the response of a list; an empty one has status 0."""
    return Reply(rows, total=total) if rows else Reply([], "0", none_found, total)


def refuse(error: ScanError) -> WsgiResponse:
    """Return the response to an error, in this interface's form."""
    text = (RATE_LIMITED if isinstance(error, RateLimited) else "") + error.message
    value = {"status": "0", "message": "NOTOK", "result": text}
    return json_response(200, value, list(error.headers.items()))


ETHERSCAN = Interface(refuse, paths=frozenset({*PATHS, CHAIN_LIST}), api_key_parameter="apikey")
