"""Chains on which somebody collects the base fees that Ethereum burns: Avalanche, Gnosis, Polygon.

Avalanche, the C-Chain and chains of Subnet-EVM: core/state_transition.go,
plugin/evm/customtypes/header_ext.go and plugin/evm/wrapped_block.go of ava-labs/coreth and
ava-labs/subnet-evm: the whole fee, with the base fee, goes to the block's `miner`, which on the
C-Chain is an address that nobody has.

Gnosis Chain and Chiado, whose bridge mints the coin: network-upgrades/london.md and pectra.md of
gnosischain/specs: a collector gets base fees, and since Pectra fees for blobs.
execution/posdao-post-merge.md: at the end of each block the reward contract mints the coin that it
announced by AddedReceiver of poanetwork/posdao-contracts when the bridge called it.
execution/withdrawals.md: a contract pays withdrawals in GNO, of 32 mGNO each.

Polygon PoS, whose bridge's state sync is a transaction that no root covers:
core/types/bor_receipt.go and internal/ethapi of 0xPolygon/bor: a state sync is the last transaction
of its block; its hash is made of the block's number and hash, sender and recipient are the zero
address, and it uses no gas. Its receipt has the logs, and eth_getBlockReceipts of some nodes lacks
it. Since Madhugiri it has a type of its own, which roots cover. core/state_transition.go,
core/bor_fee_log.go and params/config.go of bor 2.2: a contract gets base fees. The block's author
gets tips: it is not `miner`, but the recipient of a log that the protocol appends to each
transaction. A state sync moves coin out of the coin's contract, which logs Deposit of MRC20.sol of
0xPolygon/pos-contracts.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from scan.ethereum.forms import form
from scan.ethereum.rlp_and_tries import keccak256
from scan.hex import BadHex, data, quantity

Credit = tuple[int | None, int, bytes, int]  # as form.numbered() takes it


def settle_unburnt(
    block: Any, producer_fees: int, credits: Sequence[Credit] = (), blob_fees: int | None = None
) -> form.Settlement:
    """Settle a block of a chain that burns no base fees: 0 is burnt, None of blocks that have no
    base fee."""
    burnt = None if block.base_fee_per_gas is None else 0
    return form.Settlement(producer_fees, burnt, blob_fees, form.numbered(block, credits))


def avalanche_settle(block: Any) -> form.Settlement:
    return settle_unburnt(block, sum([t.fee for t in block.transactions]))


AVALANCHE = form.Form(
    "Avalanche",
    header_signs=("extDataHash", "blockGasCost"),
    chain_ids=frozenset((43_114, 43_113)),
    shows=lambda block, sent, received: block.extDataHash is not None,
    block_fields={
        "extDataHash": form.hash_,
        "extDataGasUsed": form.number,
        "blockGasCost": form.number,
        "timestampMilliseconds": form.number,
        "minDelayExcess": form.number,
    },
    settle=avalanche_settle,
    unseen="Imports from other chains of Avalanche, and exports, move coin without a transaction.",
)


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


def gnosis_settle(network: Network, block: Any) -> form.Settlement:
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
    return settle_unburnt(block, producer_fees, credits, blob_fees)


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
    settle=partial(gnosis_settle, GNOSIS_NETWORK),
    withdrawal_unit="mGNO",
    unseen="At the end of a block its reward contract may mint coin that no event announces.",
)
CHIADO = GNOSIS._replace(
    name="Chiado", chain_ids=frozenset((10_200,)), settle=partial(gnosis_settle, CHIADO_NETWORK)
)


STATE_SYNC = 0x7F
COIN = bytes(18) + bytes.fromhex("1010")
# LogFeeTransfer(address indexed token, address indexed from, address indexed to, uint256 amount,
# uint256, uint256, uint256, uint256) and Deposit(address indexed token, address indexed from,
# uint256 amount, uint256, uint256)
LOG_FEE_TRANSFER = bytes.fromhex("4dfe1bbbcf077ddc3e01291eea2d5c70c2b422b415d95645b9adcfd678cb1d63")
DEPOSIT = bytes.fromhex("4e2ca0515ed1aef1395f66b5303bb5d6f1bf9d61a353fa53f73f8ac9973fa9f6")
# The contracts that get base fees, each with its first block; the newest first.
BurnContracts = Sequence[tuple[int, bytes]]
MAINNET_BURN: BurnContracts = (
    (50_523_000, bytes.fromhex("7a8ed27f4c30512326878652d20fc85727401854")),
    (0, bytes.fromhex("70bca57f4579f58670ab2d18ef16e02c17553c38")),
)
AMOY_BURN: BurnContracts = (
    (73_100, bytes.fromhex("ecdd77ce6f146ccf5dab707941d318bd50eed2c9")),
    (0, bytes.fromhex("000000000000000000000000000000000000dead")),
)
_PREFIX = b"matic-bor-receipt-"
_NOBODY = "0x" + "00" * 20


def has_state_sync(block: Any) -> bool:
    """Return whether the last transaction of a block, given as a struct, is a state sync that no
    root covers."""
    if not block.transactions:
        return False
    last = block.transactions[-1]
    if last.to != _NOBODY or getattr(last, "from") != _NOBODY:
        return False
    try:
        key = _PREFIX + quantity(block.number).to_bytes(8) + data(block.hash, 32)
        is_empty = quantity(last.gas) == quantity(last.value) == 0 and data(last.input) == b""
        return is_empty and data(last.hash, 32) == keccak256(key)
    except (BadHex, TypeError, OverflowError):
        return False


def is_of_bor(block: Any) -> bool:
    """Return whether a block, given as a struct, ends with a state sync of any kind."""
    if has_state_sync(block):
        return True
    last = block.transactions[-1] if block.transactions else None
    parties = last and (last.type, getattr(last, "from"), last.to)
    return bool(parties == (hex(STATE_SYNC), _NOBODY, _NOBODY))


def polygon_shows(block: Any, sent: form.Values, received: form.Values) -> bool:
    """Return whether a block's extraData is long enough to end with a seal of bor."""
    return len(block.extraData or "0x") // 2 - 1 >= form.VANITY_BYTES + form.SEAL_BYTES


