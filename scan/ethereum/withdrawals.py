"""Withdrawals of validators (EIP-4895), decoded from a node's JSON. Pure."""

from itertools import pairwise
from typing import Any

from scan.ethereum.blocks import WEI_PER_GWEI, Withdrawal, require
from scan.hex import data, quantity


def decode_withdrawals(block: Any, number: int) -> list[Withdrawal] | None:
    """Return the withdrawals of block `number`, given as a struct; None where it cannot have any,
    also where its node gives an empty list. Raises BadHex, MalformedBlock."""
    entries = block.withdrawals
    if entries is None or not (entries or block.withdrawalsRoot):
        return None
    withdrawals = [
        Withdrawal(
            withdrawal_index=quantity(entry["index"]),
            validator_index=quantity(entry["validatorIndex"]),
            address=data(entry["address"], 20),
            amount_wei=quantity(entry["amount"]) * WEI_PER_GWEI,
        )
        for entry in entries
    ]
    for withdrawal in withdrawals:
        largest = max(withdrawal.withdrawal_index, withdrawal.validator_index)
        require(largest < 2**63, number, "a withdrawal's index is beyond 63 bits")
        is_bounded = withdrawal.amount_wei < 2**64 * WEI_PER_GWEI
        require(is_bounded, number, "a withdrawal is beyond 64 bits")
    follow = all(a.withdrawal_index < b.withdrawal_index for a, b in pairwise(withdrawals))
    require(follow, number, "its withdrawals are not in order")
    return withdrawals
