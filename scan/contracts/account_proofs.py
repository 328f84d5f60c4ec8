"""Accounts proven against a block's stateRoot, read from the node and cached."""

import time

from scan.errors import UpstreamFailed
from scan.ethereum import past_state
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.ethereum.sized_cache import SizedCache
from scan.ethereum.state_proofs import (
    MOST_ANSWER_BYTES,
    ImproperProof,
    ProvenAccount,
    account_call,
    header_call,
    proven_header,
    read_account,
)

CACHE_BYTES = 8 * 1024 * 1024
ENTRY_BYTES = 1000  # beside the nodes of the proof
TRY_AGAIN_S = 300.0
NOT_OFFERED = "The node does not offer proofs (eth_getProof)."


class AccountProofs:
    """Proven accounts by address, slot and block hash; the node is asked once for each, and once
    for the header of each block."""

    def __init__(self) -> None:
        self._accounts: SizedCache[ProvenAccount] = SizedCache(CACHE_BYTES)
        self._headers: SizedCache[bytes] = SizedCache(CACHE_BYTES)
        self._not_offered_until = 0.0

    def read(
        self, node: NodeSession, address: bytes, block: BlockId, slot: int | None = None
    ) -> ProvenAccount:
        """Return an account after a block, with a slot of its storage if one is given.

        Raises HistoryUnavailable where the node does not keep that state, UpstreamFailed where it
        has no proof of it, and the errors of NodeSession.
        """
        key = (address, slot, block.hash)
        account = self._accounts.get(key)
        if account is None:
            account = self._read(node, address, block, slot)
            nodes = (*account.proof, *(account.slot.proof if account.slot else ()))
            self._accounts.store(key, account, ENTRY_BYTES + sum(map(len, nodes)))
        return account

    def _read(
        self, node: NodeSession, address: bytes, block: BlockId, slot: int | None
    ) -> ProvenAccount:
        if time.monotonic() < self._not_offered_until:
            raise UpstreamFailed(NOT_OFFERED)
        header = self._headers.get(block.hash)
        calls: list[Call] = [] if header else [header_call(block)]
        calls = [account_call(address, block, slot), *calls]
        proof, *headers = past_state.read(node, block, calls, MOST_ANSWER_BYTES)
        if isinstance(proof, RpcError):
            raise self._refusal(proof)
        try:
            header = header or proven_header(block, *headers)
            account = read_account(address, block, header, proof, slot)
        except ImproperProof as error:
            raise UpstreamFailed(f"The node does not prove this account: {error}.") from None
        self._headers.store(block.hash, header, ENTRY_BYTES + len(header))
        return account

    def _refusal(self, error: RpcError) -> UpstreamFailed:
        if not error.is_missing_method:
            return UpstreamFailed(f"The node gives no proof of this account: {error.message}.")
        self._not_offered_until = time.monotonic() + TRY_AGAIN_S
        return UpstreamFailed(NOT_OFFERED)
