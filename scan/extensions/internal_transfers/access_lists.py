"""Access lists (EIP-7928) of blocks whose transfers no log proves, read from the node."""

import logging

from scan.ethereum.block_access_lists import BalanceChanges, balance_changes, encode_access_list
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.client import MAX_ANSWER_BYTES, Call, Node, NodeError, RpcError
from scan.hex import data, to_hex
from scan.indexer.block_traces import TracedBlock

log = logging.getLogger(__name__)

TIMEOUT_S = 5.0
METHODS = ("debug_getRawBlockAccessList", "eth_getBlockAccessListRaw", "eth_getBlockAccessList")
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)


class AccessLists:
    """Reads lists, and remembers which methods the node offers."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._methods: tuple[str, ...] = METHODS

    def read(self, block: DecodedBlock, traced: TracedBlock) -> BalanceChanges:
        """Return the balances that the block's transactions changed; none where the node has no
        list with the header's hash, and where logs prove the transfers, as on Ethereum."""
        hash_ = block.block_access_list_hash
        if hash_ is None or block.coin_logs or not traced.transfers:
            return {}
        for method in self._methods:
            try:
                call = Call(method, (to_hex(block.hash),))
                [answer] = self._node.results([call], TIMEOUT_S, MAX_ANSWER_BYTES)
                if isinstance(answer, RpcError):
                    if answer.is_missing_method:
                        self._methods = tuple(name for name in self._methods if name != method)
                    continue
                raw = data(answer) if isinstance(answer, str) else encode_access_list(answer)
                return balance_changes(raw, hash_)
            except (NodeError, *_MALFORMED) as error:
                log.info("the access list of block %d is not known: %s", block.number, error)
        return {}
