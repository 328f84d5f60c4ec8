"""Blueprints whose views take the parameters that paths.toml names and no others, errors in
Blockscout's form, and its objects of records, as far as objects.toml says them.
"""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from flask import Blueprint, g, request

from scan.api.openapi.schemas import Renaming
from scan.errors import InvalidParameter, NotFound, ScanError
from scan.ethereum.display_text import checksummed
from scan.http import request_state
from scan.queries import network, pages
from scan.rate_limits.windows import RateLimitResult
from scan.server.responses import Headers, WsgiResponse, json_response

TABLE = Path(__file__).with_name("paths.toml")
CREDENTIALS = frozenset({"apikey", "key", "recaptcha_response"})
ABSENT = (None, "", "null")  # clients send back null and empty texts of next_page_params

_V = TypeVar("_V", bound=Callable[..., Any])


class AnsweredPath(NamedTuple):
    """A path of Blockscout's that is answered: the parameters that it takes, what differs, and the
    method of its requests."""

    takes: frozenset[str]
    differs: str = ""
    method: str = "GET"


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


@cache
def answered_paths() -> Mapping[str, AnsweredPath]:
    return {
        path: AnsweredPath(**{**row, "takes": frozenset(row.get("takes", "").split())})
        for path, row in _table()["answered"].items()
    }


def refused_paths() -> Mapping[str, str]:
    """Return why each of Blockscout's other paths is not answered."""
    return {path: row["reason"] for row in _table()["refused"] for path in row["paths"].split()}


class Parameters:
    """The parameters of a request, of which a view that ignores one is an error of the client's:
    rows of others would pass for what it asked for."""

    def __init__(self, taken: frozenset[str]) -> None:
        """Raises InvalidParameter for a parameter that the path does not take."""
        self._taken = taken
        given = request.args.items()
        self._unread = {name for name, value in given if name and value not in ABSENT}
        self._unread -= CREDENTIALS
        for name in self._unread - taken:
            raise InvalidParameter(f"Unexpected field: {name[:50]}", field=name[:50])

    def text(self, name: str) -> str | None:
        """Return a parameter, None where it is absent."""
        if name not in self._taken:
            raise LookupError(f"{TABLE.name} does not say that this path takes {name}")
        self._unread.discard(name)
        value = request.args.get(name)
        return None if value in ABSENT else value

    def require_all_read(self) -> None:
        for name in self._unread:
            message = f"{name} is not taken together with the other parameters."
            raise InvalidParameter(message, field=name)


class Routes(Blueprint):
    def __init__(self, name: str, prefix: str) -> None:
        super().__init__(f"blockscout_{name}", __name__)
        self._prefix = prefix

    def path(self, path: str) -> Callable[[_V], _V]:
        """Return a decorator of the view for requests of a path, which may end in a slash as some
        of Blockscout's do; raises KeyError for a path that is not in paths.toml."""
        answered = answered_paths()[self._prefix + path]

        def decorate(view: _V) -> _V:
            @wraps(view)
            def checked(**arguments: str) -> Any:
                g.parameters = Parameters(answered.takes)
                response = view(**arguments)
                g.parameters.require_all_read()
                return response

            methods = [answered.method]
            self.add_url_rule(path, view_func=checked, methods=methods, strict_slashes=False)
            return view

        return decorate


def routes(name: str, prefix: str = "") -> Routes:
    """Return a blueprint; its paths are in paths.toml after the `prefix`."""
    return Routes(name, prefix)


def text(name: str) -> str | None:
    """Return a parameter of the request, None where it is absent."""
    return cast("Parameters", g.parameters).text(name)


PREFIX = "/api/v2"
STATS_PREFIX = "/stats-service/api/v1"  # of another service at Blockscout
UNPROCESSABLE = 422
NOT_FOUND = "Not found"


def refuse(error: ScanError) -> WsgiResponse:
    headers = list(error.headers.items())
    if isinstance(error, InvalidParameter):
        source = {"pointer": f"/{error.body().get('field', '')}"}
        fault = {"title": "Invalid value", "source": source, "detail": error.message}
        return json_response(UNPROCESSABLE, {"errors": [fault]}, headers)
    message = NOT_FOUND if isinstance(error, NotFound) else error.message
    return json_response(error.status, {"message": message}, headers)


WHOLE_GAS_PRICES = "updated-gas-oracle"  # "true" where a client reads prices as objects


def limit_headers(result: RateLimitResult) -> Headers:
    """Return the limit's headers as Blockscout's clients read them: the reset in milliseconds from
    now, and no way around a refusal, such as a captcha."""
    headers = dict(request_state.limit_headers(result))
    headers["X-RateLimit-Reset"] = str(int(result.reset_in_s * 1000) + 1)
    return [*headers.items(), ("Bypass-429-Option", "no_bypass")]


BLOCKSCOUT = request_state.Interface(
    refuse,
    prefixes=(f"{PREFIX}/", f"{STATS_PREFIX}/"),
    api_key_parameter="apikey",
    limit_headers=limit_headers,
    varies_by=WHOLE_GAS_PRICES,
)


Object = dict[str, Any]
NAMES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    TABLE.with_name("names.toml").read_text(encoding="utf-8")
)

# The names of Ethereum's standards, by the types of records.
STANDARDS = {kind: network.token_standard(kind) for kind in pages.TOKEN_TYPES}


def timestamp(iso: str) -> str:
    """Return a time as Blockscout writes it: ISO 8601 with microseconds."""
    return f"{iso.removesuffix('Z')}.000000Z"


FORMATS: Mapping[str, Callable[[Any], Any]] = {
    "checksum": lambda value: value and checksummed(value),
    "count": lambda value: str(value or 0),
    "number": int,
    "number_text": lambda value: None if value is None else str(value),
    "outcome": lambda is_success: "ok" if is_success else "error",
    "standard": lambda value: value and STANDARDS[value],
    "text": str,
    "time": lambda value: value and timestamp(value),
}


def renaming(table: Path, **formats: Callable[[Any], Any]) -> Renaming:
    """Return what makes objects by a table; `formats` are more of them."""
    return Renaming(table, {**FORMATS, **formats})


# An address's object is made by `address`, a format that is given with the record.
renamed = Renaming(TABLE.with_name("objects.toml"), FORMATS)
