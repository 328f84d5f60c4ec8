"""What calls and messages are for, as far as an extension says it."""

from collections.abc import Sequence

from scan import registry
from scan.ethereum.block_parameter import BlockId
from scan.extensions.transaction_details.hooks import (
    CallToSign,
    ClearSigning,
    Described,
    MessageToSign,
)
from scan.queries.reader import Reader


def describe_calls(
    reader: Reader, calls: Sequence[CallToSign], block: BlockId | None = None
) -> Sequence[Described | None]:
    """Return what calls are for, of contracts as they are after a block, by default the newest;
    None of each without the extension."""
    part = registry.only(ClearSigning)
    return [None] * len(calls) if part is None else part.of_calls(reader, calls, block)


def describe_message(reader: Reader, message: MessageToSign) -> Described | None:
    """Return what a message is for; None without the extension."""
    part = registry.only(ClearSigning)
    return None if part is None else part.of_message(reader, message)


def template() -> str | None:
    """Return the template that shows a description as `clear_signing`; None without one."""
    part = registry.only(ClearSigning)
    return None if part is None else part.template
