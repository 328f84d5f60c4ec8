"""A chain worth reading: the same blocks every time, from honest tokens to poison."""

import random
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_account.typed_transactions import base as typed_transactions
from eth_utils import keccak

from tests.support.anvil import ZERO, Anvil, Contract, creation_code
from tests.support.solidity import artifact

MNEMONIC = "test test test test test test test test test test test junk"
ETHER = 10**18
GWEI = 10**9
MOST = 2**256 - 1

# Where the factories live on Ethereum: dex names hang on these addresses.
UNISWAP_V2 = "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"
UNISWAP_V3 = "0x1f98431c8ad98523631ae4a59f267346ea31f984"
PANCAKESWAP_V2 = "0x1097053fd2ea711dad45caccc45eff7548fcb362"
PANCAKESWAP_V3 = "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865"
# Their first transactions created Uniswap's factories, so their first ones here do the same.
UNISWAP_V2_DEPLOYER = "0x9c33eacc2f50e39940d3afaf2c7b8246b681a374"
UNISWAP_V3_DEPLOYER = "0x6c9fc64a53c1b71fb3f9af64d1ae3a4931a5f4e9"

MINERS = tuple("0x" + keccak(text=f"miner {n}")[12:].hex() for n in range(3))
STRANGERS = tuple("0x" + keccak(text=f"stranger {n}")[12:].hex() for n in range(40))

ERC721 = bytes.fromhex("80ac58cd")
ERC1155 = bytes.fromhex("d9b67a26")
NO_INTERFACE = bytes(4)

PRICE_ONE = 2**96
FULL_RANGE = (-887220, 887220)
CREATE_POOL_GAS = 6_000_000

# The KZG commitment of a blob of zeros, and all proofs of it, are the point at infinity: computing
# them takes 2 s of processor, for the trusted setup. The node verifies the proofs.
INFINITY = b"\xc0" + bytes(47)
OF_ZEROS = {
    "load_trusted_setup": lambda *_: None,
    "blob_to_kzg_commitment": lambda *_: INFINITY,
    "compute_blob_kzg_proof": lambda *_: INFINITY,
    "compute_cells_and_kzg_proofs": lambda *_: ([bytes(2048)] * 128, [INFINITY] * 128),
}


class Stage:
    """The node, who acts on it, what stands on it, and the one source of chance."""

    def __init__(self, anvil: Anvil, seed: int = 1) -> None:
        self.anvil = anvil
        self.random = random.Random(seed)
        self.people = anvil.accounts
        self.contracts: dict[str, Contract] = {}
        self.pools: dict[str, Contract] = {}
        self.collectibles: list[tuple[int, str]] = []

    def deploy(self, key: str, name: str, *args: Any) -> Contract:
        self.anvil.call("anvil_setCoinbase", self.random.choice(MINERS))
        self.contracts[key] = self.anvil.deploy(self.people[0], name, *args)
        return self.contracts[key]

    def do(self, who: int | str, key: str, function: str, *args: Any, **fields: Any) -> str:
        """One call of a contract, by the number or the address of who sends it."""
        sender = self.people[who] if isinstance(who, int) else who
        return self.anvil.transact(sender, self.contracts[key], function, *args, **fields)

    def mine(self) -> None:
        self.anvil.call("anvil_setCoinbase", self.random.choice(MINERS))
        self.anvil.mine()

    def person(self) -> str:
        return self.random.choice(self.people)

    def anybody(self) -> str:
        return self.random.choice((*self.people, *STRANGERS))


def play(
    anvil: Anvil,
    rounds: int = 40,
    per_block: tuple[int, int] = (0, 9),
    poison: bool = True,
    seed: int = 1,
) -> Stage:
    """Plays every act once, then `rounds` blocks of everyday life; about 110 blocks and `rounds`.

    `per_block` is the least and the most transactions of an everyday block.
    """
    stage = Stage(anvil, seed)
    for act in (*HONEST_ACTS, *(POISON_ACTS if poison else ())):
        act(stage)
    for _ in range(rounds):
        everyday(stage, stage.random.randint(*per_block))
    return stage


