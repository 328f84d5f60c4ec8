"""ZKsync Era and chains of the ZK Stack: types of their own, batches on L1.

Fields by https://docs.zksync.io/zksync-protocol/api/zks-rpc: `l1BatchNumber` of blocks,
transactions and receipts. Fees go to an account of the operator, which no block names.
"""

from typing import Any

from scan.ethereum.forms.form import Form, Settlement, number


def settle(block: Any) -> Settlement:
    return Settlement(0, None if block.base_fee_per_gas is None else 0, None)


ZKSYNC = Form(
    "ZKsync",
    signs=frozenset(("l1BatchNumber",)),
    chain_ids=frozenset((324, 300)),  # Era and its test network
    type_names={0x71: "EIP-712", 0xFE: "upgrade", 0xFF: "priority"},
    transaction_fields={"l1BatchNumber": number, "l1BatchTxIndex": number},
    block_fields={"l1BatchNumber": number},
    settle=settle,
    has_unproven_blocks=True,
    has_fields_of_all_types=True,  # batches
    unseen="Fees go to an account of the operator that no block names.",
    message_event=(
        "0x0000000000000000000000000000000000008008",  # L1Messenger
        "L1MessageSent(address indexed sender, bytes32 indexed hash, bytes data)",
    ),
)


FORMS = (ZKSYNC,)
