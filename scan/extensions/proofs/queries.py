"""The proven account of an address at an indexed block."""

from scan.contracts.account_state import AccountProofs
from scan.ethereum.request_node import BUDGET_S
from scan.ethereum.served_chain import BlockId
from scan.ethereum.state_proofs import ProvenAccount
from scan.queries import blocks
from scan.queries.reader import Reader


def account(
    reader: Reader,
    address: bytes,
    block: BlockId | None,
    slot: int | None = None,
    timeout_s: float = BUDGET_S,
) -> ProvenAccount:
    """Return an account after a block, or after the newest one, with a slot of its storage if one
    is given.

    Raises NotFound where no block is indexed, and the errors of AccountProofs.read().
    """
    is_past = block is not None
    if block is None:
        newest = blocks.newest_number(reader)
        if newest is None:
            raise blocks.not_indexed(reader, None)
        block = blocks.find(reader, newest)
    node = reader.node.within(timeout_s)
    proven = reader.sources.get(AccountProofs).read(node, address, block, slot)
    if not is_past:
        reader.sources.replaced_codes.note({address: proven.code_hash}, block.number)
    return proven