def honest_tokens(stage: Stage) -> None:
    for key, name, symbol, decimals in (
        ("dollar", "Meridian Dollar", "MUSD", 6),
        ("harbor", "Harbor Token", "HBR", 18),
        ("gold", "Ridge Gold", "RGLD", 18),
    ):
        stage.deploy(key, "Coin", name, symbol, decimals)
        for person in stage.people:
            stage.do(0, key, "mint", person, 1_000_000 * ETHER)
        stage.mine()
    stage.do(1, "dollar", "airdrop", STRANGERS[:20], 25 * 10**6, gas=2_000_000)
    stage.do(2, "harbor", "transfer", stage.people[2], 5 * ETHER)
    stage.do(3, "harbor", "transfer", stage.people[4], 0)
    stage.do(4, "harbor", "burn", 3 * ETHER)
    stage.do(5, "gold", "transfer", STRANGERS[0], 7 * ETHER)
    stage.mine()
    # Out of everything: a holder no more.
    stage.do(9, "gold", "transfer", stage.people[8], 1_000_000 * ETHER)
    stage.mine()


def collections(stage: Stage) -> None:
    stage.deploy("keepers", "Collectible", "Lantern Keepers", "LAMP")
    for token_id in (0, 1, 2, 3, MOST):
        stage.do(0, "keepers", "mint", stage.people[1], token_id)
    stage.mine()
    stage.do(1, "keepers", "transferFrom", stage.people[1], stage.people[2], 1)
    stage.do(1, "keepers", "transferFrom", stage.people[1], stage.people[1], 2)
    stage.do(1, "keepers", "burn", 3)
    stage.mine()
    items(stage)


def items(stage: Stage) -> None:
    one, two = stage.people[1], stage.people[2]
    many = list(range(100, 180))
    stage.deploy("forge", "Items", "Forge and Field", "FORGE")
    stage.do(0, "forge", "mint", one, 7, 50)
    stage.do(0, "forge", "mintBatch", two, many, [n % 3 for n in many], gas=6_000_000)
    stage.mine()
    stage.do(1, "forge", "safeTransferFrom", one, STRANGERS[1], 7, 20, b"")
    stage.do(2, "forge", "safeBatchTransferFrom", two, one, [101, 104], [1, 1], b"")
    stage.do(2, "forge", "safeBatchTransferFrom", two, two, [107, 107], [1, 0], b"")
    stage.mine()
    stage.do(1, "forge", "burn", one, 7, 30)
    stage.do(2, "forge", "burnBatch", two, [110, 113], [1, 1])
    stage.do(2, "forge", "burnBatch", two, [], [])
    stage.mine()


def wrappers(stage: Stage) -> None:
    stage.deploy("weth", "WrappedEther")
    stage.deploy("dweth", "DoubleWrapper")
    stage.deploy("staking", "Staking")
    for who in range(6):
        stage.do(who, "weth", "deposit", value=40 * ETHER)
    stage.anvil.send(stage.people[6], stage.contracts["weth"].address, value=3 * ETHER)
    stage.mine()
    stage.do(0, "weth", "transfer", STRANGERS[2], ETHER)
    stage.do(1, "weth", "withdraw", 2 * ETHER)
    stage.do(2, "weth", "deposit")
    stage.do(6, "weth", "withdraw", 3 * ETHER)
    stage.do(3, "dweth", "deposit", value=9 * ETHER)
    stage.do(4, "dweth", "depositInHalves", value=8 * ETHER)
    stage.do(5, "staking", "deposit", value=ETHER)
    stage.mine()
    stage.do(3, "dweth", "withdraw", 4 * ETHER)
    stage.do(5, "staking", "withdraw", ETHER)
    stage.mine()


