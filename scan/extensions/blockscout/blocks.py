"""Blocks, their transactions, internal transactions and withdrawals; all withdrawals."""

from typing import Any

import orjson

from scan import parameters, registry
from scan.errors import InvalidParameter, NotFound
from scan.extensions.blockscout.block_objects import (
    blob_fees,
    block_objects,
    withdrawal_objects,
)
from scan.extensions.blockscout.entity_lists import (
    internal_transactions_response,
    transactions_of_kind_response,
    transactions_response,
)
from scan.extensions.blockscout.hooks import Blockscout
from scan.extensions.blockscout.lists import (
    Record,
    before_block,
    first_window,
    list_response,
    one_of,
)
from scan.extensions.blockscout.routing import routes
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.parameters import BIGINT_MAX
from scan.queries import blocks, withdrawals
from scan.queries.pages import Window

KINDS = tuple(
    """
    blob_transaction coin_transfer contract_call contract_creation token_transfer token_creation
    """.split()
)

blueprint = routes("blocks")


@blueprint.path("/blocks")
def list_blocks() -> Response:
    """Return blocks of the chain; lists of uncles and of orphaned blocks are empty."""
    window = before_block()
    if one_of("type", ("block", "uncle", "reorg")) in ("uncle", "reorg"):
        return list_response([], None)
    page = blocks.page(reader(), window)
    records = orjson.loads(page.data)
    following = {"block_number": records[-1]["number"]} if page.next else None
    return list_response(block_objects(records), following)


@blueprint.path("/blocks/<block>")
def get_block(block: str) -> Response:
    record = _indexed(block)
    [shown] = block_objects([record], is_single=True)
    shown |= blob_fees(record)
    if "beacon_deposits_count" in shown:
        counts = (
            part.count_deposits(reader(), record["number"]) for part in registry.parts(Blockscout)
        )
        shown["beacon_deposits_count"] = next((n for n in counts if n is not None), None)
    return json_value(shown)


@blueprint.path("/blocks/<block>/transactions")
def list_transactions(block: str) -> Response:
    kind, window = one_of("type", KINDS), window_of(block)
    if kind is not None:
        return transactions_of_kind_response(window, kind)
    return transactions_response(window)


@blueprint.path("/blocks/<block>/internal-transactions")
def list_internal_transactions(block: str) -> Response:
    return internal_transactions_response(window_of(block), by_type=True)


@blueprint.path("/blocks/<block>/withdrawals")
def list_withdrawals_of_block(block: str) -> Response:
    return _withdrawals(window_of(block))


@blueprint.path("/withdrawals")
def list_withdrawals() -> Response:
    return _withdrawals(first_window())


@blueprint.path("/withdrawals/counters")
def get_withdrawal_counters() -> Response:
    count = str(withdrawals.count(reader()))
    [total] = reader().row("queries/withdrawals_sum", is_unbounded=True)
    return json_value({"withdrawals_count": count, "withdrawals_sum": total})


@blueprint.path("/blocks/<block>/countdown")
def get_countdown(block: str) -> Response:
    target = _number(block)
    countdown = blocks.countdown(reader(), target)
    if countdown is None or not countdown.remaining:
        raise NotFound("This block is indexed already, or no block is.")
    return json_value(
        {
            "current_block_number": str(countdown.newest),
            "countdown_block_number": str(target),
            "remaining_blocks_count": str(countdown.remaining),
            "estimated_time_in_seconds": countdown.seconds,
        }
    )


def _withdrawals(window: Window) -> Response:
    items, following = withdrawal_objects(window)
    return list_response(items, following)


def window_of(block: str) -> Window:
    """Return the window of the rows of a block; raises NotFound, InvalidParameter."""
    number = _indexed(block)["number"]
    return first_window()._replace(block_from=number, block_to=number)


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
