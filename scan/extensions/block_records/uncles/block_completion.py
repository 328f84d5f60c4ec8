"""Uncles of blocks with proof of work, read from a node, and rewards, to a block's miner and to its
uncles' miners.

Ethereum, until the merge: the Yellow Paper, section 11.3, EIP-649 and EIP-1234. Ethereum Classic:
ECIP-1017. A chain that is not in REWARDS pays none, as far as Scan knows.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.ethereum import block_encoding, block_hashing
from scan.ethereum.blocks import DecodedBlock, MalformedBlock, Uncle, UncleJson, read_json
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.ethereum.forms.form import MINING_REWARD, PLACE_BITS, UNCLE_REWARD, numbered
from scan.hex import BadHex, data, quantity, to_hex
from scan.indexer.hooks import BlockCompletion

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


def distance_reward(reward: int, number: int, uncle_number: int) -> int:
    return max(uncle_number + MOST_KINSHIP - number, 0) * reward // MOST_KINSHIP


def classic_uncle(number: int, uncle_number: int) -> int:
    reward = classic(number)
    is_first_era = number <= ERA_BLOCKS
    return distance_reward(reward, number, uncle_number) if is_first_era else reward // NEPHEW_SHARE


REWARDS: Mapping[int, Rewards] = {
    1: Rewards(ethereum, lambda number, uncle: distance_reward(ethereum(number), number, uncle)),
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
    miner_reward = reward + uncle_count * (reward // NEPHEW_SHARE)
    uncle_rewards = [
        (None, UNCLE_REWARD, u.miner, rewards.of_uncle(block.number, u.uncle_number))
        for u in uncles
    ]
    return [(None, MINING_REWARD, block.miner, miner_reward), *uncle_rewards]


log = logging.getLogger(__name__)

READS = 4  # of uncles that contradict the header, before the block is refused
MAX_UNCLES = 16  # of a block; Ethereum has two at most
UNCLES = "uncles, their number, and the block's size"


class BlockCompleter:
    """Completes blocks, and remembers whether the node offers uncles."""

    def __init__(self, node: Node, chain_id: Callable[[], int]) -> None:
        self._node = node
        self._chain_id = chain_id  # raises NodeError
        self._has_uncles = True

    def complete(self, block: DecodedBlock, header: Any) -> DecodedBlock:
        """Return the block with its uncles and mining rewards.

        `header` is a struct. Where it does not match its hash, no uncles are read, as they could
        not be checked. Raises NodeError, and MalformedBlock as headers() does.
        """
        if block.withdrawals or not is_mined(header):
            return block
        count = len(header.uncles or ())
        if not (count or self._chain_id() in REWARDS) or not block_hashing.has_its_hash(header):
            return block
        uncles = self.headers(block, header) if self._has_uncles else ()
        block = completed(block, self._chain_id(), count, uncles)
        if not count:
            return block
        if not uncles:
            return block._replace(unproven=UNCLES)
        encoded = [block_encoding.encode_header(uncle) for uncle in uncles]
        transactions = block_encoding.encode_transactions(header.transactions)
        return block._replace(size=block_encoding.block_size(header, transactions, encoded))

    def headers(self, block: DecodedBlock, header: Any) -> Sequence[Any]:
        """Return the headers of the uncles, checked by sha3Uncles of the header; () where the node
        does not offer uncles. Raises MalformedBlock where every node has other ones, NodeError."""
        count = len(header.uncles or ())
        if not count:
            return ()
        calls = [
            Call("eth_getUncleByBlockHashAndIndex", (to_hex(block.hash), hex(index)))
            for index in range(min(count, MAX_UNCLES))
        ]
        for _ in range(READS):
            answers = self._node.batch(calls)
            for answer in answers:
                if isinstance(answer, RpcError) and answer.is_missing_method:
                    log.warning("the node offers no uncles: %s", answer)
                    self._has_uncles = False
                    return ()
                if answer is None or isinstance(answer, RpcError):
                    raise NodeError(f"the node lacks an uncle of block {block.number}: {answer}")
            with suppress(ValueError, TypeError, MalformedBlock):
                headers = [read_json(answer, UncleJson, block.number) for answer in answers]
                if block_hashing.uncles_hash(headers) == data(header.sha3Uncles, 32):
                    _uncles_of(block, headers)
                    return headers
            self._node.rest()  # another node may have them right
        raise MalformedBlock(f"block {block.number} contradicts itself (uncles and sha3Uncles)")


def completed(
    block: DecodedBlock, chain_id: int, uncle_count: int, headers: Sequence[Any]
) -> DecodedBlock:
    """Return the block with its uncles and mining rewards. `headers` of uncles may be empty where
    only their number is known. Raises BadHex."""
    if not uncle_count and chain_id not in REWARDS:
        return block
    uncles = _uncles_of(block, headers)
    credits = mining_credits(chain_id, block, uncle_count, uncles)
    of_miners = numbered(block, credits, len(block.credits))
    return block._replace(uncles=uncles, credits=(*block.credits, *of_miners))


def _uncles_of(block: DecodedBlock, headers: Sequence[Any]) -> tuple[Uncle, ...]:
    return tuple([_uncle(block, *entry) for entry in enumerate(headers)])


def _uncle(block: DecodedBlock, index: int, header: Any) -> Uncle:
    number, timestamp_s = quantity(header.number), quantity(header.timestamp)
    if max(number, timestamp_s) >= 2**63:
        raise BadHex("a number of an uncle is beyond 63 bits")
    return Uncle(
        ordinal=(block.number << PLACE_BITS) + 1 + index,
        block_number=block.number,
        uncle_number=number,
        hash=block_hashing.header_hash(header),
        miner=data(header.miner, 20),
        timestamp_s=timestamp_s,
    )


def is_mined(header: Any) -> bool:
    with suppress(BadHex, TypeError):
        return quantity(header.difficulty) > 0
    return False  # the header has another form


HOOKS = BlockCompletion(completer=BlockCompleter)