def exchanges(stage: Stage) -> None:
    stage.deploy("router", "Router")
    open_v2(stage)
    open_v3(stage)
    open_pancake_v3(stage)
    approve_everything(stage)
    add_liquidity(stage)
    first_trades(stage)


def open_factory(stage: Stage, key: str, deployer: str, name: str, *args: Any) -> None:
    """Creates a factory as its own deployer did, which gives it its well-known address."""
    stage.anvil.impersonate(deployer)
    stage.contracts[key] = stage.anvil.deploy(deployer, name, *args)


def open_v2(stage: Stage) -> None:
    """Three factories with the same code: two well known by their address, one unknown."""
    open_factory(stage, "uniswap-v2", UNISWAP_V2_DEPLOYER, "UniswapV2Factory", ZERO)
    stage.contracts["pancakeswap-v2"] = stage.anvil.place(PANCAKESWAP_V2, "UniswapV2Factory")
    stage.deploy("unknown-v2", "UniswapV2Factory", ZERO)
    for factory, key in (
        ("uniswap-v2", "v2 harbor/weth"),
        ("pancakeswap-v2", "v2 dollar/gold"),
        ("unknown-v2", "v2 gold/harbor"),
    ):
        tokens = tokens_of(stage, key)
        stage.do(0, factory, "createPair", *tokens, gas=CREATE_POOL_GAS)
        stage.mine()
        address = stage.anvil.read(stage.contracts[factory], "getPair", *tokens)
        stage.pools[key] = pool(address, "UniswapV2Pair")


def open_v3(stage: Stage) -> None:
    open_factory(stage, "uniswap-v3", UNISWAP_V3_DEPLOYER, "UniswapV3Factory")
    stage.deploy("unknown-v3", "UniswapV3Factory")
    for factory, key in (("uniswap-v3", "v3 dollar/weth"), ("unknown-v3", "v3 harbor/gold")):
        tokens = tokens_of(stage, key)
        stage.do(0, factory, "createPool", *tokens, 3000, gas=CREATE_POOL_GAS)
        stage.mine()
        address = stage.anvil.read(stage.contracts[factory], "getPool", *tokens, 3000)
        stage.pools[key] = pool(address, "UniswapV3Pool")
        stage.anvil.transact(stage.people[0], stage.pools[key], "initialize", PRICE_ONE)
        stage.mine()


def open_pancake_v3(stage: Stage) -> None:
    key = "pancake dollar/harbor"
    factory = stage.anvil.place(PANCAKESWAP_V3, "PancakeFactory")
    stage.contracts["pancakeswap-v3"] = factory
    stage.do(0, "pancakeswap-v3", "createPool", *tokens_of(stage, key), 500, gas=2_000_000)
    stage.mine()
    address = stage.anvil.read(factory, "getPool", *tokens_of(stage, key), 500)
    stage.pools[key] = pool(address, "PancakePool")


def approve_everything(stage: Stage) -> None:
    spenders = [stage.contracts["router"].address, stage.pools["pancake dollar/harbor"].address]
    for spender in spenders:
        for key in ("dollar", "harbor", "gold", "weth"):
            for who in range(len(stage.people)):
                stage.do(who, key, "approve", spender, MOST, gas=60_000)
        stage.mine()


def add_liquidity(stage: Stage) -> None:
    for key, found in stage.pools.items():
        if key.startswith("v2"):
            args = (found.address, 20 * ETHER, 20 * ETHER)
            stage.do(0, "router", "addLiquidityV2", *args)
        elif key.startswith("v3"):
            args = (found.address, *FULL_RANGE, 15 * ETHER)
            stage.do(0, "router", "addLiquidityV3", *args, gas=1_000_000)
    for key in ("dollar", "harbor"):
        pancake = stage.pools["pancake dollar/harbor"].address
        stage.do(0, key, "transfer", pancake, 1000 * ETHER)
    stage.mine()


