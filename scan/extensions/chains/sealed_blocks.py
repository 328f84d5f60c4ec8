"""Chains whose known signers seal blocks: Clique of private chains and old test networks, and
Parlia of BNB Smart Chain.

Clique, EIP-225: the signer of a block gets its fees. `miner` is a vote's candidate, and in most
blocks the zero address. The signer is recovered from the seal at the end of extraData, which signs
the header without the seal.

Parlia, core/state_transition.go and consensus/parlia/parlia.go of bnb-chain/bsc: the validator, who
is `miner`, gets tips and fees for blobs, and passes them on by transactions of price 0 in the same
block.
"""

import json
from contextlib import suppress
from typing import Any

from scan.ethereum.forms import form
from scan.ethereum.rlp_and_tries import keccak256, list_item, quantity_item, string_item
from scan.ethereum.transaction_checks import recover_signer
from scan.hex import BadHex, data, quantity

ADDRESS_BYTES = 20
NOBODY, NO_MIX_HASH = "0x" + "00" * 20, "0x" + "00" * 32
DIFFICULTIES = ("0x1", "0x2")
_DATA = tuple(
    "parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom".split()
)
_QUANTITIES = ("difficulty", "number", "gasLimit", "gasUsed", "timestamp")


def clique_is_of(block: Any) -> bool:
    """Return whether a block has the shape of one without a vote. The genesis has no seal."""
    if block.miner != NOBODY or block.difficulty not in DIFFICULTIES or block.number == "0x0":
        return False
    size = len(block.extraData or "0x") // 2 - 1 - form.VANITY_BYTES - form.SEAL_BYTES
    return size >= 0 and size % ADDRESS_BYTES == 0 and block.mixHash == NO_MIX_HASH


def signer(block: Any, sent: Any) -> dict[str, Any]:
    if not clique_is_of(block):
        return {}
    try:
        seal = data("0x" + block.extraData[-2 * form.SEAL_BYTES :])
        address = recover_signer(_sealed_hash(block), seal)
    except (ValueError, TypeError):
        return {}
    return {} if address is None else {"signer": "0x" + address.hex()}


def _sealed_hash(block: Any) -> bytes:
    items = [string_item(getattr(block, name)) for name in _DATA]
    items += [quantity_item(getattr(block, name)) for name in _QUANTITIES]
    items += map(string_item, (block.extraData[: -2 * form.SEAL_BYTES], block.mixHash, block.nonce))
    if block.baseFeePerGas is not None:
        items.append(quantity_item(block.baseFeePerGas))
    return keccak256(bytes.fromhex(list_item("".join(items))))


def clique_settle(block: Any) -> form.Settlement:
    fees = form.settle_by_ethereum(block)
    address = json.loads(block.chain_fields or "{}").get("signer")
    if address is None:
        return fees
    credits = [(None, form.FEE_VAULT, data(address), fees.producer_fees)]
    return fees._replace(producer_fees=0, credits=form.numbered(block, credits))


CLIQUE = form.Form(
    "Clique", is_of_header=clique_is_of, own_fields=signer, settle=clique_settle, order=1
)
# One sequencer sealed Linea's blocks by Clique, before Linea had another consensus.
LINEA = CLIQUE._replace(
    name="Linea", chain_ids=frozenset((59_144, 59_141)), is_of_header=None, is_covered_by_roots=True
)


def parlia_settle(block: Any) -> form.Settlement:
    fees = form.settle_by_ethereum(block)
    return fees._replace(producer_fees=fees.producer_fees + (fees.blob_fees or 0), blob_fees=None)


def parlia_is_of(block: Any) -> bool:
    """Return whether milliTimestamp is the block's timestamp plus the milliseconds in mixHash."""
    if block.milliTimestamp is None:
        return False
    with suppress(BadHex):
        rest = int.from_bytes(data(block.mixHash, 32))
        return quantity(block.milliTimestamp) == quantity(block.timestamp) * 1000 + rest
    return False


PARLIA = form.Form(
    "Parlia",
    is_of=parlia_is_of,
    chain_ids=frozenset((56, 97)),
    block_fields={"milliTimestamp": form.number},
    settle=parlia_settle,
    unseen="Coin sent to 0xffff…fffe is given to the block's validator without a transaction.",
)

FORMS = (LINEA, CLIQUE, PARLIA)
