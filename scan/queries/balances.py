"""The balance of an address at the newest indexed block, or at another."""

from collections.abc import Sequence
from typing import NamedTuple

from scan.contracts.account_state import state_of
from scan.errors import UpstreamFailed
from scan.ethereum import past_state
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.client import Call, RpcError
from scan.hex import BadHex, to_hex
from scan.queries.reader import Reader

UNREAD = "The node does not respond, and this balance has not been read yet."


class Head(NamedTuple):
    """The newest indexed block, and the block from which on stored balances are unchanged."""

    number: int | None  # None where nothing is indexed
    hash: bytes | None
    unchanged_from: int


class Balance(NamedTuple):
    """A balance in wei as text, with its block; None for one that was never read."""

    wei: str | None
    block: int | None
    is_contract: bool
    is_current: bool = False  # whether it is the newest block's

    def required_wei(self) -> str:
        """Return the balance; raises UpstreamFailed where none has been read."""
        if self.wei is None:
            raise UpstreamFailed(UNREAD)
        return self.wei


def at_head(
    reader: Reader, addresses: Sequence[bytes], stored: Sequence[Balance], head: Head
) -> list[Balance]:
    """Return stored balances where they are of the head, else the node's, else older stored ones.

    An older one is the head's, too, where no indexed row has changed it since it was read.
    """
    stale = [
        address
        for address, balance in zip(addresses, stored, strict=True)
        if balance.wei is None or balance.block != head.number
    ]
    states = {}
    # A node that has failed this request once would cost each page of a file its time-out.
    if stale and not reader.has_node_failed and head.number is not None and head.hash is not None:
        states = reader.sources.account_states.all_at(
            reader.node, stale, head.number, bytes(head.hash)
        )
    if len(states) < len(set(stale)):
        reader.do_not_cache()  # the node may return them to the next request
    balances = []
    for address, balance in zip(addresses, stored, strict=True):
        if address in states:
            state = states[address]
            balance = Balance(str(state.balance), head.number, state.is_contract, True)
        elif balance.block is not None and balance.block >= head.unchanged_from:
            balance = balance._replace(block=head.number, is_current=True)
        balances.append(balance)
    return balances


def at_block(reader: Reader, address: bytes, block: BlockId) -> Balance:
    """Return the node's balance; raises HistoryUnavailable, UpstreamFailed, Unavailable."""
    account = to_hex(address)
    calls = [Call(method, (account, block)) for method in ("eth_getBalance", "eth_getCode")]
    balance, code = past_state.read(reader.node, block, calls)
    try:
        if isinstance(balance, RpcError) or isinstance(code, RpcError):
            raise BadHex
        state = state_of(balance, code)
    except BadHex:
        raise UpstreamFailed("The node does not give this balance.") from None
    return Balance(str(state.balance), block.number, state.is_contract)
