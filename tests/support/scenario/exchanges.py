"""Acts of exchanges: factories, pools, liquidity, trades, and pools by their events only."""

from tests.support import anvil, solidity
from tests.support.scenario.stage import ETHER, MOST

# Where the factories live on Ethereum: dex names hang on these addresses.
UNISWAP_V2 = "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"
UNISWAP_V3 = "0x1f98431c8ad98523631ae4a59f267346ea31f984"
PANCAKESWAP_V2 = "0x1097053fd2ea711dad45caccc45eff7548fcb362"
PANCAKESWAP_V3 = "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865"
# Their first transactions created Uniswap's factories, so their first ones here do the same.
UNISWAP_V2_DEPLOYER = "0x9c33eacc2f50e39940d3afaf2c7b8246b681a374"
UNISWAP_V3_DEPLOYER = "0x6c9fc64a53c1b71fb3f9af64d1ae3a4931a5f4e9"
PRICE_ONE = 2**96
FULL_RANGE = (-887220, 887220)
CREATE_POOL_GAS = 6_000_000


def exchanges(stage):
    stage.deploy("router", "Router")
    open_v2(stage)
    open_v3(stage)
    open_pancake_v3(stage)
    approve_everything(stage)
    add_liquidity(stage)
    first_trades(stage)


def open_factory(stage, key, deployer, name, *args):
    """Creates a factory as its own deployer did, which gives it its well-known address."""
    stage.anvil.impersonate(deployer)
    stage.contracts[key] = stage.anvil.deploy(deployer, name, *args)


def open_v2(stage):
    """Three factories with the same code: two well known by their address, one unknown."""
    open_factory(stage, "uniswap-v2", UNISWAP_V2_DEPLOYER, "UniswapV2Factory", anvil.ZERO)
    stage.contracts["pancakeswap-v2"] = stage.anvil.place(PANCAKESWAP_V2, "UniswapV2Factory")
    stage.deploy("unknown-v2", "UniswapV2Factory", anvil.ZERO)
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


def open_v3(stage):
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


def open_pancake_v3(stage):
    key = "pancake dollar/harbor"
    factory = stage.anvil.place(PANCAKESWAP_V3, "PancakeFactory")
    stage.contracts["pancakeswap-v3"] = factory
    stage.do(0, "pancakeswap-v3", "createPool", *tokens_of(stage, key), 500, gas=2_000_000)
    stage.mine()
    address = stage.anvil.read(factory, "getPool", *tokens_of(stage, key), 500)
    stage.pools[key] = pool(address, "PancakePool")


def approve_everything(stage):
    spenders = [stage.contracts["router"].address, stage.pools["pancake dollar/harbor"].address]
    for spender in spenders:
        for key in ("dollar", "harbor", "gold", "weth"):
            for who in range(len(stage.people)):
                stage.do(who, key, "approve", spender, MOST, gas=60_000)
        stage.mine()


def add_liquidity(stage):
    for key, contract in stage.pools.items():
        if key.startswith("v2"):
            args = (contract.address, 20 * ETHER, 20 * ETHER)
            stage.do(0, "router", "addLiquidityV2", *args)
        elif key.startswith("v3"):
            args = (contract.address, *FULL_RANGE, 15 * ETHER)
            stage.do(0, "router", "addLiquidityV3", *args, gas=1_000_000)
    for key in ("dollar", "harbor"):
        stage.do(0, key, "transfer", stage.pools["pancake dollar/harbor"].address, 1000 * ETHER)
    stage.mine()


def first_trades(stage):
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


def trade(stage, who, key, zero_for_one, amount):
    contract = stage.pools[key]
    if key.startswith("v2"):
        args = (contract.address, zero_for_one, amount, stage.people[who])
        return stage.do(who, "router", "swapV2", *args)
    if key.startswith("v3"):
        args = (contract.address, zero_for_one, amount)
        return stage.do(who, "router", "swapV3", *args, gas=600_000)
    return stage.anvil.transact(stage.people[who], contract, "swap", zero_for_one, amount)


def odd_pools(stage):
    """Pools by their events only: which of them are pools, and which way did they trade?"""
    gold, harbor = (stage.contracts[key].address for key in ("gold", "harbor"))
    odd = {
        "pool without tokens": (UNISWAP_V2, anvil.ZERO, anvil.ZERO),
        "pool with one token": (UNISWAP_V2, gold, anvil.ZERO),
        "pool without factory": (anvil.ZERO, gold, harbor),
        "impostor of v2": (UNISWAP_V2, gold, harbor),
        "impostor of v3": (UNISWAP_V3, gold, harbor),
    }
    for key, arguments in odd.items():
        stage.deploy(key, "FakePool", *arguments)
    for key in odd:
        swaps = [("swapV2", (10, 0, 0, 9)), ("swapV3", (-9, 10))]
        # A pool is of the exchange whose event comes first.
        for function, amounts in swaps[::-1] if key == "impostor of v3" else swaps:
            stage.do(1, key, function, *amounts)
        stage.mine()
    for amounts in (
        (50, 30, 100, 0),
        (0, 70, 40, 20),
        (5, 7, 0, 0),
        (0, 0, 3, 4),
        (0, 0, 0, 0),
        (MOST, 0, 0, MOST),
    ):
        stage.do(2, "pool without factory", "swapV2", *amounts)
    for signed in ((10, 0), (0, 10), (2**255 - 1, -(2**255))):
        stage.do(2, "pool without factory", "swapV3", *signed)
    stage.mine()


def tokens_of(stage, pool_key):
    """The two tokens that a pool's key names: `v2 harbor/weth`."""
    one, two = pool_key.split(" ")[1].split("/")
    return stage.contracts[one].address, stage.contracts[two].address


def pool(address, name):
    return anvil.Contract(address, solidity.artifact(name))
