"""Cursors: the end of a list's page, as opaque text that a client sends back for the next one.

A cursor has the position of the page's last row and the newest block of all rows that the client
was given: while that block is in the chain, so are those rows, and positions have not changed. It
is bound to the list: its entity, filter and order. Its last bytes are a check of the others: a
cursor that was cut off or altered is refused, since the list would continue at another row.

Statements serve it with the parameters `after` (the position, null without a cursor: rows after it
in the order are returned) and `seen_block` (a number, null without a cursor: its block_reference()
is returned). They return the position of the page's last row, null where no rows follow it, and the
block_reference() of the page's newest row.

Where a fork has removed the block, the newest block that the chain shares with its branch says
which rows the client must drop, and where it resumes. Orphaned blocks are known for seven days, the
newest 10,000 of them.
"""

import re
from base64 import urlsafe_b64decode
from binascii import b2a_base64
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, Self

import orjson

from scan.errors import InvalidParameter, Reorganised, Unavailable
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.served_chain import BlockId
from scan.queries.reader import Reader

DIGEST_BYTES = 8
CHECK_BYTES = 2
MAX_CURSOR = 600  # characters
INVALID = "cursor is not one that this list gave for this filter and order; begin without it."

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_TEXT = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_CURSOR}}}\Z")
_NUMBER = re.compile(r"(-1|0|[1-9][0-9]{0,99})\Z")  # -1: before the first ordinal
_HEX = re.compile(r"x(?:[0-9a-f]{2})*\Z")

Value = int | bytes


class Kind(NamedTuple):
    """The kind of a value in a position: an int of at most `most`, or bytes of that length."""

    type: type[int] | type[bytes]
    most: int


ORDINAL = Kind(int, 2**62)  # one more or less is a bigint, too
AMOUNT = Kind(int, 10**100 - 1)
ADDRESS = Kind(bytes, 20)
HASH = Kind(bytes, 32)
POOL = Kind(bytes, 52)  # or an address
SORTED_TEXT = Kind(bytes, 128)  # the UTF-8 of a text of at most 32 characters


def read_reference(column: bytes | None) -> BlockId | None:
    """Decode a block_reference() of sql/schema."""
    if column is None:
        return None
    return BlockId(int.from_bytes(column[:8]), bytes(column[8:]))


class Cursor(NamedTuple):
    """A decoded cursor; `newest` is None for a list whose rows are not of blocks."""

    position: tuple[Value, ...]
    newest: BlockId | None


class Traversal(NamedTuple):
    """A list in one order, as a client pages through it from its `cursor`."""

    scope: bytes  # a digest that binds a cursor to its list: in another list it is refused
    direction: str
    cursor: Cursor | None = None
    after: Value | None = None  # the cursor's position in a list where it is one value
    seen_block: int | None = None  # the number of the cursor's block

    @classmethod
    def of(cls, entity: str, direction: str, filters: Mapping[str, object]) -> Self:
        """Return the whole list; `filters` are checked values."""
        texts = [(name, str(value)) for name, value in filters.items() if value is not None]
        return cls(_scope(entity, direction, *texts), direction)

    def at(self, text: str, kinds: Sequence[Kind] = (ORDINAL,), *, has_blocks: bool = True) -> Self:
        """Return the list at the cursor `text`; raises InvalidParameter for one of another list."""
        cursor = _decode(text, self.scope, kinds, has_blocks=has_blocks)
        seen_block = cursor.newest and cursor.newest.number
        return self._replace(cursor=cursor, after=cursor.position[0], seen_block=seen_block)

    def after_position(self, position: tuple[Value, ...]) -> Self:
        """Return the list after a position, which is not checked for forks."""
        return self._replace(cursor=Cursor(position, None), after=position[0], seen_block=None)

    def position(self, values: int) -> tuple[Value | None, ...]:
        """Return the cursor's position; as many None as `values` at the list's beginning."""
        return self.cursor.position if self.cursor else (None,) * values

    def next(self, position: Sequence[Value] | None, newest: BlockId | None = None) -> str | None:
        """Return the cursor of the page after `position` as text; None where no rows follow.

        In descending order, the newest of all rows was on the first page.
        """
        if position is None:
            return None
        if self.cursor is not None and self.cursor.newest is not None and self.direction == "desc":
            newest = self.cursor.newest
        return _encode(self.scope, position, newest)

    def beginning(self, newest: BlockId | None) -> str | None:
        """Return the cursor of a page that begins after_position(), whose newest row is of the
        block `newest`; None for other pages, and where the page has no rows."""
        if newest is None or self.cursor is None or self.cursor.newest is not None:
            return None
        return _encode(self.scope, self.cursor.position, newest)

    def restart(self, position: Sequence[Value], newest: BlockId) -> str:
        """Return the cursor of a client that has dropped its rows above the block `newest`."""
        return _encode(self.scope, position, newest)


@lru_cache(maxsize=256)  # most lists have no filters
def _scope(entity: str, direction: str, *filters: tuple[str, str]) -> bytes:
    content = orjson.dumps([entity, direction, sorted(filters)])
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


