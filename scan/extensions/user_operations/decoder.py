"""What the decoder unfolds of ERC-4337: operations of bundles, and the calls of accounts."""

from collections.abc import Callable, Sequence

from scan.extensions.contract_details.decoder.hooks import Decoder
from scan.extensions.user_operations.calls import (
    BUNDLES,
    EXECUTIONS,
    AccountCall,
    BundledOperation,
    without_prefix,
)


def _calls(read: Callable[..., Sequence[BundledOperation]]) -> Callable[..., list[AccountCall]]:
    """Return what reads the accounts' calls in the arguments of a bundle."""
    return lambda operations, _beneficiary: [
        AccountCall(operation.sender, 0, without_prefix(operation.call_data))
        for operation in read(operations)
    ]


HOOKS = Decoder(calls={**{text: _calls(read) for text, read in BUNDLES.items()}, **EXECUTIONS})
