"""Blocks, their transactions, internal transactions and withdrawals; all withdrawals."""

from typing import Any

import orjson

from scan import parameters
from scan.errors import InvalidParameter, NotFound
from scan.extensions.blockscout.block_objects import block_objects, withdrawal_objects
from scan.extensions.blockscout.entity_lists import (
    internal_transactions_response,
    transactions_response,
)
from scan.extensions.blockscout.lists import ROWS, Record, before_block, list_response, one_of
from scan.extensions.blockscout.routing import routes
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.parameters import BIGINT_MAX
from scan.queries import blocks, withdrawals
from scan.queries.pages import Window

blueprint = routes("blocks")


@blueprint.path("/blocks")
def list_blocks() -> Response:
    """Return blocks of the chain; lists of uncles and of orphaned blocks are empty."""
    if one_of("type", ("block", "uncle", "reorg")) in ("uncle", "reorg"):
        return list_response([], None)
    page = blocks.page(reader(), before_block())
    records = orjson.loads(page.data)
    following = {"block_number": records[-1]["number"]} if page.next else None
    return list_response(block_objects(records), following)


@blueprint.path("/blocks/<block>")
def get_block(block: str) -> Response:
    [shown] = block_objects([_indexed(block)])
    return json_value(shown)


@blueprint.path("/blocks/<block>/transactions")
def list_transactions(block: str) -> Response:
    return transactions_response(window_of(block))


@blueprint.path("/blocks/<block>/internal-transactions")
def list_internal_transactions(block: str) -> Response:
    return internal_transactions_response(window_of(block))


@blueprint.path("/blocks/<block>/withdrawals")
def list_withdrawals_of_block(block: str) -> Response:
    return _withdrawals(window_of(block))


@blueprint.path("/withdrawals")
def list_withdrawals() -> Response:
    return _withdrawals(Window(ROWS, 0))


@blueprint.path("/withdrawals/counters")
def get_withdrawal_counters() -> Response:
    count = str(withdrawals.count(reader()))
    return json_value({"withdrawals_count": count, "withdrawals_sum": None})


@blueprint.path("/blocks/<block>/countdown")
def get_countdown(block: str) -> Response:
    target = _number(block)
    countdown = blocks.countdown(reader(), target)
    if countdown is None or not countdown.remaining:
        raise NotFound("This block is indexed already, or no block is.")
    return json_value(
        {
            "current_block": countdown.newest,
            "countdown_block": target,
            "remaining_blocks": countdown.remaining,
            "estimated_time_in_sec": float(countdown.seconds),
        }
    )


def _withdrawals(window: Window) -> Response:
    items, following = withdrawal_objects(window)
    return list_response(items, following)


def window_of(block: str) -> Window:
    """Return the window of the rows of a block; raises NotFound, InvalidParameter."""
    number = _indexed(block)["number"]
    return Window(ROWS, 0, block_from=number, block_to=number)


def _indexed(block: str) -> Record:
    record = blocks.get(reader(), parameters.block_number_or_hash(block))
    if record is None:
        raise NotFound("This block is not indexed.")
    parsed: dict[str, Any] = orjson.loads(record)
    return parsed


def _number(text: str) -> int:
    named = parameters.block_number_or_hash(text)
    if isinstance(named, bytes) or named > BIGINT_MAX:
        raise InvalidParameter("The block must be a number.", field="block_number_param")
    return named
