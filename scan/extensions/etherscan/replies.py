"""Responses of the form {"status", "message", "result"}, with HTTP 200 also for errors: several
clients do not read `result` with any other status.

A request's parameters, from the query string and a form, with case-insensitive names.

Etherscan's objects of records, as far as objects.toml says them.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.api.renamed_fields import Renaming
from scan.errors import InvalidParameter, RateLimited, ScanError
from scan.ethereum.request_node import TAGS
from scan.ethereum.units import GWEI_DECIMALS, in_units
from scan.hex import BadHex, data
from scan.http.current_request import reader
from scan.http.interfaces import Interface
from scan.queries import blocks, tokens
from scan.queries.list_pages import Window
from scan.queries.reader import KeptFrom
from scan.server.responses import Environ, WsgiResponse, json_response

PATHS = ("/api", "/v2/api")
ETH_RPC = "/api/eth-rpc"  # Blockscout's
CHAIN_LIST = "/v2/chainlist"
RATE_LIMITED = "Max rate limit reached. "


class Reply(NamedTuple):
    """A response; `result` is serialized by orjson; `total` is the number of rows of a list on
    all pages, `kept_from` the oldest block whose rows are kept, None where all are; `details` are
    what a `result` that clients compare does not say.
    """

    result: object
    status: str = "1"
    message: str = "OK"
    total: int | None = None
    kept_from: int | None = None
    details: str | None = None

    def body(self) -> bytes:
        body = {"status": self.status, "message": self.message, "result": self.result}
        return orjson.dumps(body | ({"details": self.details} if self.details else {}))


class RpcReply(NamedTuple):
    """The node's JSON-RPC response: `name` is result or error."""

    name: str
    value: object
    id_: object = 1

    def body(self) -> bytes:
        response = {"jsonrpc": "2.0", "id": self.id_, self.name: self.value}
        try:
            return orjson.dumps(response)
        except TypeError:  # integers beyond 64 bits, halves of surrogate pairs
            return json.dumps(response, separators=(",", ":")).encode()


class Failure(Exception):
    """A failure of a request, whose response has status 0."""

    def __init__(self, result: object, message: str = "NOTOK", details: str | None = None) -> None:
        super().__init__(message)
        self.reply = Reply(result, "0", message, details=details)


def refuse_rpc(error: ScanError) -> WsgiResponse:
    """Return an error at ETH_RPC, which its clients know by the status."""
    value = {"jsonrpc": "2.0", "id": None, "error": error.message}
    return json_response(error.status, value, list(error.headers.items()))


def rows_reply(
    rows: Sequence[object],
    none_found: str,
    total: int | None = None,
    kept_from: KeptFrom | None = None,
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
    refuse, paths=frozenset({*PATHS, CHAIN_LIST}), api_key_parameter="apikey", catalogued="/api"
)
JSON_RPC = Interface(refuse_rpc, paths=frozenset({ETH_RPC}), api_key_parameter="apikey")


MOST_ROWS = 10_000  # per page
BAD_ADDRESS = "Error! Invalid address format"
# Etherscan limits page x offset to 10,000; here only the size of a page is limited.
PAGE_TOO_LARGE = (
    "Result window is too large, Offset size must be less than or equal to {}, at any PageNo"
)
WINDOW_TOO_LARGE = (
    "Result window is too large, PageNo x Offset size must be less than or equal to 10000"
)
BLOCK_TAGS = ("latest", "pending", "earliest", "safe", "finalized")

_DIGITS = re.compile(r"[0-9]{1,78}")
_QUANTITY = re.compile(r"0[xX]([0-9a-fA-F]{1,64})")


