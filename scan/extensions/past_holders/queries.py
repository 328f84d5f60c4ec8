"""The list of a token's holders after a block, or the newest one at a time: which block that is,
and its pages."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import orjson

from scan.errors import NotFound, Reorganised
from scan.ethereum.served_chain import BlockId
from scan.extensions.past_holders import ways
from scan.extensions.past_holders.holder_files import HolderFile, HolderFiles, RequestedHolders
from scan.queries import blocks, cursors, tokens
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

MAX_IDS = 10_000  # on a page


class HolderLists(tokens.PastHolders):
    """The holders of tokens after older blocks."""

    is_there = True

    def __init__(self, files: HolderFiles) -> None:
        self._files = files

    def open(
        self, reader: Reader, token: bytes, past: tokens.Past, cursor: str | None
    ) -> tokens.PastHolderList:
        scope = {"token": token, **past._asdict()}
        begun = Window(1, 0, cursor=cursor).traversal("past holders", scope).cursor
        if begun is not None:
            assert begun.newest is not None
            block = begun.newest
            if blocks.hash_at(reader, block.number) != block.hash:
                raise Reorganised(
                    "A fork took the block of this list: begin without the cursor.",
                    cursors.common_block(reader, block),
                    None,
                )
        elif isinstance(past.block, int) and past.block < reader.first_block:
            _way(reader, token, past.block)
            return HolderList(None, BlockId(past.block, bytes(32)), scope)
        else:
            block = _block(reader, past)
        way = _way(reader, token, block.number)
        rows, _ = way.rows(block.number)
        requested = RequestedHolders(token, block, way.form, rows, reader.first_block)
        return HolderList(self._files.get(reader, requested), block, scope, way.has_ids)


def _way(reader: Reader, token: bytes, number: int) -> ways.Way:
    return ways.way_of(
        reader.row(ways.STATEMENT, address=token, block_number=number), reader.first_block
    )


def _block(reader: Reader, past: tokens.Past) -> BlockId:
    """Return the block; raises NotFound."""
    if past.block is not None:
        return blocks.find(reader, past.block)
    assert past.time_s is not None
    number = blocks.nearest(reader, past.time_s).before
    if number is None:
        raise NotFound("No block is indexed at or before this time.", field="timeTo")
    return blocks.find(reader, number)


class HolderList:
    """The list after a block; without a file it is empty."""

    def __init__(
        self,
        file: HolderFile | None,
        block: BlockId,
        scope: Mapping[str, object],
        has_ids: bool = False,
    ) -> None:
        self._file, self._block, self._scope, self.has_ids = file, block, scope, has_ids

    def page(self, window: Window) -> Page:
        """Return a page of holders, of NFTs with their `items`. One ends early at MAX_IDS of these,
        and the next begins with the others of the same holder."""
        return self._page(window, is_by_holder=self.has_ids)

    def page_of_rows(self, window: Window) -> Page:
        """Return a page with a record for each holder, or of NFTs for each id of a holder."""
        return self._page(window, is_by_holder=False)

    def _page(self, window: Window, *, is_by_holder: bool) -> Page:
        traversal = window._replace(time_to=None).traversal("past holders", self._scope)
        file = self._file
        if file is None:
            return Page("[]", 0, 0)
        [after] = traversal.position(1)
        first = file.first_row(window.offset) if after is None else int(after)
        if is_by_holder:
            records, rows = _by_holder(file, first, window.limit)
        else:
            records = [*islice(file.read(first), window.limit)]
            rows = len(records)
        end = first + rows
        cursor = traversal.next((end,), self._block) if rows and end < file.rows else None
        return Page(orjson.dumps(records).decode(), len(records), file.holders, cursor)


def _by_holder(file: HolderFile, first: int, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the records of holders from a row on, and the number of rows that they are made of."""
    records: list[dict[str, Any]] = []
    rows = 0
    for row in islice(file.read(first), MAX_IDS):
        if not records or records[-1]["address"] != row["address"]:
            if len(records) == limit:
                break
            records.append({"address": row["address"], "balance": row["balance"], "items": []})
        records[-1]["items"].append({"tokenId": row["tokenId"], "balance": row["amount"]})
        rows += 1
    return records, rows
