"""Arbitrum: One, Nova and Orbit chains.

Types, fields of transactions and receipts: core/types/arb_types.go, internal/ethapi/api.go of
OffchainLabs/go-ethereum. L1's part of gas (`gasUsedForL1`) is within gasUsed.
"""

from typing import Any

from scan.ethereum.forms.form import (
    Form,
    Settlement,
    Values,
    address,
    flag,
    hash_,
    mint_credits,
    number,
    numbered,
)
from scan.ethereum.forms.messages import MessageEvent
from scan.hex import quantity

DEPOSIT, SUBMIT_RETRYABLE = 0x64, 0x69
TYPE_NAMES = {
    DEPOSIT: "deposit",
    0x65: "unsigned",
    0x66: "contract",
    0x68: "retry",
    SUBMIT_RETRYABLE: "submit retryable",
    0x6A: "internal",
    0x78: "legacy",
}


def mints(block: Any, sent: Values, received: Values) -> list[Any]:
    """What came from L1: the value of a deposit, the depositValue of a retryable ticket."""
    return [
        value if type_ == DEPOSIT else deposited if type_ == SUBMIT_RETRYABLE else None
        for type_, value, deposited in zip(
            [quantity(type_ or "0x0") for type_ in sent["type"]],
            sent["value"],
            sent["depositValue"],
            strict=True,
        )
    ]


def settle(block: Any) -> Settlement:
    """Fees go to accounts that ArbOS names in its state, which no block tells: nobody's here."""
    burnt = None if block.base_fee_per_gas is None else 0
    return Settlement(0, burnt, None, numbered(block, mint_credits(block)))


ARBITRUM = Form(
    "Arbitrum",
    signs=frozenset(("gasUsedForL1", "requestId", "ticketId", "sendRoot")),
    chain_ids=frozenset((42_161, 42_170, 421_614)),  # One, Nova, Sepolia
    type_names=TYPE_NAMES,
    transaction_fields={
        "requestId": hash_,
        "ticketId": hash_,
        "refundTo": address,
        "maxRefund": number,
        "submissionFeeRefund": number,
        "depositValue": number,
        "retryTo": address,
        "retryValue": number,
        "beneficiary": address,
        "maxSubmissionFee": number,
        "l1BaseFee": number,
    },
    receipt_fields={"gasUsedForL1": number, "timeboosted": flag},
    block_fields={"l1BlockNumber": number, "sendCount": number, "sendRoot": hash_},
    mints=mints,
    settle=settle,
    unseen="Fees go to accounts that no block names.",
    message_event=MessageEvent(
        "0x0000000000000000000000000000000000000064",  # ArbSys; since Nitro
        "L2ToL1Tx(address sender, address indexed target, uint256 indexed hash,"
        " uint256 indexed nonce, uint256 _, uint256 _, uint256 _, uint256 value, bytes data)",
    ),
)