def _encode(scope: bytes, position: Sequence[Value], newest: BlockId | None) -> str:
    values = [
        f"x{value.hex()}" if isinstance(value, bytes) else str(value)
        for value in (*position, *(newest or ()))
    ]
    content = scope + "|".join(values).encode()
    content += blake2b(content, digest_size=CHECK_BYTES).digest()
    return b2a_base64(content, newline=False).translate(_URL_SAFE).rstrip(b"=").decode()


def _decode(text: str, scope: bytes, kinds: Sequence[Kind], *, has_blocks: bool) -> Cursor:
    try:
        if not _TEXT.match(text):
            raise ValueError
        content = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        texts = content[DIGEST_BYTES:-CHECK_BYTES].decode("ascii").split("|")
        every = (*kinds, ORDINAL, HASH) if has_blocks else kinds
        values = tuple(_value(kind, text) for kind, text in zip(every, texts, strict=True))
        position, reference = values[: len(kinds)], values[len(kinds) :]
        cursor = Cursor(position, BlockId(*reference) if reference else None)  # type: ignore[arg-type]
        if _encode(scope, *cursor) != text:
            raise ValueError
    except ValueError:
        raise InvalidParameter(INVALID, field="cursor") from None
    return cursor


def _value(kind: Kind, text: str) -> Value:
    """Read a value. Raises ValueError for another type, or one out of range."""
    if kind is SORTED_TEXT:
        if not _HEX.match(text) or len(text) > 2 * kind.most + 1:
            raise ValueError
        content = bytes.fromhex(text[1:])
        if "\0" in content.decode():  # UnicodeDecodeError is a ValueError
            raise ValueError
        return content
    if kind.type is bytes:
        sizes = {kind.most, ADDRESS.most if kind is POOL else kind.most}
        if not _HEX.match(text) or len(text) not in {2 * size + 1 for size in sizes}:
            raise ValueError
        return bytes.fromhex(text[1:])
    if not _NUMBER.match(text) or int(text) > kind.most:
        raise ValueError
    return int(text)


def newest_common_block(reader: Reader, block: BlockId) -> BlockId | None:
    """Return the block itself where it is in the chain, or the newest block before an orphaned one
    that is, which is not stored if it precedes the first indexed one; None for a block that is not
    known, or no longer."""
    return BlockId.of(*reader.row("queries/blocks_get_newest_common", **block._asdict()))


# A replica that is behind may still have the other branch here.
UNSETTLED_BLOCKS = 64
RETRY_AFTER_S = 1


class RowEnds(NamedTuple):
    """The numbers of rows of each kind up to a block; `blocks` is the number of the next block."""

    blocks: int
    transactions: int
    token_transfers: int
    internal_transfers: int
    dex_trades: int
    logs: int

    def of(self, entity: str) -> int:
        """Return the ordinal of an entity's first row after the block."""
        counted: Mapping[str, int] = self._asdict()
        return counted.get(entity, self.blocks << PLACE_BITS)


def require_same_chain(
    reader: Reader,
    traversal: Traversal,
    seen: BlockId | None,
    position_at: Callable[[RowEnds], Sequence[Value]],
) -> None:
    """Raise Reorganised where a fork has removed the cursor's block; Unavailable where this index
    may only be behind.

    `seen` is what the statement returned for `seen_block`; `position_at` returns the position from
    which the list continues for a client that has dropped the rows above a block.
    """
    cursor = traversal.cursor
    if cursor is None or cursor.newest is None or seen == cursor.newest:
        return
    common = common_block(reader, cursor.newest)
    ends = reader.row("queries/blocks_get_row_ends", **common._asdict())
    reader.do_not_cache()
    following = None
    if ends[0] is not None:
        following = traversal.restart(position_at(RowEnds(*ends)), common)
    raise Reorganised(
        "A fork took blocks that this cursor stands on: drop what is of blocks above commonBlock,"
        " and go on with the cursor of this response.",
        common,
        following,
    )


def common_block(reader: Reader, block: BlockId) -> BlockId:
    """Return newest_common_block(), of an unknown branch the oldest block, the only one that is
    certainly common; raises Unavailable where this index may only be behind."""
    if (common := newest_common_block(reader, block)) is not None:
        return common
    oldest, newest = reader.row("queries/blocks_get_ends")
    if newest is None or block.number > newest - UNSETTLED_BLOCKS:
        of_cursor = f"Block {block.number} of this cursor"
        reason = f"{of_cursor} is not indexed here yet, or was taken by a fork."
        raise Unavailable(f"{reason} Try again shortly.", retry_after_s=RETRY_AFTER_S)
    [block_hash] = reader.row("queries/blocks_get_hash", number=oldest)
    if block_hash is None:
        raise Unavailable("The chain is being reorganised.", retry_after_s=RETRY_AFTER_S)
    return BlockId(oldest, bytes(block_hash))


def ordinal_at(
    reader: Reader,
    entity: str,
    block_number: int,
    row_index: int,
    *,
    transaction_index: int = 0,
    batch_index: int = 0,
) -> int:
    """Return the ordinal of a row, or of the next one where there is none; `row_index` is the index
    of a transaction or log in its block, of an internal transfer in its transaction."""
    (ordinal,) = reader.row(
        "queries/ordinals_get",
        entity=entity,
        block_number=block_number,
        transaction_index=transaction_index,
        row_index=row_index,
        batch_index=batch_index,
    )
    return int(ordinal)
