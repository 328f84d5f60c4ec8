"""Blueprints whose views take the parameters that paths.toml names and no others, errors in
Blockscout's form, and its objects of records, as far as objects.toml says them.

Pages of lists: 50 rows, and as next_page_params the position of the last one, in parameters that
clients send back, or make of an item themselves.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import orjson
from flask import Blueprint, g, request

from scan import parameters
from scan.api.renamed_fields import Renaming
from scan.errors import InvalidParameter, NotFound, ScanError
from scan.ethereum.checksums import checksummed
from scan.extensions.decoding.decoding import contexts
from scan.http import interfaces
from scan.http.current_request import reader
from scan.http.interfaces import Interface
from scan.http.json_responses import Response, json_value
from scan.queries import filter_values, filtered_pages, tokens
from scan.queries.cursors import ordinal_at
from scan.queries.filter_values import Value
from scan.queries.list_pages import Page, Window
from scan.rate_limits.window_storage import RateLimitResult
from scan.server.responses import Headers, WsgiResponse, json_response

TABLE = Path(__file__).with_name("paths.toml")
CREDENTIALS = frozenset({"apikey", "key", "recaptcha_response"})
ABSENT = (None, "", "null")  # clients send back null and empty texts of next_page_params

_V = TypeVar("_V", bound=Callable[..., Any])
_T = TypeVar("_T")


class AnsweredPath(NamedTuple):
    """A path of Blockscout's that is answered: the parameters that it takes, what differs, and the
    method of its requests."""

    takes: frozenset[str]
    differs: str = ""
    method: str = "GET"


@cache
def answered_paths() -> Mapping[str, AnsweredPath]:
    return {
        path: AnsweredPath(**{**row, "takes": frozenset(row.get("takes", "").split())})
        for path, row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["answered"].items()
    }


class Parameters:
    """The parameters of a request, of which a view that ignores one is an error of the client's:
    rows of others would pass for what it asked for."""

    def __init__(self, taken: frozenset[str]) -> None:
        """Raises InvalidParameter for a parameter that the path does not take."""
        self._taken = taken
        arguments = request.args.items()
        self._unread = {n for n, value in arguments if n and value not in ABSENT} - CREDENTIALS
        unknown = self._unread - taken
        for name in (name for name in request.args if name in unknown):
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
    """A blueprint; its paths are in paths.toml after the `prefix`."""

    def __init__(self, name: str, prefix: str = "") -> None:
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


def text(name: str) -> str | None:
    """Return a parameter of the request, None where it is absent."""
    return cast("Parameters", g.parameters).text(name)


def parsed(name: str, parse: Callable[[str, str], _T]) -> _T | None:
    """Return what `parse` makes of a parameter's text and its name; None where it is absent."""
    value = text(name)
    return None if value is None else parse(value, name)


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
    headers = dict(interfaces.limit_headers(result))
    headers["X-RateLimit-Reset"] = str(int(result.reset_in_s * 1000) + 1)
    return [*headers.items(), ("Bypass-429-Option", "no_bypass")]


