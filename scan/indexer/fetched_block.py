"""A block as the indexer writes it: with what its traces show. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.internal_transfers import InternalTransfer


class FetchedBlock(NamedTuple):
    """A block with its TracedBlock's internal transfers and created contracts."""

    block: DecodedBlock
    created: Sequence[bytes]
    internal_transfers: Sequence[InternalTransfer] = ()
    is_traced: bool | None = None