def polygon_settle(burn_contracts: BurnContracts, block: Any) -> form.Settlement:
    _, base_fees, blob_fees, _ = form.settle_by_ethereum(block)
    tips, deposits = _coin_events(block)
    vaults = [(None, form.FEE_VAULT, author, amount) for author, amount in tips.items()]
    burn_contract = next(address for first, address in burn_contracts if block.number >= first)
    vaults.append((None, form.FEE_VAULT, burn_contract, base_fees or 0))
    return settle_unburnt(block, 0, [*deposits, *vaults], blob_fees)


def settle_elsewhere(block: Any) -> form.Settlement:
    """Settle on other chains of bor: only their configuration names the contract for base fees."""
    _, deposits = _coin_events(block)
    return form.settle_by_ethereum(block)._replace(credits=form.numbered(block, deposits))


def _coin_events(block: Any) -> tuple[dict[bytes, int], list[tuple[int, int, bytes, int]]]:
    """Return the tips by author, and the coin that state syncs brought, as numbered() takes it."""
    tips: dict[bytes, int] = {}
    deposits = []
    for log in block.logs:
        if log.address != COIN or len(log.topics) < 3:
            continue
        transaction = block.transactions[log.transaction_index]
        amount = int.from_bytes(log.data[:32])
        tip = (transaction.gas_price - (block.base_fee_per_gas or 0)) * transaction.gas_used
        if log.topics[0] == LOG_FEE_TRANSFER and len(log.topics) == 4 and amount == tip:
            author = log.topics[3][12:]
            tips[author] = tips.get(author, 0) + amount
        is_state_sync = transaction.is_state_sync or transaction.type == bytes([STATE_SYNC])
        if log.topics[0] == DEPOSIT and is_state_sync:
            deposits.append((log.transaction_index, form.MINT, log.topics[2][12:], amount))
    return tips, deposits


POLYGON = form.Form(
    "Polygon",
    chain_ids=frozenset((137,)),
    shows=polygon_shows,
    type_names={STATE_SYNC: "state sync"},
    settle=partial(polygon_settle, MAINNET_BURN),
    has_uncovered_end=has_state_sync,
    has_cancun_without_blobs=True,
    unseen="What contracts moved in a state sync, and what it takes from 0x1010, has no trace.",
)
AMOY = POLYGON._replace(
    name="Amoy", chain_ids=frozenset((80_002,)), settle=partial(polygon_settle, AMOY_BURN)
)
BOR = POLYGON._replace(name="Bor", chain_ids=frozenset(), is_of=is_of_bor, settle=settle_elsewhere)


FORMS = (AVALANCHE, GNOSIS, CHIADO, POLYGON, AMOY, BOR)
