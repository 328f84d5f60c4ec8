"""The price of gas: base fees of the newest blocks and of the next one (EIP-1559), tips, suggested
fees, and what common actions cost.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.extensions.chain_statistics import statistics
from scan.queries.reader import Reader

BLOCKS = 20
PERCENTILES = {"slow": 10, "standard": 50, "fast": 90}
ACTIONS = ("transfer", "tokenTransfer", "swap", "mint")
EXPLAINED = 8  # the newest blocks whose base fees tell a chain's parameters of EIP-1559

Json = dict[str, Any]


class BlockGas(NamedTuple):
    base_fee: int | None
    used: int
    limit: int


class Parameters(NamedTuple):
    """A chain's parameters of EIP-1559: the limit over the target, and the base fee over its
    largest change."""

    elasticity: int
    change_denominator: int


ETHEREUM, OP_STACK, POLYGON = Parameters(2, 8), Parameters(6, 250), Parameters(2, 64)
KNOWN = (ETHEREUM, OP_STACK, POLYGON, Parameters(6, 50), Parameters(10, 50), Parameters(2, 16))


def price(reader: Reader) -> Json:
    """Return the answer of /gas; amounts are texts, None where the newest blocks show none."""
    (text,) = reader.row("queries/gas_get", blocks=BLOCKS)
    answer = json.loads(text)
    blocks = answer["blocks"]
    newest = [*map(gas_of, blocks)]
    following = next_base_fee(newest)
    base_fee = following if following is not None else newest[0].base_fee if newest else None
    suggestions = _suggestions(answer["tips"], base_fee)
    span_s, contracts = reader.sources.get(statistics.LargestByGas).read(reader)
    standard = suggestions["standard"]["gasPrice"] if suggestions else None
    return {
        "blockNumber": blocks[0]["number"] if blocks else None,
        "baseFeePerGas": blocks[0]["baseFeePerGas"] if blocks else None,
        "nextBaseFeePerGas": None if following is None else str(following),
        "transactions": answer["transactions"],
        "suggestions": suggestions,
        "costs": [_cost(action, answer["gas"][action], standard) for action in ACTIONS],
        "blocks": [
            {
                "number": block["number"],
                "timestamp": block["timestamp"],
                "baseFeePerGas": block["baseFeePerGas"],
                "gasUsedRatio": round(gas.used / gas.limit, 4) if gas.limit else 0.0,
            }
            for block, gas in zip(blocks, newest, strict=True)
        ],
        "contractsSeconds": span_s,
        "contracts": [
            {
                "address": called["address"],
                "transactions": called["transactions"],
                "gasUsed": str(called["gasUsed"]),
            }
            for called in contracts
        ],
    }


def gas_of(block: Json) -> BlockGas:
    """Return the gas of a block's record."""
    base_fee = block["baseFeePerGas"]
    base_fee_wei = None if base_fee is None else int(base_fee)
    return BlockGas(base_fee_wei, int(block["gasUsed"]), int(block["gasLimit"]))


def next_base_fee(newest: Sequence[BlockGas]) -> int | None:
    """Return the base fee after newest[0], by EIP-1559 with the known parameters from which the
    base fees of the newest blocks follow; None where they follow from none, or from several that
    differ in the next one."""
    steps = [*zip(newest[1:EXPLAINED], newest[: EXPLAINED - 1], strict=False)]
    following = {
        _base_fee_after(newest[0], parameters)
        for parameters in KNOWN
        if steps and all(_base_fee_after(b, parameters) == after.base_fee for b, after in steps)
    }
    return following.pop() if len(following) == 1 else None


def _base_fee_after(block: BlockGas, parameters: Parameters) -> int | None:
    target = block.limit // parameters.elasticity
    if block.base_fee is None or target == 0:
        return None
    change = block.base_fee * abs(block.used - target) // target // parameters.change_denominator
    if block.used > target:
        return block.base_fee + max(change, 1)
    return block.base_fee - change


def _suggestions(tips: Sequence[str] | None, base_fee: int | None) -> Json | None:
    """Return suggested fees; a maxFeePerGas of two base fees outlasts six full blocks."""
    if tips is None:
        return None
    return {
        name: {
            "percentile": percentile,
            "maxPriorityFeePerGas": tip,
            "maxFeePerGas": str(2 * (base_fee or 0) + int(tip)),
            "gasPrice": str((base_fee or 0) + int(tip)),
        }
        for (name, percentile), tip in zip(PERCENTILES.items(), tips, strict=True)
    }


def _cost(action: str, gas: str | None, gas_price: str | None) -> Json:
    is_known = gas is not None and gas_price is not None
    cost = str(int(gas or 0) * int(gas_price or 0)) if is_known else None
    return {"action": action, "gas": gas, "cost": cost}