class Parameters:
    """The values of parameters by lower-case name; all methods raise Failure for invalid values."""

    def __init__(self, pairs: Iterable[tuple[str | None, str]]) -> None:
        """`pairs` are of query string and form; of a repeated name the last value counts."""
        self._values: Mapping[str, str] = {
            name.lower(): value
            for name, value in pairs
            if name is not None  # a part of a multipart form may have no name
        }

    def exact(self, name: str) -> str:
        """Return the text with its surrounding white space, which belongs to a source."""
        return self._values.get(name, "")

    def text(self, name: str, default: str = "") -> str:
        return self.exact(name).strip() or default

    def required(self, name: str) -> str:
        value = self.text(name)
        if not value:
            raise Failure(f"Error! Missing {name}", details=self._meant(name))
        return value

    def address(self, name: str = "address") -> bytes:
        return _address(self.text(name), None if self.text(name) else self._meant(name))

    def _meant(self, name: str) -> str | None:
        """Return which of the given parameters probably should have the name of a missing one."""
        given = self._values.keys() - {"module", "action", "chainid", "apikey"}
        wrong = next((other for other in sorted(given) if parameters.nearest(other, (name,))), None)
        if wrong is None:
            return None
        return f"Unknown parameter {wrong[: parameters.LONGEST_NAME]!r}; did you mean {name}?"

    def optional_address(self, name: str) -> bytes | None:
        return _address(self.text(name)) if self.text(name) else None

    def addresses(self, name: str, most: int) -> list[bytes]:
        values = self.text(name).split(",")
        if len(values) > most:
            raise Failure(f"Error! Maximum number of addresses is {most}")
        return [_address(value.strip()) for value in values]

    def hash32(self, name: str) -> bytes:
        try:
            return parameters.hash32(self.text(name), name)
        except InvalidParameter:
            raise Failure(f"Error! Invalid {name} format") from None

    def hex_data(self, name: str) -> str:
        """Return bytes as lower-case hex."""
        value = self.text(name).lower()
        try:
            data(value)
        except BadHex:
            raise Failure(f"Error! Invalid {name} format") from None
        return value

    def integer(self, name: str, default: int) -> int:
        """Return a decimal or a 0x number of at most 256 bits."""
        value = self.text(name)
        if not value:
            return default
        if quantity := _QUANTITY.fullmatch(value):
            return int(quantity[1], 16)
        if not _DIGITS.fullmatch(value):
            raise Failure(f"Error! Invalid {name}")
        return int(value)

    def limit_and_offset(self, most: int = MOST_ROWS) -> tuple[int, int]:
        """Return limit and offset by `page`, of which 0 and 1 are the first, and `offset`, the
        page's size."""
        number = max(self.integer("page", 1), 1)
        size = self.integer("offset", most) or most
        if size > most:
            raise Failure(None, PAGE_TOO_LARGE.format(most))
        return size, min((number - 1) * size, parameters.BIGINT_MAX)

    def window(self) -> Window:
        """Return the window of a list: its page, order and range of blocks, which has no end where
        `endblock` is missing or `latest`."""
        limit, offset = self.limit_and_offset()
        last = self.block("endblock", parameters.BIGINT_MAX)
        return Window(limit, offset, self.direction(), self.block("startblock", 0), last)

    def day(self, name: str) -> date:
        try:
            return date.fromisoformat(self.required(name))
        except ValueError:
            raise Failure("An incorrect date provided") from None

    def direction(self) -> str:
        direction = self.text("sort", "asc").lower()
        if direction not in ("asc", "desc"):
            raise Failure("Error! Invalid sort: asc or desc")
        return direction

    def block(self, name: str, default: int) -> int:
        """Return the first or last block of a range by its number or tag; `default` is 0 of a first
        one and the greatest number of a last one. Nothing is known of pending blocks."""
        tag = self.text(name).lower()
        if tag in TAGS:
            number: int | None = getattr(blocks.finality(reader()), tag)
            if number is None:
                raise Failure(f"{tag} block not found")
            return number
        if tag in ("latest", "pending"):
            return default or blocks.newest_number(reader()) or 0
        return 0 if tag == "earliest" else min(self.integer(name, default), parameters.BIGINT_MAX)

    def block_tag(self, name: str = "tag") -> str:
        """Return the block in JSON-RPC's form: a tag, or a number in hex."""
        value = self.text(name, "latest").lower()
        return value if value in BLOCK_TAGS else hex(self.integer(name, 0))


def result_window(parameters: Parameters) -> tuple[int, int]:
    """Return limit and offset of a list without a counter, whose deep pages take longer: as at
    Etherscan, page x offset is bounded."""
    limit, offset = parameters.limit_and_offset()
    if limit + offset > MOST_ROWS:
        raise Failure(None, WINDOW_TOO_LARGE)
    return limit, offset


def _address(value: str, details: str | None = None) -> bytes:
    try:
        return parameters.address(value)
    except InvalidParameter:
        raise Failure(BAD_ADDRESS, details=details) from None


FORMATS: Mapping[str, Callable[[Any], Any]] = {
    "coins": lambda wei: in_units(int(wei)),
    "gwei": lambda wei: in_units(int(wei), GWEI_DECIMALS),  # with all its digits
    "hex": lambda value: hex(int(value)),
    "seconds": lambda day: str(parameters.unix_seconds(f"{day}T00:00:00Z")),  # its beginning (UTC)
    "standard": tokens.token_standard,
    "text": lambda value: "" if value is None else str(value),
}
renamed = Renaming(Path(__file__).with_name("objects.toml"), FORMATS)


def renamed_rows(name: str, records: str) -> list[dict[str, Any]]:
    """Return the objects of JSON's records."""
    return [renamed(name, record) for record in orjson.loads(records)]


_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{1,255}")


def public_url(environ: Environ, trusted_proxies: int) -> str:
    """Return scheme and host as the client has used them, empty for a malformed host."""
    host = environ.get("HTTP_HOST", "")
    proto = environ.get("HTTP_X_FORWARDED_PROTO", "") if trusted_proxies else ""
    return f"{'https' if proto == 'https' else 'http'}://{host}" if _HOST.fullmatch(host) else ""
