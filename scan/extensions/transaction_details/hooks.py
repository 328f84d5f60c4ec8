"""What other extensions say of calls and messages, in their clear_signing.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from scan.contracts.abi import AbiType
    from scan.ethereum.block_parameter import BlockId
    from scan.queries.reader import Reader

from scan.hooks import Part


class CallToSign(NamedTuple):
    """A call; `sender` and `value`, in wei, are None where they are not known. `to` is None where
    it creates a contract: nothing is said of it."""

    to: bytes | None
    input: bytes
    sender: bytes | None = None
    value: int | None = None


class MessageToSign(NamedTuple):
    """A message of EIP-712: its domain as sent, and its values as JSON. `encoded_type` is that of
    encodeType(); `sender`, who signs, is None where it is not known."""

    domain: Mapping[str, Any]
    domain_separator: bytes
    primary_type: str
    encoded_type: str
    type: AbiType
    values: Sequence[Any]
    sender: bytes | None = None


class Described(Protocol):
    def record(self) -> dict[str, Any]:
        """Return clearSigning and clearSignedCalls, the fields of a record."""
        ...


@dataclass(frozen=True, kw_only=True)
class ClearSigning(Part):
    """What calls and messages are for."""

    module = "clear_signing"
    of_calls: Callable[[Reader, Sequence[CallToSign], BlockId | None], Sequence[Described]]
    """Descriptions of calls, of contracts as they are after a block; None for the newest."""
    of_message: Callable[[Reader, MessageToSign], Described]
    """The description of a message."""
    template: str
    """The template that shows a description, its `clear_signing`."""
