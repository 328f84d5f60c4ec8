"""What extensions add to verification."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from scan import registry
from scan.database.connection import Database
from scan.ethereum.request_node import NodeSession
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.registry import Part

if TYPE_CHECKING:  # workers of the indexer, which verify nothing, import this module
    from scan.verification.contract_match import Match
    from scan.verification.submission_compilations import Compilations

Store = Callable[[Database, bytes, bytes], bool]
"""Stores what was read of a contract, by its address and its code's hash, and returns whether that
has a source map."""


class InputReader(Protocol):
    def input_of(
        self, node: NodeSession, indexed: IndexedTransaction, address: bytes
    ) -> bytes | None: ...


class CreationInput(Part, module="creation_input", chapter="block_traces"):
    """The creation code of contracts created by contracts."""

    reader: Callable[[str], InputReader]
    """A reader of such code, by SCAN_TRACES."""


class CompilerFindings(Part, module="compiler_findings"):
    """What a compiler says of a verified contract besides what is compared."""

    version: int
    """Higher than before where more is read of the same output: contracts are compiled again."""

    read: Callable[[Compilations, Match], Store]
    """Reads a match's findings while its compiler may still run. The source has matched: what never
    can be read is left out. Raises Unavailable where it may be later: nothing is stored then."""


def version_read() -> int:
    """Return the version of what is read of compilers' output; 0 where nothing is."""
    return sum(part.version for part in registry.parts(CompilerFindings))
