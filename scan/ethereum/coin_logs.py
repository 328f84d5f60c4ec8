"""Logs of coin (EIP-7708), in blocks with `coin_logs`: the system's address emits one for each
value that moves between two accounts, in the form of a token's Transfer. Pure."""

from collections.abc import Sequence

from scan.ethereum.blocks import DecodedBlock, EventLog

COIN_EMITTER = bytes.fromhex("ff" * 19 + "fe")


def contract_logs(block: DecodedBlock) -> Sequence[EventLog]:
    """Return the logs that contracts emitted: all but those of coin."""
    if not block.coin_logs:
        return block.logs
    return [log for log in block.logs if log.address != COIN_EMITTER]
