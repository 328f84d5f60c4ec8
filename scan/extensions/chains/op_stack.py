"""OP Stack: OP Mainnet, Base, opBNB, World Chain and others; `anvil --network optimism`. Also
Mantle, whose coin is MNT, and Celo, with fees in other currencies (CIP-64).

Fees and deposits: https://specs.optimism.io/protocol/exec-engine.html and deposits.html; operator
fees: isthmus/exec-engine.html, jovian/exec-engine.html; L1 attributes: */l1-attributes.html;
withdrawalsRoot: isthmus/exec-engine.html. Receipts of deposits: canyon/overview.html; before Canyon
their nonce is in JSON and in no root. Transactions with refunds of gas: lagoon/post-exec.html and
lagoon/sdm.html. Milliseconds of Base's blocks: docs.base.org, upgrades/denim/200ms-blocks.

Mantle: core/state_transition.go and core/types/deposit_tx.go of mantlenetworkio/op-geth. Until
Arsia the fee for L1 is turned into gas, so it is within gasUsed already. Since Arsia fees are as on
the OP Stack since Jovian, and receipts have `l1BaseFeeScalar`.

Celo: core/types/celo_dynamic_fee_tx_v2.go, core/types/receipt.go, core/state_transition.go,
core/vm/celo_contracts.go and contracts/addresses of celo-org/op-geth. Blocks of its time as an L1
are in part encoded in other ways.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from scan.ethereum.forms import form
from scan.ethereum.forms.form import Encoding, Values, address, number
from scan.extensions.chains.collected_fees import settle_unburnt
from scan.hex import data, quantity

DEPOSIT, POST_EXEC = 0x7E, 0x7D
BASE_FEE_VAULT, L1_FEE_VAULT, OPERATOR_FEE_VAULT = (
    bytes.fromhex(f"42000000000000000000000000000000000000{last}") for last in ("19", "1a", "1b")
)
L1_BLOCK = "0x4200000000000000000000000000000000000015"
# The deposit with which Base opens blocks since Denim, after that of the L1 attributes.
BASE_TIME = "0x4200000000000000000000000000000000000030"
DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001"  # no deposit of a user has this sender
SET_MILLISECONDS = bytes.fromhex("86bdf394")  # setTimestampMillisPart(uint16)
SECOND_MS = 1000
JOVIAN_EXTRA_DATA = (17, 1)  # the size of the header's extraData, and its first byte
ISTHMUS_DIVISOR, JOVIAN_FACTOR = 1_000_000, 100
# Where the call that sets the L1 attributes has each value, by the call's selector: in ABI words
# since Bedrock, packed since Ecotone. Isthmus and Jovian appended more values.
_BEDROCK, _PACKED = "015d8eb9", ("440a5e20", "098999be", "3db6be2b")
_WORDS = {"number": 0, "timestamp": 1, "baseFee": 2, "hash": 3, "sequenceNumber": 4}
_PACKED_AT = {
    "number": (28, 36),
    "timestamp": (20, 28),
    "baseFee": (36, 68),
    "blobBaseFee": (68, 100),
    "hash": (100, 132),
    "sequenceNumber": (12, 20),
}


def l1_fees(block: Any, sent: form.Values, received: form.Values) -> Sequence[Any]:
    """Return the fees for L1. Deposits and post-exec transactions pay none, whatever fee the node
    gives for them."""
    return [
        fee and "0x0" if pays_nothing else fee
        for fee, pays_nothing in zip(received["l1Fee"], is_free(sent), strict=True)
    ]


def mints(block: Any, sent: form.Values, received: form.Values) -> Sequence[Any]:
    """Return what each deposit mints, None for others: only deposits' encoding has `mint`."""
    return [mint if d else None for mint, d in zip(sent["mint"], are_deposits(sent), strict=True)]


def are_deposits(sent: form.Values) -> list[bool]:
    """Return which transactions are deposits, whose gas was paid on L1."""
    return [*map(_is_deposit, sent["type"])]


def is_free(sent: form.Values) -> list[bool]:
    """Return which transactions are deposits, or of the sequencer with the refunds of a block."""
    return [_is_deposit(type_) or type_ == hex(POST_EXEC) for type_ in sent["type"]]


