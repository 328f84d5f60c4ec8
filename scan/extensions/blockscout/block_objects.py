"""Blocks and withdrawals as Blockscout shows them."""

from collections.abc import Sequence

from scan.errors import Unavailable
from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.lists import ROWS, Position, Record, number
from scan.extensions.blockscout.objects import Object, renamed
from scan.http.requests import reader
from scan.queries import blocks, withdrawals
from scan.queries.pages import Window


def block_objects(records: Sequence[Record]) -> list[Object]:
    """Return the objects of blocks; raises Unavailable where a fork has removed one meanwhile."""
    sums = blocks.amounts(reader(), [record["number"] for record in records])
    miners = AddressObjects(record["miner"] for record in records)
    try:
        return [_block(record, sums[str(record["number"])], miners) for record in records]
    except KeyError:
        raise Unavailable("The chain is being reorganised.", retry_after_s=1) from None


def _block(record: Record, sums: Record, miners: AddressObjects) -> Object:
    uncles = record.get("uncles", [])
    rewards = [{"type": "Uncle Reward", "reward": uncle["reward"] or "0"} for uncle in uncles]
    if sums["reward"] is not None:  # its rows are kept
        rewards.insert(0, {"type": "Miner Reward", "reward": sums["reward"]})
    return {
        **renamed("block", record | sums, address=miners.of_optional),
        "uncles_hashes": [{"hash": uncle["hash"]} for uncle in uncles],
        "rewards": rewards,
        "type": "block",
    }


def withdrawal_objects(
    window: Window, address: bytes | None = None
) -> tuple[list[Object], Position | None]:
    """Return a page of withdrawals, and the position of the last one where more follow: its index,
    which counts along the chain, and its block, which Blockscout's positions lack."""
    last_block = number("block_number")
    if last_block is not None:
        window = window._replace(block_to=min(window.block_to, last_block))
    window = window._replace(limit=ROWS + 1)
    rows = withdrawals.page(reader(), window, address=address, before_index=number("index"))
    shown = rows[:ROWS]
    receivers = AddressObjects(record["address"] for record in shown)
    items = [renamed("withdrawal", record, address=receivers.of_optional) for record in shown]
    if len(rows) <= ROWS:
        return items, None
    return items, {"index": items[-1]["index"], "block_number": items[-1]["block_number"]}
