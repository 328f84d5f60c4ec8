"""Blocks and withdrawals as Blockscout shows them.

Blocks, their transactions, internal transactions and withdrawals; all withdrawals.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from scan import parameters, registry
from scan.errors import InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum.client import Call
from scan.extensions.blockscout import hooks, transaction_lists
from scan.extensions.blockscout.address_and_token_objects import AddressObjects
from scan.extensions.blockscout.paths import (
    Object,
    Record,
    Routes,
    before_block,
    first_window,
    list_response,
    number,
    one_of,
    renamed,
    row_count,
)
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries import blocks
from scan.queries.list_pages import Window

NO_NONCE = "0x0000000000000000"  # of a block that nobody mined (EIP-3675)
MERGES = {"1": 15_537_394}  # the first of those, by the chain's id
TIMEOUT_S = 1.5
# The words for what a reward is for: in lists, and of one block.
VALIDATOR, UNCLE = ("validator", "Miner Reward"), ("uncle", "Uncle Reward")


def block_objects(records: Sequence[Record], *, is_single: bool = False) -> list[Object]:
    """Return the objects of blocks; raises Unavailable where a fork has removed one meanwhile."""
    numbers = [record["number"] for record in records]
    amounts = blocks.amounts(reader(), numbers)
    miners = AddressObjects(record["miner"] for record in records)
    nonces = _nonces(records, amounts)
    with_blobs = [r["number"] for r in records if r["blobGasUsed"] not in (None, "0")]
    blob_counts: dict[str, int] = {}
    if with_blobs:
        blob_counts = orjson.loads(reader().row("queries/blocks_list_blobs", numbers=with_blobs)[0])
    try:
        return [
            {
                **_block(record, amounts[str(record["number"])], miners, is_single=is_single),
                "nonce": nonces.get(record["number"]),
                **_blob_fields(record, blob_counts.get(str(record["number"]), 0)),
            }
            for record in records
        ]
    except KeyError:
        raise Unavailable("The chain is being reorganised.", retry_after_s=1) from None


def _block(record: Record, sums: Record, miners: AddressObjects, *, is_single: bool) -> Object:
    uncles = record.get("uncles", [])
    rewards = [] if sums["reward"] is None else [(VALIDATOR, sums["reward"])]  # else not kept
    rewards += [(UNCLE, uncle["reward"] or "0") for uncle in uncles]
    return {
        **renamed("block", record | sums, address=miners.of_optional),
        "uncles_hashes": [{"hash": uncle["hash"]} for uncle in uncles],
        "rewards": [{"type": words[is_single], "reward": reward} for words, reward in rewards],
        "type": "block",
    }


def _nonces(records: Sequence[Record], amounts: Mapping[str, Record]) -> dict[int, str]:
    """Return the blocks' nonces by number: those of mined blocks are the node's, if it answers.
    A block with withdrawals or gas for blobs is none, even where it has no rows of them."""
    merge = MERGES.get(str(reader().sources.chain_id.read()), parameters.BIGINT_MAX)
    nonces = {
        r["number"]: NO_NONCE
        for r in records
        if r["number"] >= merge
        or r["excessBlobGas"] is not None
        or amounts.get(str(r["number"]), {}).get("withdrawals") is not None
    }
    mined = [record for record in records if record["number"] not in nonces]
    calls = [Call("eth_getBlockByHash", (record["hash"], False)) for record in mined]
    try:
        answers = reader().node.within(TIMEOUT_S).results(calls)
    except (UpstreamFailed, Unavailable):
        answers = []
    read_nonces = {
        record["number"]: answer["nonce"]
        for record, answer in zip(mined, answers, strict=False)
        if isinstance(answer, dict) and isinstance(answer.get("nonce"), str)
    }
    if len(read_nonces) < len(mined):
        reader().do_not_cache()
    return nonces | read_nonces


def _blob_fields(record: Record, transactions_count: int) -> Object:
    """Return the fields of blocks with gas for blobs; blocks of other chains lack them."""
    if record["blobGasUsed"] is None:
        return {}
    return {
        "blob_transactions_count": transactions_count,
        "blob_gas_used": record["blobGasUsed"],
        "excess_blob_gas": record["excessBlobGas"],
        "beacon_deposits_count": None,
    }


def withdrawals_response(window: Window, address: bytes | None = None) -> Response:
    """Return a page of withdrawals. Its position is the index of the last one, which counts along
    the chain, and its block, which Blockscout's positions lack."""
    last_block = number("block_number")
    if last_block is not None:
        window = window._replace(block_to=min(window.block_to, last_block))
    most = row_count()
    window = window._replace(limit=most + 1)
    rows = blocks.withdrawals_page(reader(), window, address=address, before_index=number("index"))
    listed: list[dict[str, Any]] = rows[:most]
    receivers = AddressObjects(record["address"] for record in listed)
    items = [renamed("withdrawal", record, address=receivers.of_optional) for record in listed]
    if len(rows) <= most:
        return list_response(items, None)
    following = {"index": items[-1]["index"], "block_number": items[-1]["block_number"]}
    return list_response(items, following)


KINDS = """
    blob_transaction coin_transfer contract_call contract_creation token_transfer token_creation
""".split()

blueprint = Routes("blocks")


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
    [fields] = block_objects([record], is_single=True)
    if record["blobGasUsed"] is not None:
        counts = (
            part.count_deposits(reader(), record["number"])
            for part in registry.parts(hooks.Blockscout)
        )
        fields |= {
            "beacon_deposits_count": next((n for n in counts if n is not None), None),
            "blob_gas_price": record["blobBaseFee"],
            "burnt_blob_fees": record["blobFees"] or "0",
        }
    return json_value(fields)


@blueprint.path("/blocks/<block>/transactions")
def list_transactions(block: str) -> Response:
    kind, window = one_of("type", KINDS), window_of(block)
    return transaction_lists.transactions_response(window, kind)


@blueprint.path("/blocks/<block>/internal-transactions")
def list_internal_transactions(block: str) -> Response:
    return transaction_lists.internal_transactions_response(window_of(block), by_type=True)


@blueprint.path("/blocks/<block>/withdrawals")
def list_withdrawals_of_block(block: str) -> Response:
    return withdrawals_response(window_of(block))


@blueprint.path("/withdrawals")
def list_withdrawals() -> Response:
    return withdrawals_response(first_window())


@blueprint.path("/withdrawals/counters")
def get_withdrawal_counters() -> Response:
    count = str(blocks.count(reader()))
    [total] = reader().row("queries/withdrawals_sum", is_unbounded=True)
    return json_value({"withdrawals_count": count, "withdrawals_sum": total})


@blueprint.path("/blocks/<block>/countdown")
def get_countdown(block: str) -> Response:
    target = parameters.block_number_or_hash(block)
    if isinstance(target, bytes) or target > parameters.BIGINT_MAX:
        raise InvalidParameter("The block must be a number.", field="block_number_param")
    countdown = blocks.countdown(reader(), target)
    if countdown is None or not countdown.remaining:
        raise NotFound("This block is indexed already, or no block is.")
    return json_value(renamed("countdown", countdown._asdict() | {"target": target}))


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
