"""Access lists (EIP-7928) of blocks whose transfers no log proves, read from the node."""

import logging
from typing import Any

from scan.ethereum.block_access_lists import BalanceChanges, balance_changes, encode_access_list
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.client import MAX_ANSWER_BYTES, Call, Node, NodeError, RpcError
from scan.hex import data, to_hex
from scan.indexer.block_traces import TracedBlock

log = logging.getLogger(__name__)

TIMEOUT_S = 5.0
# By the names of clients: execution-apis', reth's, and anvil's.
METHODS = (
    "debug_getRawBlockAccessList",
    "eth_getBlockAccessListRaw",
    "eth_getBlockAccessList",
    "eth_getBlockAccessListByBlockHash",
    "eth_getBlockAccessListByBlockNumber",
)
BY_NUMBER = "eth_getBlockAccessListByBlockNumber"
INVALID_PARAMETERS = -32602  # of a client whose method takes a number alone
NOT_BEFORE_THE_FORK = 4445  # Erigon's, before execution-apis had -32001
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)


class AccessLists:
    """Reads lists, and remembers which methods the node offers."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._methods: tuple[str, ...] = METHODS
        self._take_numbers = {BY_NUMBER}

    def read(self, block: DecodedBlock, traced: TracedBlock) -> BalanceChanges:
        """Return the balances that the block's transactions changed; none where the node has no
        list with the header's hash, and where logs prove the transfers, as on Ethereum."""
        hash_ = block.block_access_list_hash
        if hash_ is None or block.coin_logs or not traced.transfers:
            return {}
        for method in self._methods:
            try:
                answer = self._ask(method, block)
                if isinstance(answer, RpcError):
                    if answer.is_missing_block or answer.code == NOT_BEFORE_THE_FORK:
                        break  # the node has no such list, whatever the method
                    continue
                raw = data(answer) if isinstance(answer, str) else encode_access_list(answer)
                changes = balance_changes(raw, hash_)
            except NodeError as error:
                log.info("the access list of block %d is not known: %s", block.number, error)
                break
            except _MALFORMED as error:
                log.info("%s has no list of block %d: %s", method, block.number, error)
                continue
            self._methods = (method, *(name for name in self._methods if name != method))
            return changes
        return {}

    def _ask(self, method: str, block: DecodedBlock) -> Any:
        """Return the result of a method, or its error; remember if the node does not offer it, or
        takes a block's number alone."""
        by_number = method in self._take_numbers
        parameter = hex(block.number) if by_number else to_hex(block.hash)
        [answer] = self._node.results([Call(method, (parameter,))], TIMEOUT_S, MAX_ANSWER_BYTES)
        if isinstance(answer, RpcError):
            if answer.is_missing_method:
                self._methods = tuple(name for name in self._methods if name != method)
            elif answer.code == INVALID_PARAMETERS and not by_number:
                self._take_numbers.add(method)
                return self._ask(method, block)
        return answer
