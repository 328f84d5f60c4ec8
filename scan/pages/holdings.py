"""The tab of an address with the tokens that it holds, or held after a block or at a day's end."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from scan import parameters
from scan.errors import InvalidParameter, Unavailable
from scan.ethereum.block_parameter import BlockId
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.pages.filtered_lists import UNORDERED, Field, FilteredList, filtered_list
from scan.pages.hooks import TabList
from scan.queries import addresses, blocks, holdings
from scan.queries.holdings import TooManyTokens, WorthPage
from scan.queries.pages import Page, Window
from scan.queries.prices import UnitPrices, unit_prices

FIELDS = (
    Field("timeTo", "At the end of (UTC)", "day"),
    Field("block", "After block", "number"),
)


def holdings_tab(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
    """Return the list; `at` is the block that it is of, None for the newest."""
    own = to_hex(key)
    read: list[BlockId] = []
    path, api_path = f"/address/{own}", f"/addresses/{own}/tokens"
    page_of = partial(_page, key, read)
    shown = filtered_list(path, api_path, FIELDS, page_of, tab="tokens", paging=UNORDERED)
    at = read[0].number if read else None
    if at is not None:
        shown = replace(shown, api_arguments={"block": str(at)})
    elif isinstance(shown.source, WorthPage):
        shown = replace(shown, api_arguments={"sort": "worth"})
    return shown, {"at": None if at is None else json.loads(blocks.get(reader(), at) or "null")}


def first_page(shown: TabList, values: Mapping[str, Any], rows: int) -> Page | None:
    """Return the list's page where it begins with the `rows` largest of the newest holdings."""
    source = shown.source
    if source is None or values["at"] is not None or shown.number > 1 or shown.cursor:
        return None
    return source if source.count >= rows or source.next is None else None


def tokens_held(
    key: bytes, window: Window, prices: UnitPrices | None, most: int | None = None
) -> Page:
    """Return the tokens held, by worth where there are prices, no more than `most` tokens, and,
    for many, a place for their read."""
    if prices is not None:
        try:
            return holdings.tokens_by_worth(reader(), key, window, prices, most)
        except TooManyTokens:
            pass
        except Unavailable:
            reader().do_not_cache()
    return addresses.tokens_held(reader(), key, window)


def _page(key: bytes, read: list[BlockId], window: Window, given: Mapping[str, str]) -> Page:
    block = _block(window, given)
    if block is None:
        return tokens_held(key, window, unit_prices(reader()))
    read.append(block)
    return addresses.tokens_held_at(reader(), key, window._replace(time_to=None), block)


def _block(window: Window, given: Mapping[str, str]) -> BlockId | None:
    """Return the block that the form names; raises InvalidParameter, NotFound."""
    if "block" in given:
        if window.time_to is not None:
            raise InvalidParameter("block: give a day or a block, not both.", field="block")
        return blocks.find(reader(), parameters.block_number_or_hash(given["block"]))
    if window.time_to is None:
        return None
    record = blocks.at_time(reader(), window.time_to)
    if record is None:
        raise reader().not_indexed("No block at or before this day is indexed.")
    newest = json.loads(record)
    return BlockId(newest["number"], data(newest["hash"], 32))
