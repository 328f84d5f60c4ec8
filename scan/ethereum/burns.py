"""Coin that contracts burnt by destroying themselves in their own favour. Pure."""

from collections.abc import Sequence

from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.contract_creations import creations_in
from scan.ethereum.forms.form import BURN, Credit, numbered
from scan.ethereum.internal_transfers import InternalTransfer, TransferType


def burns_in(
    block: DecodedBlock, internal_transfers: Sequence[InternalTransfer]
) -> tuple[Credit, ...]:
    """Return the burns of a block, after its other credits, by traces that name both parties.

    A contract burns where it was created in the same transaction (EIP-6780), before Cancun any
    contract, and since Amsterdam none (EIP-8246).
    """
    destroyed = [
        transfer
        for transfer in internal_transfers
        if transfer.type is TransferType.SELFDESTRUCT
        and transfer.from_address == transfer.to_address
    ]
    if not destroyed or block.block_access_list_hash is not None:
        return ()
    created = {(c.transaction_index, c.address) for c in creations_in(block, internal_transfers)}
    burns = [
        (transfer.transaction_index, BURN, transfer.from_address, transfer.value)
        for transfer in destroyed
        if not block.keeps_destroyed
        or (transfer.transaction_index, transfer.from_address) in created
    ]
    return numbered(block, burns, len(block.credits))