BLOCKSCOUT = Interface(
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
STANDARDS = {kind: tokens.token_standard(kind) for kind in filter_values.TOKEN_TYPES}


def timestamp(iso: str) -> str:
    """Return a time as Blockscout writes it: ISO 8601 with microseconds."""
    return f"{iso.removesuffix('Z')}.000000Z"


FORMATS: Mapping[str, Callable[[Any], Any]] = {
    "checksum": lambda value: value and checksummed(value),
    "count": lambda value: str(value or 0),
    "number": int,
    "number_text": lambda value: None if value is None else str(value),
    "outcome": {True: "ok", False: "error", None: None}.__getitem__,
    "standard": lambda value: value and STANDARDS[value],
    "text": str,
    "time": lambda value: value and timestamp(value),
}


def renaming(table: Path, **formats: Callable[[Any], Any]) -> Renaming:
    """Return what makes objects by a table; `formats` are more of them."""
    return Renaming(table, {**FORMATS, **formats})


# An address's object is made by `address`, a format that is given with the record.
renamed = Renaming(TABLE.with_name("objects.toml"), FORMATS)


ROWS, MOST_ROWS = 50, 100  # more are the most, as with Blockscout

# The parameters of a row's place in the chain, by entity.
PLACES = {
    "transactions": ("block_number", "index"),
    "logs": ("block_number", "index"),
    "internal_transfers": ("block_number", "transaction_index", "index"),
    "token_transfers": ("block_number", "index", "index_in_batch"),
}

Record = dict[str, Any]
Position = dict[str, Any]
Place = int | bytes


def number(name: str, least: int = 0) -> int | None:
    value = text(name)
    if value is None:
        return None
    return parameters.integer_text({name: value}, name, default=0, least=least)


def flag(name: str, *, default: bool) -> bool:
    value = one_of(name, ("true", "false"))
    return default if value is None else value == "true"


def row_count() -> int:
    """Return how many rows a page has: 50, or as many as `items_count` says."""
    return min(number("items_count", least=1) or ROWS, MOST_ROWS)


def first_window() -> Window:
    """Return the window of a list's first page."""
    return Window(row_count(), 0)


def amount(name: str) -> int | None:
    """Return a uint256, such as a balance; None where it is absent."""
    value = text(name)
    try:
        return None if value is None else parameters.token_id(value)
    except InvalidParameter:
        raise InvalidParameter(f"{name} must be a whole number below 2^256.", field=name) from None


def address(name: str) -> bytes | None:
    return parsed(name, parameters.address)


def path_address(text: str) -> bytes:
    """Return an address that stands in the path; errors name it as Blockscout does."""
    return parameters.address(text, "address_hash_param")


def together(**readers: Callable[[str], Place | None]) -> tuple[Place, ...] | None:
    """Return the parameters that make a position, as these functions read them; None without them.
    Raises InvalidParameter where one of them is missing."""
    values = {name: read(name) for name, read in readers.items()}
    if all(value is None for value in values.values()):
        return None
    for name, value in values.items():
        if value is None:
            raise InvalidParameter(f"{name} is missing.", field=name)
    return tuple(value for value in values.values() if value is not None)


def one_of(name: str, allowed: Sequence[str]) -> str | None:
    """Return a choice; None without one, or for all of them, as "to | from" of version 11."""
    value = text(name)
    if value is None or ("|" in value and sorted(value.split(" | ")) == sorted(allowed)):
        return None
    return parameters.one_of(value, name, allowed)


def direction() -> str:
    return one_of("order", ("asc", "desc")) or "desc"


def list_response(
    items: Sequence[object], following: Mapping[str, Any] | None, **more: object
) -> Response:
    """Return a list; `following` is the position of its last row, None where no rows follow, `more`
    are fields beside the rows."""
    return json_value({"items": items, "next_page_params": following, **more})


def read_page(
    entity: str, read: Callable[[Window], Page], window: Window | None = None
) -> tuple[list[Record], Record | None]:
    """Return records of an entity in the order of the chain after the request's position, and the
    record after which the next page begins, None where no rows follow: the last one, or where the
    page ended before it was full, the last one that was compared with the filters.
    `*_position()` of the objects' modules return the position of a record."""
    window = window or first_window()
    block = window.block_from if window.block_from == window.block_to else None
    window = window._replace(
        position=position(entity, block), max_entries=filtered_pages.MAX_ENTRIES
    )
    page = read(window)
    records = orjson.loads(page.data)
    if page.position is None:
        return records, None
    if len(records) == window.limit:
        return records, records[-1]
    compared = Window(1, 0, position=(page.position + 1,))
    # That row may be older than others that are kept.
    last = filtered_pages.filtered_page(reader(), entity, {}, compared, are_kept=True)
    return records, next(iter(orjson.loads(last.data)), None)


def read_sparse_page(
    entity: str, window: Window | None = None, *, are_kept: bool = False, **filters: Value
) -> tuple[list[Record], Position | None]:
    """Return records of an entity with few rows after the request's `position`, the newest first,
    and the position of the next page; None where no rows follow. The page may end before it is
    full. `are_kept` as in filtered_page()."""
    after = number("position")
    position = None if after is None else (after,)
    window = (window or first_window())._replace(
        position=position, max_entries=filtered_pages.MAX_ENTRIES
    )
    page = filtered_pages.filtered_page(reader(), entity, filters, window, are_kept=are_kept)
    following = None if page.position is None else {"position": page.position}
    return orjson.loads(page.data), following


def position(entity: str, block_number: int | None = None) -> tuple[int, ...] | None:
    """Return the position of a Window in an entity's list that the request names, or None; the
    block may be left out in a list of one block's rows. Raises InvalidParameter."""
    place = {name: number(name) for name in PLACES[entity]}
    if not any(value is not None for value in place.values()):
        return None
    block = block_number if place["block_number"] is None else place["block_number"]
    if block is None:
        raise InvalidParameter("block_number is missing.", field="block_number")
    if entity == "logs":
        return block, place["index"] or 0
    return (
        ordinal_at(
            reader(),
            entity,
            block,
            place["index"] or 0,
            transaction_index=place.get("transaction_index") or 0,
            batch_index=place.get("index_in_batch") or 0,
        ),
    )


def require_block(expected: int) -> None:
    """Raise InvalidParameter for a position in another block than that of a transaction."""
    if number("block_number") not in (None, expected):
        raise InvalidParameter("block_number is another block's.", field="block_number")


def before_block() -> Window:
    """Return the window of a list with at most one row a block, below the request's block."""
    block_number = number("block_number")
    last = parameters.BIGINT_MAX if block_number is None else block_number - 1
    return first_window()._replace(block_to=last)


def contexts_of(records: Iterable[Record]) -> dict[str, Record]:
    """Return the places and called functions of the records' transactions, by hash."""
    return contexts(reader(), (record["transactionHash"] for record in records))
