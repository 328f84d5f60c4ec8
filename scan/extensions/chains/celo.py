"""Celo, since it is a chain of the OP Stack: fees in other currencies (CIP-64).

core/types/celo_dynamic_fee_tx_v2.go, core/types/receipt.go, core/state_transition.go,
core/vm/celo_contracts.go and contracts/addresses of celo-org/op-geth. Blocks of its time as an L1
are in part encoded in other ways.
"""

from collections.abc import Collection, Sequence
from typing import Any

from scan.ethereum.forms.form import Encoding, Settlement, Values, address, number
from scan.extensions.chains import op_stack as op_stack
from scan.hex import data, quantity

MAINNET, SEPOLIA = 42220, 11142220
CIP_64 = 0x7B
FEE_HANDLER = bytes.fromhex("cd437749e43a154c07f3553504c68fbfd56b8778")

# The precompile by which the token CELO moves the coin (specs.celo.org, "Token duality"): its input
# is sender, recipient and amount, a word each.
TRANSFER_PRECOMPILE = "0x00000000000000000000000000000000000000fd"
TRANSFER_GAS = 9_000
TRANSFER_INPUT_BYTES = 96
TRANSACTION_GAS, ZERO_BYTE_GAS, BYTE_GAS = 21_000, 4, 16  # EIP-2028


def precompile_transfer(call: Any, is_outermost: bool) -> tuple[bytes, bytes, int] | None:
    """Return sender, recipient and amount of a call that succeeded; None if it is no transfer.

    The precompile is known by the gas that it uses: on other chains an account at that address uses
    none. `anvil --celo` has the precompile on a chain of any id, and lets everybody call it.
    Raises BadHex.
    """
    if call["type"] != "CALL":
        return None
    words = data(call.get("input") or "0x")
    gas = TRANSFER_GAS
    if is_outermost:
        zeros = words.count(0)
        gas += TRANSACTION_GAS + zeros * ZERO_BYTE_GAS + (len(words) - zeros) * BYTE_GAS
    if len(words) != TRANSFER_INPUT_BYTES or quantity(call.get("gasUsed") or "0x0") != gas:
        return None
    return words[12:32], words[44:64], int.from_bytes(words[64:])


def more_types(types: Sequence[Any]) -> Collection[str | None]:
    """Return the types of Ethereum's that may have a fee currency: the L1 had legacy transactions
    with one, in blocks without deposits."""
    return () if hex(op_stack.DEPOSIT) in types else ("0x0", None)


def pays_in_tokens(sent: Values) -> list[bool]:
    """Return which transactions have a fee currency: they pay by transfers of that token."""
    return [currency is not None for currency in sent["feeCurrency"]]


def shows(block: Any, sent: Values, received: Values) -> bool:
    """Return whether a block is Celo's: one of its time as an L1, without withdrawalsRoot, or one
    that the OP Stack derived."""
    return block.withdrawalsRoot is None or op_stack.shows(block, sent, received)


def settle(block: Any) -> Settlement:
    """Settle as on the OP Stack, but give base fees to the fee handler."""
    return op_stack.settle(block, FEE_HANDLER)


CELO = op_stack.OP_STACK._replace(
    name="Celo",
    signs=frozenset(("feeCurrency",)),
    chain_ids=frozenset((MAINNET, SEPOLIA)),
    shows=shows,
    type_names={**op_stack.OP_STACK.type_names, 0x7A: "CIP-66", CIP_64: "CIP-64", 0x7C: "CIP-42"},
    transaction_fields={
        **op_stack.OP_STACK.transaction_fields,
        "feeCurrency": address,
        "maxFeeInFeeCurrency": number,
    },
    receipt_fields={**op_stack.OP_STACK.receipt_fields, "baseFee": number},
    pays_in_tokens=pays_in_tokens,
    more_types=more_types,
    precompiles={TRANSFER_PRECOMPILE: precompile_transfer},
    order=-1,
    settle=settle,
    encodings={
        **op_stack.OP_STACK.encodings,
        CIP_64: Encoding(
            tuple(
                """
                chainId nonce maxPriorityFeePerGas maxFeePerGas gas to value input accessList
                feeCurrency yParity r s
                """.split()
            ),
            ("baseFee",),  # in the fee currency
        ),
    },
)


FORMS = (CELO,)
