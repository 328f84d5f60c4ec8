"""What the decoder unfolds of ERC-4337: operations of bundles, and the calls of accounts."""

from collections.abc import Callable, Sequence

from scan.extensions.decoder.hooks import Decoder
from scan.extensions.user_operations import calls


def _calls(
    read: Callable[..., Sequence[calls.BundledOperation]],
) -> Callable[..., list[calls.AccountCall]]:
    """Return what reads the accounts' calls in the arguments of a bundle."""
    return lambda operations, _beneficiary: [
        calls.AccountCall(operation.sender, 0, calls.without_prefix(operation.call_data))
        for operation in read(operations)
    ]


HOOKS = Decoder(
    calls={**{text: _calls(read) for text, read in calls.BUNDLES.items()}, **calls.EXECUTIONS}
)
