"""Arbitrum: One, Nova and Orbit chains.

Types, fields of transactions and receipts: core/types/arb_types.go, internal/ethapi/api.go of
OffchainLabs/go-ethereum. L1's part of gas (`gasUsedForL1`) is within gasUsed.

What a ticket costs and brings: arbos/tx_processor.go of OffchainLabs/nitro. Its transfers are in
traces: of a submission as calls of a type of their own, of a redemption before and after it.
"""

from typing import Any

from scan.ethereum.forms import form
from scan.extensions.chains.collected_fees import settle_unburnt
from scan.hex import quantity

DEPOSIT, RETRY, SUBMIT_RETRYABLE = 0x64, 0x68, 0x69
# The type of a call in traces by which ArbOS moves coin; newer nodes give a submission's as CALL.
ARBOS_FRAME = "INVALID"
RETRYABLES = bytes(19) + b"\x6e"  # the recipient of submissions, which run no code
# A submission's calls before those that pay for gas: deposit, submission fee, refund of the excess
# fee, and value into escrow.
_BEFORE_GAS = 4
_NOBODY = bytes(20)
TYPE_NAMES = {
    DEPOSIT: "deposit",
    0x65: "unsigned",
    0x66: "contract",
    RETRY: "retry",
    SUBMIT_RETRYABLE: "submit retryable",
    0x6A: "internal",
    0x78: "legacy",
}
_OWN_TYPES = frozenset(map(hex, TYPE_NAMES))


def mints(block: Any, sent: form.Values, received: form.Values) -> list[Any]:
    """Return what each transaction minted: the value of a deposit, the depositValue of a retryable
    ticket, and the gas of a redemption, which was paid with its ticket; None for others."""
    amounts: list[Any] = []
    for index, type_ in enumerate(quantity(type_ or "0x0") for type_ in sent["type"]):
        if type_ == RETRY:
            price = received["effectiveGasPrice"][index] or sent["gasPrice"][index]
            amounts.append(hex(quantity(received["gasUsed"][index]) * quantity(price)))
        else:
            name = {DEPOSIT: "value", SUBMIT_RETRYABLE: "depositValue"}.get(type_)
            amounts.append(name and sent[name][index])
    return amounts


def shows(block: Any, sent: form.Values, received: form.Values) -> bool:
    """Return whether a block has a transaction of Arbitrum's own types: since Nitro, each block
    begins with one."""
    return not _OWN_TYPES.isdisjoint(sent["type"])


class TicketMoves:
    """Tells which calls in a transaction ArbOS made, and which of those are transfers, and not
    parts of its fee or of what it mints."""

    def __init__(self, transaction: Any) -> None:
        self._calls = 0
        is_submission = transaction.type == bytes([SUBMIT_RETRYABLE])
        self.makes_all: bool = is_submission and transaction.to_address == RETRYABLES
        self._unpaid = transaction.fee if self.makes_all else 0

    def has(self, call: Any, depth: int) -> bool:
        """Return whether ArbOS made a call, which it does beside a transaction's own."""
        return call["type"] == ARBOS_FRAME or bool(depth and self.makes_all)

    def is_transfer(self, from_address: bytes, to_address: bytes, value: int) -> bool:
        """Return whether a call is a transfer. The caller passes all calls, in their order."""
        self._calls += 1
        if self._calls > _BEFORE_GAS and self._unpaid > 0:
            self._unpaid -= value
            return False
        return _NOBODY not in (from_address, to_address)


def settle(block: Any) -> form.Settlement:
    """Give fees to nobody: only the state of ArbOS, and no block, names the accounts that get
    them."""
    return settle_unburnt(block, 0, form.mint_credits(block))


ARBITRUM = form.Form(
    "Arbitrum",
    signs=frozenset(("gasUsedForL1", "requestId", "ticketId", "sendRoot")),
    chain_ids=frozenset((42_161, 42_170, 421_614)),  # One, Nova, Sepolia
    shows=shows,
    type_names=TYPE_NAMES,
    transaction_fields={
        "requestId": form.hash_,
        "ticketId": form.hash_,
        "refundTo": form.address,
        "maxRefund": form.number,
        "submissionFeeRefund": form.number,
        "depositValue": form.number,
        "retryTo": form.address,
        "retryValue": form.number,
        "beneficiary": form.address,
        "maxSubmissionFee": form.number,
        "l1BaseFee": form.number,
    },
    receipt_fields={"gasUsedForL1": form.number, "timeboosted": form.flag},
    block_fields={"l1BlockNumber": form.number, "sendCount": form.number, "sendRoot": form.hash_},
    mints=mints,
    settle=settle,
    protocol_moves=TicketMoves,
    has_cancun_without_blobs=True,
    has_unproven_blocks=True,
    unseen="Fees go to accounts that no block names.",
    message_event=(
        "0x0000000000000000000000000000000000000064",  # ArbSys; since Nitro
        "L2ToL1Tx(address sender, address indexed target, uint256 indexed hash,"
        " uint256 indexed nonce, uint256 _, uint256 _, uint256 _, uint256 value, bytes data)",
    ),
)


FORMS = (ARBITRUM,)
