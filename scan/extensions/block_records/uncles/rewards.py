"""Rewards for proof of work, to a block's miner and to its uncles' miners. Pure.

Ethereum, until the merge: the Yellow Paper, section 11.3, EIP-649 and EIP-1234. Ethereum Classic:
ECIP-1017. A chain that is not in REWARDS pays none, as far as Scan knows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.ethereum.forms.form import MINING_REWARD, UNCLE_REWARD

WEI = 10**18
BYZANTIUM, CONSTANTINOPLE = 4_370_000, 7_280_000  # block numbers of Ethereum
ERA_BLOCKS = 5_000_000  # blocks of an era of Ethereum Classic
NEPHEW_SHARE = 32  # a miner gets 1/32 of the reward more for each included uncle
MOST_KINSHIP = 8  # an uncle's reward falls by 1/8 with each block between it and its nephew


class Rewards(NamedTuple):
    """Functions of a chain: the reward of a block by its number, and the reward of an uncle by the
    numbers of the block and of the uncle, in wei."""

    of_block: Callable[[int], int]
    of_uncle: Callable[[int, int], int]


def ethereum(number: int) -> int:
    if number < BYZANTIUM:
        return 5 * WEI
    return 3 * WEI if number < CONSTANTINOPLE else 2 * WEI


def classic(number: int) -> int:
    era = max(number - 1, 0) // ERA_BLOCKS
    return int(5 * WEI * 4**era // 5**era)


def by_distance(reward: int, number: int, uncle_number: int) -> int:
    return max(uncle_number + MOST_KINSHIP - number, 0) * reward // MOST_KINSHIP


def classic_uncle(number: int, uncle_number: int) -> int:
    reward = classic(number)
    is_first_era = number <= ERA_BLOCKS
    return by_distance(reward, number, uncle_number) if is_first_era else reward // NEPHEW_SHARE


REWARDS: Mapping[int, Rewards] = {
    1: Rewards(ethereum, lambda number, uncle: by_distance(ethereum(number), number, uncle)),
    61: Rewards(classic, classic_uncle),
}


def mining_credits(
    chain_id: int, block: Any, uncle_count: int, uncles: Sequence[Any]
) -> list[tuple[None, int, bytes, int]]:
    """Return the rewards of a block's miner and then of its uncles' miners, as the arguments of
    numbered(); none where the chain pays none. `uncles` may be empty where only their number is
    known."""
    rewards = REWARDS.get(chain_id)
    if rewards is None or block.number == 0:
        return []
    reward = rewards.of_block(block.number)
    own = reward + uncle_count * (reward // NEPHEW_SHARE)
    uncle_rewards = [
        (None, UNCLE_REWARD, u.miner, rewards.of_uncle(block.number, u.uncle_number))
        for u in uncles
    ]
    return [(None, MINING_REWARD, block.miner, own), *uncle_rewards]
