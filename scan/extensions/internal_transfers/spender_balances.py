"""The proven balances, before a block, of accounts that spend much inside its transactions."""

import logging
from collections.abc import Mapping

from scan.ethereum.block_parameter import BlockId
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.client import Node, NodeError, RpcError
from scan.ethereum.state_proofs import (
    MOST_ANSWER_BYTES,
    ImproperProof,
    account_call,
    header_call,
    proven_header,
    read_account,
)
from scan.extensions.internal_transfers.trace_checks import large_spenders
from scan.hex import to_hex
from scan.indexer.block_traces import TracedBlock

log = logging.getLogger(__name__)

TIMEOUT_S = 2.0


class SpenderBalances:
    """Reads balances by eth_getProof, and remembers whether the node offers it. A block takes at
    most one request more, of nine calls."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._is_offered = True

    def before(self, block: DecodedBlock, traced: TracedBlock) -> Mapping[bytes, int]:
        """Return the balances in wei that the node proves, by address. Accounts of which it proves
        none are missing, since it may lack the state: their transfers stay what the node says."""
        spenders = large_spenders(block, traced.transfers) if self._is_offered else []
        if not spenders:
            return {}
        parent = BlockId(block.number - 1, block.parent_hash)
        calls = [header_call(parent), *(account_call(address, parent) for address in spenders)]
        balances = {}
        try:
            header, *proofs = self._node.results(calls, TIMEOUT_S, MOST_ANSWER_BYTES)
            encoded = proven_header(parent, header)
            for address, proof in zip(spenders, proofs, strict=True):
                if isinstance(proof, RpcError):
                    self._is_offered = not proof.is_missing_method
                else:
                    account = read_account(address, parent, encoded, proof)
                    balances[address] = account.balance
        except (NodeError, ImproperProof) as error:
            spender = to_hex(spenders[0])
            log.info("what %s has before block %d is not proven: %s", spender, block.number, error)
        return balances
