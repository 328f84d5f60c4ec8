"""A request's parameters: the query and a form as one set, with names in any letter case."""

import re
from collections.abc import Iterable, Mapping

from scan import parameters
from scan.errors import InvalidParameter
from scan.etherscan.replies import Failure
from scan.hex import BadHex, data
from scan.queries.pages import Window

MOST_ROWS = 10_000  # of a page
BAD_ADDRESS = "Error! Invalid address format"
# Etherscan bounds page x offset by 10,000; here a page is bounded, and there is any number of them.
PAGE_TOO_LARGE = (
    "Result window is too large, Offset size must be less than or equal to {}, at any PageNo"
)
BLOCK_TAGS = ("latest", "pending", "earliest", "safe", "finalized")

_DIGITS = re.compile(r"[0-9]{1,78}")
_QUANTITY = re.compile(r"0[xX]([0-9a-fA-F]{1,64})")


class Parameters:
    """Values by their names in lower case; every method raises Failure for what it cannot use."""

    def __init__(self, pairs: Iterable[tuple[str | None, str]]) -> None:
        """Of a name given twice the last value counts."""
        self._values: Mapping[str, str] = {
            name.lower(): value
            for name, value in pairs
            if name is not None  # a part of a multipart form may have no name
        }

    def exact(self, name: str) -> str:
        """With the space around it, which belongs to a source."""
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
            raise Failure(f"Error! At most {most} addresses can be asked for at once")
        return [_address(value.strip()) for value in values]

    def hash32(self, name: str) -> bytes:
        try:
            return parameters.hash32(self.text(name), name)
        except InvalidParameter:
            raise Failure(f"Error! Invalid {name} format") from None

    def hex_data(self, name: str, default: str = "") -> str:
        """As hex in lower case."""
        value = self.text(name, default).lower()
        try:
            data(value)
        except BadHex:
            raise Failure(f"Error! Invalid {name} format") from None
        return value

    def integer(self, name: str, default: int) -> int:
        """A decimal or a 0x number of at most 256 bits."""
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
        """Of `page`, from 1 (0 is the first, too), and `offset`, the size of a page."""
        number = max(self.integer("page", 1), 1)
        size = self.integer("offset", most) or most
        if size > most:
            raise Failure(None, PAGE_TOO_LARGE.format(most))
        return size, min((number - 1) * size, parameters.BIGINT_MAX)

    def window(self) -> Window:
        """A page of a list, its order, and the range of blocks: an end that is missing bounds
        nothing, and neither does `latest` as the last."""
        direction = self.text("sort", "asc").lower()
        if direction not in ("asc", "desc"):
            raise Failure("Error! Invalid sort: asc or desc")
        limit, offset = self.limit_and_offset()
        return Window(limit, offset, direction, self.first_block(), self.last_block())

    def first_block(self, name: str = "startblock") -> int:
        return min(self.integer(name, 0), parameters.BIGINT_MAX)

    def last_block(self, name: str = "endblock") -> int:
        if self.text(name).lower() == "latest":
            return parameters.BIGINT_MAX
        return min(self.integer(name, parameters.BIGINT_MAX), parameters.BIGINT_MAX)

    def block_tag(self, name: str = "tag", default: str = "latest") -> str:
        """As a node takes it: a tag, or a number in hex."""
        value = self.text(name, default).lower()
        return value if value in BLOCK_TAGS else hex(self.integer(name, 0))


def _address(value: str) -> bytes:
    try:
        return parameters.address(value)
    except InvalidParameter:
        raise Failure(BAD_ADDRESS) from None
