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
    """The newest indexed block; None where nothing is indexed."""

    number: int | None
    hash: bytes | None


class KnownBalance(NamedTuple):
    """A balance in wei as text, with the block that it is of."""

    wei: str
    block: int


class Balance(NamedTuple):
    """The balance of an account, None where it was never read."""

    known: KnownBalance | None
    is_contract: bool
    is_current: bool = False  # whether it is the newest block's

    def required(self, least_block: int = 0) -> KnownBalance:
        """Return the balance; raises UpstreamFailed where none of `least_block` or later is
        known."""
        if self.known is None or self.known.block < least_block:
            raise UpstreamFailed(UNREAD)
        return self.known


def stored(wei: str | None, block: int | None, is_contract: bool, is_current: bool) -> Balance:
    """Return a balance as the index has it, where both are null or none is."""
    known = None if wei is None or block is None else KnownBalance(wei, block)
    return Balance(known, is_contract, is_current)


def at_head(
    reader: Reader, addresses: Sequence[bytes], indexed: Sequence[Balance], head: Head
) -> list[Balance]:
    """Return indexed balances where they were read at the head, else the node's, else older ones.

    An older one is the head's, too, where no indexed row has changed it since it was read.
    """
    stale = [
        address
        for address, balance in zip(addresses, indexed, strict=True)
        if not balance.is_current or balance.known is None or balance.known.block != head.number
    ]
    states = {}
    # A node that has failed this request once would cost each page of a file its time-out.
    if stale and not reader.has_node_failed and head.number is not None and head.hash is not None:
        states = reader.sources.account_states.all_at(
            reader.node, stale, head.number, bytes(head.hash)
        )
        contracts = {a for a, known in zip(addresses, indexed, strict=True) if known.is_contract}
        codes = {a: state.code_hash for a, state in states.items() if a in contracts}
        reader.sources.replaced_codes.note(codes, head.number)
    if len(states) < len(set(stale)):
        reader.do_not_cache()  # the node may return them to the next request
    balances = []
    for address, balance in zip(addresses, indexed, strict=True):
        state = states.get(address)
        known, is_contract, is_current = balance
        if head.number is not None and state is not None:
            known = KnownBalance(str(state.balance), head.number)
            is_contract, is_current = state.is_contract, True
        elif head.number is not None and known is not None and is_current:
            known = known._replace(block=head.number)
        balances.append(Balance(known, is_contract, is_current))
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
        raise UpstreamFailed("The node did not return this balance.") from None
    return Balance(KnownBalance(str(state.balance), block.number), state.is_contract)