def operator_fees(block: Any, sent: form.Values, received: form.Values) -> list[int | None]:
    """Return the operator fees in wei: since Isthmus gas * scalar / 10^6 + constant, since Jovian
    gas * scalar * 100 + constant. extraData tells Jovian's blocks. Free transactions pay none."""
    if received["operatorFeeScalar"].count(None) == len(received["operatorFeeScalar"]):
        return [None] * len(sent["hash"])
    extra_data = data(block.extraData or "0x")
    is_jovian = (len(extra_data), *extra_data[:1]) == JOVIAN_EXTRA_DATA
    fees: list[int | None] = []
    for scalar, constant, gas_used, pays_nothing in zip(
        received["operatorFeeScalar"],
        received["operatorFeeConstant"],
        received["gasUsed"],
        is_free(sent),
        strict=True,
    ):
        if pays_nothing or scalar is None:
            fees.append(None)
            continue
        scaled = quantity(gas_used) * quantity(scalar)
        of_gas = scaled * JOVIAN_FACTOR if is_jovian else scaled // ISTHMUS_DIVISOR
        fees.append(of_gas + quantity(constant or "0x0"))
    return fees


def _is_deposit(type_: Any) -> bool:
    return type_ is not None and quantity(type_) == DEPOSIT


def shows(block: Any, sent: form.Values, received: form.Values) -> bool:
    """Return whether a block has a deposit, as every derived block has, or fees for L1, as blocks
    before Bedrock have."""
    fees = received.get("l1Fee", ())
    return any(are_deposits(sent)) or fees.count(None) < len(fees)


def settle(block: Any, base_fee_vault: bytes = BASE_FEE_VAULT) -> form.Settlement:
    """Credit base fees, L1 fees and operator fees to their three vaults; burn nothing."""
    base_fee = block.base_fee_per_gas
    paying = [t for t in block.transactions if t.gas_price and t.fee]
    base_fees = (base_fee or 0) * sum([t.gas_used for t in paying])
    l1 = sum([int.from_bytes(t.l1_fee) for t in block.transactions if t.l1_fee])
    operator = sum([int.from_bytes(t.operator_fee) for t in block.transactions if t.operator_fee])
    vaults = [
        (None, form.FEE_VAULT, base_fee_vault, base_fees),
        (None, form.FEE_VAULT, L1_FEE_VAULT, l1),
        (None, form.FEE_VAULT, OPERATOR_FEE_VAULT, operator),
    ]
    credits = [*form.mint_credits(block), *vaults]
    return settle_unburnt(block, form.produced(paying, base_fee), credits)


def l1_origin(block: Any, sent: form.Values) -> dict[str, Any]:
    """Return the field l1Origin: the L1 block that a block was derived from, read from the deposit
    that comes first in it; {} without one."""
    if not sent or sent["to"][0] != L1_BLOCK or not _is_deposit(sent["type"][0]):
        return {}
    call = data(sent["input"][0])
    selector = call[:4].hex()
    if selector == _BEDROCK:
        ranges = {name: (4 + 32 * at, 36 + 32 * at) for name, at in _WORDS.items()}
    elif selector in _PACKED:
        ranges = _PACKED_AT
    else:
        return {}
    if len(call) < max(end for _, end in ranges.values()):
        return {}
    values = {name: call[start:end] for name, (start, end) in ranges.items()}
    return {
        "l1Origin": {
            name: f"0x{value.hex()}" if name == "hash" else str(int.from_bytes(value))
            for name, value in values.items()
        }
    }


def milliseconds(block: Any, sent: form.Values) -> dict[str, Any]:
    """Return the field timestampMs: the time in milliseconds, by the deposit that comes second in a
    block; {} without one. No header has it, but transactionsRoot covers the deposit."""
    if len(sent.get("to", ())) < 2 or not _is_deposit(sent["type"][1]):
        return {}
    call = data(sent["input"][1])
    is_base_time = (sent["from"][1], sent["to"][1]) == (DEPOSITOR, BASE_TIME)
    part = int.from_bytes(call[4:])
    if not is_base_time or (call[:4], len(call)) != (SET_MILLISECONDS, 36) or part >= SECOND_MS:
        return {}
    return {"timestampMs": str(SECOND_MS * quantity(block.timestamp) + part)}


def own_fields(block: Any, sent: form.Values) -> dict[str, Any]:
    return l1_origin(block, sent) | milliseconds(block, sent)


