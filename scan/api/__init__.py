"""What every blueprint needs: the parts it serves from, and answers as bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import orjson
from flask import Response, current_app, request
from gunicorn.http.errors import ParseException

from scan import params
from scan.admission import Admitted
from scan.api.lists import Records
from scan.contract_wallets import ContractWallets
from scan.db import Database
from scan.errors import InvalidJson, InvalidParameter, TooLarge, UnsupportedMediaType
from scan.front import ADMITTED, OF_THE_CHAIN
from scan.key_usage import KeyUsage
from scan.keyring import Keyring
from scan.keys import ApiKey
from scan.limiter import Limiter
from scan.rpc import Node
from scan.settings import Settings

BROKEN_OFF = "The body ended early, or its chunks are malformed."


@dataclass(frozen=True)
class Services:
    """The parts that a request is answered from; `reads` may be a replica of `writes`."""

    settings: Settings
    reads: Database
    writes: Database
    node: Node
    contract_wallets: ContractWallets
    limiter: Limiter
    keyring: Keyring
    key_usage: KeyUsage


def services() -> Services:
    return cast(Services, current_app.extensions["scan"])


def json_body(body: str | bytes, status: int = 200) -> Response:
    """A body that PostgreSQL has already made."""
    return Response(body, status, mimetype="application/json")


def chain_body(body: str) -> Response:
    """A body that stays as it is until the chain changes, and is kept as long."""
    request.environ[OF_THE_CHAIN] = True
    return json_body(body)


def page(name: str, found: Records) -> str:
    """A list's page: {name: [...], total}."""
    return f'{{"{name}":{found.data},"total":{found.total}}}'


def api_key() -> ApiKey | None:
    """The key that the request was admitted with."""
    return cast(Admitted, request.environ[ADMITTED]).key


def json_value(value: object, status: int = 200) -> Response:
    return json_body(orjson.dumps(value), status)


def query_arguments() -> Mapping[str, str]:
    """The query string; a parameter given twice is a mistake, not a choice."""
    for name, values in request.args.lists():
        if len(values) > 1:
            raise InvalidParameter(f"{name[:50]} is given twice.", field=name[:50])
    return request.args


def json_object() -> dict[str, object]:
    """The request's body; raises UnsupportedMediaType unless it is declared JSON."""
    if not request.is_json:
        raise UnsupportedMediaType("Send the body as JSON, with Content-Type: application/json.")
    try:
        body = request.get_data(cache=False)
    except (OSError, ParseException):
        raise InvalidJson(BROKEN_OFF) from None
    if len(body) < (request.content_length or 0):
        raise InvalidJson(BROKEN_OFF)
    # Of a body sent in chunks no more is read than is allowed, and nothing tells that it went on.
    if request.content_length is None and len(body) >= (request.max_content_length or 0):
        raise TooLarge("The body is too large.")
    return params.json_object(body)