def first_trades(stage: Stage) -> None:
    for zero_for_one in (True, False):
        for key in stage.pools:
            trade(stage, 1, key, zero_for_one, ETHER // 100)
        stage.mine()
    pair = stage.pools["v2 harbor/weth"].address
    stage.do(2, "router", "roundTripV2", pair, ETHER // 50, gas=600_000)
    stage.do(3, "router", "swapV2BothIn", pair, 1000, ETHER // 50, 10**6)
    exact_out = -ETHER // 200
    v3 = stage.pools["v3 dollar/weth"].address
    stage.do(4, "router", "swapV3", v3, True, exact_out, gas=600_000)
    stage.mine()


def trade(stage: Stage, who: int, key: str, zero_for_one: bool, amount: int) -> str:
    found = stage.pools[key]
    if key.startswith("v2"):
        args = (found.address, zero_for_one, amount, stage.people[who])
        return stage.do(who, "router", "swapV2", *args)
    if key.startswith("v3"):
        args = (found.address, zero_for_one, amount)
        return stage.do(who, "router", "swapV3", *args, gas=600_000)
    return stage.anvil.transact(stage.people[who], found, "swap", zero_for_one, amount)


def odd_pools(stage: Stage) -> None:
    """Pools by their events only: which of them are pools, and which way did they trade?"""
    gold, harbor = (stage.contracts[key].address for key in ("gold", "harbor"))
    stage.deploy("pool without tokens", "FakePool", UNISWAP_V2, ZERO, ZERO)
    stage.deploy("pool with one token", "FakePool", UNISWAP_V2, gold, ZERO)
    stage.deploy("pool without factory", "FakePool", ZERO, gold, harbor)
    stage.deploy("impostor of v2", "FakePool", UNISWAP_V2, gold, harbor)
    stage.deploy("impostor of v3", "FakePool", UNISWAP_V3, gold, harbor)
    for key in (
        "pool without tokens",
        "pool with one token",
        "pool without factory",
        "impostor of v2",
        "impostor of v3",
    ):
        swaps = [("swapV2", (10, 0, 0, 9)), ("swapV3", (-9, 10))]
        # A pool is of the exchange whose event comes first.
        for function, amounts in swaps[::-1] if key == "impostor of v3" else swaps:
            stage.do(1, key, function, *amounts)
        stage.mine()
    for amounts in (
        *((50, 30, 100, 0), (0, 70, 40, 20), (5, 7, 0, 0), (0, 0, 3, 4), (0, 0, 0, 0)),
        (MOST, 0, 0, MOST),
    ):
        stage.do(2, "pool without factory", "swapV2", *amounts)
    for signed in ((10, 0), (0, 10), (2**255 - 1, -(2**255))):
        stage.do(2, "pool without factory", "swapV3", *signed)
    stage.mine()


def poison_metadata(stage: Stage) -> None:
    for name in (
        *("NulName", "Bytes32Name", "LongName", "InvalidUtf8Name", "RevertingName", "HugeDecimals"),
        *("RevertingSupply", "GasBurner", "BrokenStrings"),
    ):
        stage.deploy(name, name)
        stage.do(1, name, "mint", stage.people[1], 700)
        stage.do(1, name, "mint", stage.people[2], 300)
        stage.do(1, name, "transfer", STRANGERS[3], 700)
        stage.mine()


def poison_events(stage: Stage) -> None:
    kitties(stage)
    silent_and_empty(stage)
    liar(stage)
    stage.anvil.deploy(stage.people[0], "Vanishing")


def kitties(stage: Stage) -> None:
    for name in ("Kitties", "UnindexedCoin", "Unannounced721"):
        stage.deploy(name, name)
        stage.do(0, name, "mint", stage.people[1], 11)
        stage.do(0, name, "mint", stage.people[2], 12)
    stage.mine()
    stage.do(1, "Kitties", "transfer", stage.people[3], 11)
    stage.mine()


def silent_and_empty(stage: Stage) -> None:
    stage.deploy("Silent", "Silent")
    stage.deploy("EmptyAnswers", "EmptyAnswers")
    stage.do(0, "EmptyAnswers", "emitTransfer", ZERO, stage.people[5], 10)
    words = "".join(word(n) for n in (0, int(STRANGERS[4], 16), 10))
    stage.anvil.send(stage.people[0], stage.contracts["Silent"].address, data="0x" + words)
    stage.mine()


def liar(stage: Stage) -> None:
    """Balances by its events go below zero, back above, and over every uint256."""
    one, two, three = STRANGERS[5:8]
    stage.deploy("Liar", "Liar")
    stage.do(0, "Liar", "emitTransfer", one, two, 5)
    stage.mine()
    stage.do(0, "Liar", "emitTransfer", two, three, 10)
    stage.do(0, "Liar", "emitTransfer", stage.people[0], one, 20)
    stage.do(0, "Liar", "emitTransfer", ZERO, ZERO, 3)
    stage.mine()
    for _ in range(12):
        stage.do(0, "Liar", "emitTransfer", ZERO, STRANGERS[8], MOST)
        stage.do(0, "Liar", "emitTransfer", STRANGERS[9], ZERO, MOST)
    stage.mine()


def shape_shifters(stage: Stage) -> None:
    to = stage.people[4]
    for key, claimed, claims_all in (
        ("claims 721", ERC721, False),
        ("claims nothing", NO_INTERFACE, False),
        ("claims all", NO_INTERFACE, True),
        ("claims 1155", ERC1155, False),
    ):
        stage.deploy(key, "ShapeShifter", claimed, claims_all)
    stage.do(0, "claims 721", "threeTopics", ZERO, to, 71)
    stage.do(0, "claims nothing", "threeTopics", ZERO, to, 72)
    stage.do(0, "claims all", "fourTopics", ZERO, to, 73)
    stage.do(0, "claims 1155", "single", ZERO, to, 1, 74)
    stage.mine()
    stage.do(0, "claims 721", "fourTopics", to, STRANGERS[10], 71)
    stage.do(0, "claims nothing", "fourTopics", to, STRANGERS[10], 2)
    stage.do(0, "claims all", "threeTopics", to, STRANGERS[10], 73)
    stage.do(0, "claims 721", "single", ZERO, STRANGERS[10], 81, 5)
    stage.do(0, "claims nothing", "single", ZERO, STRANGERS[10], 82, 6)
    stage.do(0, "claims 1155", "fourTopics", ZERO, STRANGERS[10], 8)
    stage.do(0, "claims 1155", "threeTopics", ZERO, STRANGERS[10], 9)
    stage.do(0, "claims 1155", "claim", ERC721)
    stage.do(0, "claims nothing", "claim", ERC721)
    stage.mine()
    stage.do(0, "claims 1155", "single", to, STRANGERS[10], 1, 4)
    stage.do(0, "claims nothing", "threeTopics", to, STRANGERS[11], 3)
    stage.mine()


TRANSFER = keccak(text="Transfer(address,address,uint256)")
TRANSFER_SINGLE = keccak(text="TransferSingle(address,address,address,uint256,uint256)")
TRANSFER_BATCH = keccak(text="TransferBatch(address,address,address,uint256[],uint256[])")
DEPOSIT = keccak(text="Deposit(address,uint256)")
SWAP_V2 = keccak(text="Swap(address,uint256,uint256,uint256,uint256,address)")
SWAP_V3 = keccak(text="Swap(address,address,int256,int256,uint160,uint128,int24)")


def malformed_logs(stage: Stage) -> None:
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


def malformed_batches(clean: bytes, other: bytes, dirty: bytes) -> list[tuple[Any, bytes]]:
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


def creations(stage: Stage) -> None:
    stage.deploy("maker", "Maker")
    stage.deploy("vault", "Vault", stage.people[3])
    stage.do(3, "vault", "open")
    stage.do(1, "maker", "make")
    stage.do(2, "maker", "makeAt", keccak(text="salt"))
    stage.do(3, "maker", "makeFunded", value=ETHER)
    stage.do(4, "maker", "makeNest", gas=800_000)
    stage.do(5, "maker", "makeMayfly", value=ETHER)
    stage.do(6, "maker", "makeInVain")
    stage.mine()
    # The same salt again: the creation fails, and with it the transaction.
    stage.do(2, "maker", "makeAt", keccak(text="salt"))
    stage.do(7, "maker", "makeAndRevert")
    stillborn = creation_code(artifact("Stillborn"))
    stage.anvil.send(stage.people[8], None, data=stillborn)
    stage.anvil.send(stage.people[9], None, data="0x", gas=100_000)
    stage.mine()


def failures(stage: Stage) -> None:
    stage.deploy("failing", "Failing")
    for function, args in FAILURES:
        stage.do(stage.random.randrange(10), "failing", function, *args, gas=90_000)
    stage.do(9, "gold", "transfer", stage.people[0], ETHER)
    stage.mine()


FAILURES: Sequence[tuple[str, tuple[Any, ...]]] = (
    ("withReason", ()),
    ("withCustomError", ()),
    ("withPanic", (0,)),
    ("withoutData", ()),
    ("withInvalidOpcode", ()),
    ("untilGasIsOut", ()),
)


def purses(stage: Stage) -> None:
    """Value that contracts move, in every way there is; `stage.contracts` has who moves it."""
    anvil, one = stage.anvil, stage.people[1]
    for key in ("purse", "till"):
        stage.deploy(key, "Purse")
        anvil.send(one, stage.contracts[key].address, value=5 * ETHER)
        stage.mine()
    purse, till = (stage.contracts[key].address for key in ("purse", "till"))
    for function, args in (
        ("pay", (STRANGERS[30], 7)),
        ("pay", (purse, 8)),  # to itself
        ("pay", (STRANGERS[31], 0)),
        ("pay", ("0x" + 39 * "0" + "4", 9)),  # a precompiled contract
        ("offer", (STRANGERS[30], 10**6 * ETHER)),
        ("payAndRevert", (STRANGERS[30], 10)),
        ("payAroundRevert", (STRANGERS[30], 11)),
        ("bounce", (till, 6)),
        ("lend", (till, STRANGERS[32], 12)),
        ("borrow", (till, 13)),
        ("look", (STRANGERS[33],)),
        ("make", (14,)),
        ("make", (0,)),
        ("makeAt", (keccak(text="pouch"), 15)),
        ("makeSpender", (STRANGERS[34], 16)),
        ("makeAndClose", (STRANGERS[35], 17)),
        ("closeInVain", (STRANGERS[36],)),
    ):
        stage.do(stage.person(), "purse", function, *args, value=20, gas=1_500_000)
    stage.mine()
    # Lists longer than the distance of checkpoints.
    for _ in range(2):
        stage.do(1, "purse", "payEach", [*STRANGERS, *STRANGERS], 3, gas=8_000_000)
        stage.do(1, "till", "payEach", [purse] * 70, 2, gas=8_000_000)
        stage.mine()
    stage.do(2, "till", "close", till)  # to itself
    stage.do(2, "till", "close", STRANGERS[37])
    stage.mine()


def spend(stage: Stage) -> None:
    """One movement of value inside a transaction, or several."""
    purse, to = stage.contracts["purse"].address, stage.anybody()
    amount = stage.random.randint(1, GWEI)
    function, args = stage.random.choice(
        (
            ("pay", (to, amount)),
            ("payAroundRevert", (to, amount)),
            ("bounce", (purse, stage.random.randint(1, 9))),
            ("make", (amount,)),
            ("makeAndClose", (to, amount)),
            ("payEach", ([stage.anybody() for _ in range(20)], amount)),
        )
    )
    stage.do(stage.person(), "purse", function, *args, value=40 * GWEI, gas=2_000_000)


def kinds_of_transaction(stage: Stage) -> None:
    """Types 0 to 4, signed here: the node's own signer chooses the type itself."""
    signer, authority = key_of(7), key_of(8)
    fees = {"maxFeePerGas": 20 * GWEI, "maxPriorityFeePerGas": GWEI}
    priced = {"gasPrice": 20 * GWEI}
    access = {"address": stage.contracts["gold"].address, "storageKeys": ["0x" + word(0)]}
    authorisation = {
        "chainId": chain_id(stage),
        "address": bytes.fromhex(stage.contracts["vault"].address[2:]),
        "nonce": nonce_of(stage, authority),
    }
    signed = authority.sign_authorization(authorisation)
    send_signed(stage, signer, priced)
    send_signed(stage, signer, {**priced, "accessList": [access], "type": 1})
    send_signed(stage, signer, {**fees, "type": 2})
    send_signed(stage, signer, {**fees, "maxFeePerBlobGas": GWEI, "type": 3}, blobs=[bytes(131072)])
    send_signed(stage, signer, {**fees, "authorizationList": [signed], "type": 4})
    zero_price(stage)


def zero_price(stage: Stage) -> None:
    """As validators and private chains do it: nothing paid for gas, in a block of no base fee."""
    base_fee = stage.anvil.call("eth_getBlockByNumber", "latest", False)["baseFeePerGas"]
    stage.anvil.call("anvil_setNextBlockBaseFeePerGas", "0x0")
    stage.anvil.send(stage.people[7], STRANGERS[14], value=1, gasPrice=0)
    stage.mine()
    stage.anvil.call("anvil_setNextBlockBaseFeePerGas", base_fee)


def plain_transfers(stage: Stage) -> None:
    one = stage.people[1]
    stage.anvil.send(one, one, value=ETHER)
    stage.anvil.send(one, STRANGERS[15], value=0)
    stage.anvil.send(one, ZERO, value=1)
    stage.anvil.send(one, "0x" + 39 * "0" + "4", value=0, data="0x1234")
    stage.anvil.send(one, STRANGERS[15], value=ETHER, data="0x" + b"for the coffee".hex())
    stage.anvil.send(one, one, value=0, data="0x00")
    stage.mine()


def everyday(stage: Stage, count: int) -> None:
    """One block of what people do all day."""
    habits, weights = zip(*HABITS, strict=True)
    for habit in stage.random.choices(habits, weights, k=count):
        habit(stage)
    stage.mine()


def pay(stage: Stage) -> None:
    price = stage.random.randint(2 * GWEI, 9 * GWEI)
    value = stage.random.randint(1, ETHER)
    stage.anvil.send(stage.person(), stage.anybody(), value=value, gasPrice=price)


def move_coin(stage: Stage) -> None:
    key = stage.random.choice(("dollar", "dollar", "harbor", "gold"))
    value = stage.random.randint(1, 50 * 10**6)
    stage.do(stage.person(), key, "transfer", stage.anybody(), value)


def supply_coin(stage: Stage) -> None:
    key = stage.random.choice(("dollar", "harbor"))
    if stage.random.random() < 0.5:
        stage.do(stage.person(), key, "burn", stage.random.randint(1, 10**6))
    else:
        stage.do(stage.person(), key, "mint", stage.anybody(), stage.random.randint(1, 10**9))


def move_collectible(stage: Stage) -> None:
    if not stage.collectibles or stage.random.random() < 0.5:
        to = stage.person()
        token_id = 1000 + stage.random.getrandbits(60)
        stage.do(stage.person(), "keepers", "mint", to, token_id)
        stage.collectibles.append((token_id, to))
        return
    chosen = stage.random.randrange(len(stage.collectibles))
    (token_id, owner), to = stage.collectibles[chosen], stage.person()
    stage.do(owner, "keepers", "transferFrom", owner, to, token_id)
    stage.collectibles[chosen] = (token_id, to)


def move_items(stage: Stage) -> None:
    ids = stage.random.sample(range(1, 60), stage.random.randint(1, 5))
    values = [stage.random.randint(0, 9) for _ in ids]
    stage.do(stage.person(), "forge", "mintBatch", stage.person(), ids, values)


def wrap(stage: Stage) -> None:
    person = stage.person()
    stage.do(person, "weth", "deposit", value=ETHER // 10)
    if stage.random.random() < 0.5:
        stage.do(person, "weth", "withdraw", ETHER // 20)


def swap(stage: Stage) -> None:
    key = stage.random.choice(list(stage.pools))
    amount = stage.random.randint(10**12, ETHER // 100)
    # Only the first six have wrapped ether to sell.
    trade(stage, stage.random.randrange(6), key, stage.random.random() < 0.5, amount)


def fail(stage: Stage) -> None:
    function, args = stage.random.choice(FAILURES)
    stage.do(stage.person(), "failing", function, *args, gas=90_000)


def create(stage: Stage) -> None:
    if stage.random.random() < 0.5:
        stage.do(stage.person(), "maker", "make")
    else:
        code = creation_code(artifact("Vault"), stage.person())
        stage.anvil.send(stage.person(), None, data=code)


HABITS: Sequence[tuple[Callable[[Stage], None], int]] = (
    (pay, 28),
    (move_coin, 30),
    (swap, 16),
    (wrap, 7),
    (move_collectible, 6),
    (move_items, 4),
    (supply_coin, 4),
    (fail, 3),
    (create, 2),
)


HONEST_ACTS: Sequence[Callable[[Stage], None]] = (
    *(honest_tokens, collections, wrappers, exchanges, creations, failures, kinds_of_transaction),
    plain_transfers,
)
POISON_ACTS: Sequence[Callable[[Stage], None]] = (
    odd_pools,
    poison_metadata,
    poison_events,
    shape_shifters,
    malformed_logs,
)


def tokens_of(stage: Stage, pool_key: str) -> tuple[str, str]:
    """The two tokens that a pool's key names: `v2 harbor/weth`."""
    one, two = pool_key.split(" ")[1].split("/")
    return stage.contracts[one].address, stage.contracts[two].address


def pool(address: str, name: str) -> Contract:
    return Contract(address, artifact(name))


def key_of(number: int) -> LocalAccount:
    Account.enable_unaudited_hdwallet_features()
    account: LocalAccount = Account.from_mnemonic(MNEMONIC, account_path=f"m/44'/60'/0'/0/{number}")
    return account


def chain_id(stage: Stage) -> int:
    return int(stage.anvil.call("eth_chainId"), 16)


def nonce_of(stage: Stage, account: LocalAccount) -> int:
    return int(stage.anvil.call("eth_getTransactionCount", account.address, "latest"), 16)


def send_signed(
    stage: Stage, signer: LocalAccount, fields: dict[str, Any], blobs: list[bytes] | None = None
) -> None:
    """A small payment of the given type, in a block of its own; blobs are of zeros."""
    transaction = {
        "chainId": chain_id(stage),
        "nonce": nonce_of(stage, signer),
        "to": bytes.fromhex(STRANGERS[16][2:]),
        "value": 10,
        "gas": 200_000,
        **fields,
    }
    with patch.multiple(typed_transactions, **OF_ZEROS):
        signed = signer.sign_transaction(transaction, blobs=blobs)
    stage.anvil.call("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex())
    stage.mine()


def word(number: int) -> str:
    return f"{number:064x}"


def data(*numbers: int) -> bytes:
    return bytes.fromhex("".join(word(n) for n in numbers))


def topic(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])