OP_STACK = form.Form(
    "OP Stack",
    signs=frozenset(("sourceHash", "depositNonce", "l1GasPrice", "l1GasUsed")),
    # OP Mainnet, Base, opBNB, World Chain, Unichain, Ink, Mode, Zora, Soneium, Lisk; OP Sepolia and
    # Base Sepolia.
    chain_ids=frozenset(
        (10, 8453, 204, 480, 130, 57_073, 34_443, 7_777_777, 1868, 1135, 11_155_420, 84_532)
    ),
    shows=shows,
    type_names={DEPOSIT: "deposit", POST_EXEC: "post_exec"},
    transaction_fields={"sourceHash": form.hash_, "isSystemTx": form.flag},
    receipt_fields={
        "depositNonce": form.number,
        "depositReceiptVersion": form.number,
        "l1GasUsed": form.number,
        "opGasRefund": form.number,
    },
    shared_fields={
        "l1GasPrice": form.number,
        "l1FeeScalar": form.decimal,
        "l1BaseFeeScalar": form.number,
        "l1BlobBaseFee": form.number,
        "l1BlobBaseFeeScalar": form.number,
        "operatorFeeScalar": form.number,
        "operatorFeeConstant": form.number,
        "daFootprintGasScalar": form.number,
    },
    l1_fees=l1_fees,
    operator_fees=operator_fees,
    mints=mints,
    is_free=is_free,
    settle=settle,
    own_fields=own_fields,
    encodings={
        DEPOSIT: form.Encoding(
            ("sourceHash", "from", "to", "mint", "value", "gas", "isSystemTx", "input"),
            ("depositNonce", "depositReceiptVersion"),
        ),
        POST_EXEC: form.Encoding(("from", "to", "gas", "value"), is_input=True),
    },
    message_event=(
        "0x4200000000000000000000000000000000000016",  # L2ToL1MessagePasser
        "MessagePassed(uint256 indexed nonce, address indexed sender, address indexed target,"
        " uint256 value, uint256 gas_limit, bytes data, bytes32 hash)",
    ),
    withdraws_to_l1=True,
)


def mantle_l1_fees(block: Any, sent: Values, received: Values) -> Sequence[Any]:
    return [
        None if scalar is None else fee
        for fee, scalar in zip(received["l1Fee"], received["l1BaseFeeScalar"], strict=True)
    ]


MANTLE = OP_STACK._replace(
    name="Mantle",
    signs=frozenset(("tokenRatio", "ethValue")),
    chain_ids=frozenset((5000, 5003)),  # Mantle, Mantle Sepolia
    transaction_fields={**OP_STACK.transaction_fields, "ethValue": number, "ethTxValue": number},
    receipt_fields={**OP_STACK.receipt_fields, "tokenRatio": number},
    l1_fees=mantle_l1_fees,
    order=-1,
    unseen="A sponsor may have paid a part of the fee of a meta transaction.",
    encodings={
        DEPOSIT: Encoding(
            tuple("sourceHash from to mint value gas isSystemTx ethValue input ethTxValue".split()),
            ("depositNonce", "depositReceiptVersion"),
        )
    },
)


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
    return () if hex(DEPOSIT) in types else ("0x0", None)


def pays_in_tokens(sent: Values) -> list[bool]:
    """Return which transactions have a fee currency: they pay by transfers of that token."""
    return [currency is not None for currency in sent["feeCurrency"]]


def celo_shows(block: Any, sent: Values, received: Values) -> bool:
    """Return whether a block is Celo's: one of its time as an L1, without withdrawalsRoot, or one
    that the OP Stack derived."""
    return block.withdrawalsRoot is None or shows(block, sent, received)


CELO = OP_STACK._replace(
    name="Celo",
    signs=frozenset(("feeCurrency",)),
    chain_ids=frozenset((42_220, 11_142_220)),  # Celo, Celo Sepolia
    shows=celo_shows,
    type_names={**OP_STACK.type_names, 0x7A: "CIP-66", CIP_64: "CIP-64", 0x7C: "CIP-42"},
    transaction_fields={
        **OP_STACK.transaction_fields,
        "feeCurrency": address,
        "maxFeeInFeeCurrency": number,
    },
    receipt_fields={**OP_STACK.receipt_fields, "baseFee": number},
    pays_in_tokens=pays_in_tokens,
    more_types=more_types,
    precompiles={TRANSFER_PRECOMPILE: precompile_transfer},
    order=-1,
    settle=partial(settle, base_fee_vault=FEE_HANDLER),
    encodings={
        **OP_STACK.encodings,
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

FORMS = (CELO, MANTLE, OP_STACK)
