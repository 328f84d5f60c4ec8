"""Gnosis Chain and Chiado: nothing is burnt, and the bridge mints the coin.

network-upgrades/london.md and pectra.md of gnosischain/specs: a collector gets base fees, and since
Pectra fees for blobs. execution/posdao-post-merge.md: at the end of each block the reward contract
mints the coin that it announced by AddedReceiver of poanetwork/posdao-contracts when the bridge
called it. execution/withdrawals.md: a contract pays withdrawals in GNO, of 32 mGNO each.
"""

from functools import partial
from typing import Any, NamedTuple

from scan.ethereum.forms import form

# AddedReceiver(uint256 amount, address indexed receiver, address indexed bridge)
ADDED_RECEIVER = bytes.fromhex("3c798bbcf33115b42c728b8504cff11dd58736e9fa789f1cda2738db7d696b2a")


class Network(NamedTuple):
    collector: bytes
    reward_contracts: tuple[bytes, ...]
    pectra_s: int  # the time from which fees for blobs are collected


GNOSIS_NETWORK = Network(
    bytes.fromhex("6bbe78ee9e474842dbd4ab4987b3cefe88426a92"),
    (
        bytes.fromhex("481c034c6d9441db23ea48de68bcae812c5d39ba"),
        bytes.fromhex("867305d19606aadba405ce534e303d0e225f9556"),  # until block 9,186,425
    ),
    1_746_021_820,
)
CHIADO_NETWORK = Network(
    bytes.fromhex("1559000000000000000000000000000000000000"),
    (bytes.fromhex("2000000000000000000000000000000000000001"),),
    1_741_254_220,
)


def settle(network: Network, block: Any) -> form.Settlement:
    producer_fees, base_fees, blob_fees, _ = form.settle_by_ethereum(block)
    collected = base_fees or 0
    if blob_fees and block.timestamp_s >= network.pectra_s:
        collected, blob_fees = collected + blob_fees, None
    minted = [
        (log.transaction_index, form.MINT, log.topics[1][12:], int.from_bytes(log.data[:32]))
        for log in block.logs
        if log.address in network.reward_contracts
        and log.topics[:1] == (ADDED_RECEIVER,)
        and len(log.topics) > 1
    ]
    credits = [*minted, (None, form.FEE_VAULT, network.collector, collected)]
    burnt = None if base_fees is None else 0
    return form.Settlement(producer_fees, burnt, blob_fees, form.numbered(block, credits))


def step(value: Any) -> str:
    """Return the step in decimal; Nethermind gives a number in place of a QUANTITY."""
    return form.number(hex(value) if isinstance(value, int) else value)


GNOSIS = form.Form(
    "Gnosis",
    chain_ids=frozenset((100,)),
    block_fields={
        "step": step,
        "signature": form.data_,
        "auraStep": form.number,
        "auraSeal": form.data_,
    },
    settle=partial(settle, GNOSIS_NETWORK),
    withdrawal_unit="mGNO",
    unseen="At the end of a block its reward contract may mint coin that no event announces.",
)
CHIADO = GNOSIS._replace(
    name="Chiado", chain_ids=frozenset((10_200,)), settle=partial(settle, CHIADO_NETWORK)
)


FORMS = (GNOSIS, CHIADO)
