"""What an extension may say of calls and messages to sign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from scan.contracts.abi import AbiType
    from scan.ethereum.block_parameter import BlockId
    from scan.queries.reader import Reader


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
    """What a call or a message is for."""

    @property
    def template(self) -> str:
        """The template that shows it, as `clear_signing`."""
        ...

    def record(self) -> dict[str, Any]:
        """Return clearSigning and clearSignedCalls, the fields of a record."""
        ...


class ClearSigning:
    """Says what calls and messages are for; without an extension, nothing."""

    def may_describe(self, reader: Reader) -> bool:
        """Return whether there is anything that says what calls are for, or may be soon."""
        return False

    def of_calls(
        self, reader: Reader, calls: Sequence[CallToSign], block: BlockId | None = None
    ) -> Sequence[Described | None]:
        """Return what calls are for, of contracts as they are after a block, by default the
        newest."""
        return [None] * len(calls)

    def of_message(self, reader: Reader, message: MessageToSign) -> Described | None:
        return None
