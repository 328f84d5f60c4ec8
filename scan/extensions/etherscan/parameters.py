"""A request's parameters, from the query string and a form, with case-insensitive names."""

import re
from collections.abc import Iterable, Mapping
from datetime import date

from scan import parameters
from scan.errors import InvalidParameter
from scan.extensions.etherscan.replies import Failure
from scan.hex import BadHex, data
from scan.queries.pages import Window

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
            raise Failure(f"Error! Missing {name}")
        return value

    def address(self, name: str = "address") -> bytes:
        return _address(self.text(name))

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

    def hex_data(self, name: str, default: str = "") -> str:
        """Return bytes as lower-case hex."""
        value = self.text(name, default).lower()
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
        quantity = _QUANTITY.fullmatch(value)
        if quantity:
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
        return Window(limit, offset, self.direction(), self.first_block(), self.last_block())

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

    def first_block(self, name: str = "startblock") -> int:
        return min(self.integer(name, 0), parameters.BIGINT_MAX)

    def last_block(self, name: str = "endblock") -> int:
        if self.text(name).lower() == "latest":
            return parameters.BIGINT_MAX
        return min(self.integer(name, parameters.BIGINT_MAX), parameters.BIGINT_MAX)

    def block_tag(self, name: str = "tag", default: str = "latest") -> str:
        """Return the block in JSON-RPC's form: a tag, or a number in hex."""
        value = self.text(name, default).lower()
        return value if value in BLOCK_TAGS else hex(self.integer(name, 0))


def result_window(parameters: Parameters) -> tuple[int, int]:
    """Return limit and offset of a list without a counter, whose deep pages take longer: as at
    Etherscan, page x offset is bounded."""
    limit, offset = parameters.limit_and_offset()
    if limit + offset > MOST_ROWS:
        raise Failure(None, WINDOW_TOO_LARGE)
    return limit, offset


def _address(value: str) -> bytes:
    try:
        return parameters.address(value)
    except InvalidParameter:
        raise Failure(BAD_ADDRESS) from None
