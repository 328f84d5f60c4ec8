"""What extensions add to verification."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from scan.ethereum.request_node import NodeSession
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.registry import Part


class InputReader(Protocol):
    def input_of(
        self, node: NodeSession, indexed: IndexedTransaction, address: bytes
    ) -> bytes | None: ...


@dataclass(frozen=True, kw_only=True)
class CreationInput(Part):
    """The code that created a contract which a contract created."""

    module = "creation_input"
    chapter = "block_traces"
    reader: Callable[[str], InputReader]
    """A reader of such code, by SCAN_TRACES."""
