"""Logs that begin like a transfer or a trade and are none."""

from eth_utils import keccak

from tests.support.scenario.stage import MOST, STRANGERS, data, topic

TRANSFER = keccak(text="Transfer(address,address,uint256)")
TRANSFER_SINGLE = keccak(text="TransferSingle(address,address,address,uint256,uint256)")
TRANSFER_BATCH = keccak(text="TransferBatch(address,address,address,uint256[],uint256[])")
DEPOSIT = keccak(text="Deposit(address,uint256)")
SWAP_V2 = keccak(text="Swap(address,uint256,uint256,uint256,uint256,address)")
SWAP_V3 = keccak(text="Swap(address,address,int256,int256,uint160,uint128,int24)")


def malformed_logs(stage):
    """Logs that begin like a transfer or a trade and are none; only one of them is real."""
    clean, other = topic(STRANGERS[12]), topic(STRANGERS[13])
    dirty = b"\x01" + clean[1:]
    value = data(5)
    stage.deploy("raw", "RawLogs")
    for topics, body in (
        ((TRANSFER, dirty, clean), value),
        ((TRANSFER, clean, dirty), value),
        ((TRANSFER, clean, other), value[:31]),
        ((TRANSFER, clean, other), b""),
        ((TRANSFER, clean), value),
        ((TRANSFER, dirty, clean, other), b""),
        ((TRANSFER, clean, other, other), value),
        ((TRANSFER,), dirty + clean + value),
        ((TRANSFER,), clean + other),
        ((), clean + other + value),
        ((DEPOSIT, clean), value),
        ((SWAP_V2, clean, other), data(1, 2, 3)),
        ((SWAP_V2, clean), data(1, 0, 0, 2)),
        ((SWAP_V3, clean, other), data(1, 2)),
        *malformed_batches(clean, other, dirty),
    ):
        stage.do(6, "raw", "log", topics, body)
    stage.mine()
    stage.deploy("raw coin", "RawLogs")
    stage.do(6, "raw coin", "log", (TRANSFER, clean, other), data(5, 6))
    stage.do(6, "raw coin", "log", (TRANSFER, dirty, other), data(5))
    stage.mine()


def malformed_batches(clean, other, dirty):
    batch = (TRANSFER_BATCH, clean, clean, other)
    return [
        ((TRANSFER_SINGLE, clean, dirty, other), data(1, 2)),
        ((TRANSFER_SINGLE, clean, clean, other), data(1)),
        ((TRANSFER_SINGLE, clean, other), data(1, 2)),
        (batch, data(64, 160, 2, 1, 2, 1, 9)),
        (batch, data(64, 128, 1, 1, 3, 7, 8, 9)),
        (batch, data(64, MOST, 1, 1)),
        (batch, data(64, 128, 2**64, 1, 2**64, 1)),
        (batch, data(64, 160, 2, 1, 2, 2, 9)),
        (batch, data(64)),
        (batch, b""),
        ((TRANSFER_BATCH, clean, dirty, other), data(64, 128, 1, 1, 1, 1)),
    ]
