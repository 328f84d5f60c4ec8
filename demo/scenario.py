"""What happens on the demo chain: three weeks of a small economy, and a loop that can be repeated.

The loop undoes what it does: transfers are returned, deposits withdrawn and trades reversed. The
service repeats it with new nonces (scan/commands/demo_chain.py), so it has no creations, no mints
and nothing else that could not happen twice.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from eth_abi import encode
from eth_utils import keccak

from tests.support.anvil import Anvil, Contract, RpcError, creation_code
from tests.support.entry_points import EntryPoint
from tests.support.scenario import (
    CREATE_POOL_GAS,
    ETHER,
    FULL_RANGE,
    GWEI,
    MOST,
    PANCAKESWAP_V2,
    PANCAKESWAP_V3,
    STRANGERS,
    UNISWAP_V2,
    UNISWAP_V3,
    Stage,
    pool,
    tokens_of,
)
from tests.support.solidity import Artifact, artifact, compile_standard

SOURCE = Path(__file__).with_name("Savings.sol")

DAYS = 21
BLOCKS = 620  # of the three weeks
LAST_BLOCKS = 40  # as often as the service adds blocks
LOOP_BLOCKS = 160
INTERVAL_S = 6
PEOPLE = 20
TRADERS = range(1, 7)
CENT = 10**4  # of a coin with six decimals

COINS = {  # decimals, and a person's first balance
    "dollar": ("Meridian Dollar", "MUSD", 6, 2_000_000),
    "anchor": ("Anchor Dollar", "AUSD", 6, 500_000),
    "harbor": ("Harbor Token", "HBR", 18, 400_000),
    "gold": ("Ridge Gold", "RGLD", 18, 120),
}
PRICES = {"weth": 3_150.0, "harbor": 0.84, "gold": 2_640.0}  # in dollars, at the beginning
DAILY_VOLATILITY = {"weth": 0.028, "harbor": 0.045, "gold": 0.009}
POOLS = {  # by the token whose price it makes
    "weth": "v3 dollar/weth",
    "harbor": "v2 harbor/weth",
    "gold": "v2 dollar/gold",
}


class Town(Stage):
    """The stage with fees, times and prices as on a chain that people use."""

    def __init__(self, anvil: Anvil) -> None:
        super().__init__(anvil, seed=2026)
        self.base_fee = 1.2 * GWEI
        self.targets = dict(PRICES)
        self.lanterns: dict[int, int] = {}  # who has which
        self.deposits: dict[int, int] = {}

    def send(self, who: int | str, to: str | None, gas: int = 0, **fields: Any) -> str:
        sender = self.people[who] if isinstance(who, int) else who
        tip = int(self.random.choice((0.05, 0.1, 0.1, 0.5, 1, 1.5)) * GWEI)
        fees = {"maxPriorityFeePerGas": tip, "maxFeePerGas": int(4 * self.base_fee) + tip}
        if not gas:
            call = {"from": sender, "to": to, **fields}
            call = {k: hex(v) if isinstance(v, int) else v for k, v in call.items()}
            gas = int(self.anvil.call("eth_estimateGas", call), 16)
            gas = gas if gas == 21_000 else gas * 3 // 2
        return self.anvil.send(sender, to, gas=gas, **fees, **fields)

    def do(self, who: int | str, key: str, function: str, *args: Any, **fields: Any) -> str:
        contract = self.contracts[key]
        return self.send(who, contract.address, data=contract.data(function, *args), **fields)

    def mine(self, at: int | None = None) -> None:
        """Mine a block, of the time `at`."""
        drift = (1.2 * GWEI - self.base_fee) / GWEI * 0.05
        factor = math.exp(self.random.gauss(drift, 0.06))
        self.base_fee = min(max(self.base_fee * factor, 0.3 * GWEI), 4 * GWEI)
        self.anvil.call("anvil_setNextBlockBaseFeePerGas", hex(int(self.base_fee)))
        if at is not None:
            self.anvil.call("evm_setNextBlockTimestamp", hex(at))
        super().mine()

    def now(self) -> int:
        return int(self.anvil.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)

    def other_than(self, who: int) -> int:
        return self.random.choice([n for n in range(PEOPLE) if n != who])

    def amount(self, median: float, most: float) -> float:
        return min(median * math.exp(self.random.gauss(0, 1.1)), most)


def play(anvil: Anvil) -> tuple[Town, int]:
    """Play all of it, and return the first block of the loop as well."""
    town = Town(anvil)
    for act in (coins, exchanges, collections, savings, reasons, user_operations):
        act(town)
    everyday(town)
    show_the_best(town)
    for _ in range(LAST_BLOCKS):
        for _ in range(town.random.choice((1, 1, 2, 2, 3, 4))):
            habit(town)
        town.mine(town.now() + INTERVAL_S)
    first = anvil.head() + 1
    loop(town)
    return town, first


def coins(town: Town) -> None:
    for key, (name, symbol, decimals, amount) in COINS.items():
        town.deploy(key, "Coin", name, symbol, decimals)
        town.do(0, key, "mint", town.people[0], amount * PEOPLE * 3 * 10**decimals)
        town.mine()
        for person in town.people[1:]:
            share = int(amount * town.random.uniform(0.6, 1.4)) * 10**decimals
            town.do(0, key, "transfer", person, share)
        town.mine()
    town.deploy("weth", "WrappedEther")
    town.do(0, "weth", "deposit", value=1_500 * ETHER)
    for who in TRADERS:
        town.do(who, "weth", "deposit", value=300 * ETHER)
    town.mine()
    town.do(0, "dollar", "airdrop", STRANGERS[:25], 25 * 10**6)
    town.mine()


def exchanges(town: Town) -> None:
    """Four pools of well-known exchanges, at the prices of the beginning."""
    town.deploy("router", "Router")
    town.contracts["uniswap-v2"] = town.anvil.place(UNISWAP_V2, "UniswapV2Factory")
    town.contracts["pancakeswap-v2"] = town.anvil.place(PANCAKESWAP_V2, "UniswapV2Factory")
    town.contracts["pancakeswap-v3"] = town.anvil.place(PANCAKESWAP_V3, "PancakeFactory")
    place_uniswap_v3(town)
    for factory, key, contract, getter, fee in (
        ("uniswap-v3", "v3 dollar/weth", "UniswapV3Pool", "getPool", (3000,)),
        ("uniswap-v2", "v2 harbor/weth", "UniswapV2Pair", "getPair", ()),
        ("pancakeswap-v2", "v2 dollar/gold", "UniswapV2Pair", "getPair", ()),
        ("pancakeswap-v3", "pancake dollar/anchor", "PancakePool", "getPool", (500,)),
    ):
        tokens = tokens_of(town, key)
        create = getter.replace("get", "create")
        town.do(0, factory, create, *tokens, *fee, gas=CREATE_POOL_GAS)
        town.mine()
        address = town.anvil.read(town.contracts[factory], getter, *tokens, *fee)
        town.pools[key] = town.contracts[key] = pool(address, contract)
    spenders = [town.contracts["router"].address, town.pools["pancake dollar/anchor"].address]
    for who in (0, *TRADERS):
        for key in (*COINS, "weth"):
            for spender in spenders if key in ("dollar", "anchor") else spenders[:1]:
                town.do(who, key, "approve", spender, MOST)
        town.mine()
    add_liquidity(town)


def place_uniswap_v3(town: Town) -> None:
    """Put the factory at its well-known address, which is in its code, with its usual fee. To send
    in its creator's name would make a transaction whose hash does not follow from its parts."""
    made = town.deploy("uniswap-v3", "UniswapV3Factory")
    code = town.anvil.call("eth_getCode", made.address, "latest")
    code = code.replace(made.address[2:].lower(), UNISWAP_V3[2:])
    town.anvil.call("anvil_setCode", UNISWAP_V3, code)
    spacing_of_fee = "0x" + keccak(encode(["uint24", "uint256"], [3000, 4])).hex()
    town.anvil.call("anvil_setStorageAt", UNISWAP_V3, spacing_of_fee, f"0x{60:064x}")
    town.contracts["uniswap-v3"] = Contract(UNISWAP_V3, made.artifact)


def add_liquidity(town: Town) -> None:
    coin, ether = town.contracts["dollar"].address, town.contracts["weth"].address
    raw_dollars, raw_ether = 1_260_000 * 10**6, 400 * ETHER
    ratio = raw_ether / raw_dollars if int(coin, 16) < int(ether, 16) else raw_dollars / raw_ether
    v3 = "v3 dollar/weth"
    town.do(0, v3, "initialize", int(math.sqrt(ratio) * 2**96))
    town.mine()
    liquidity = math.isqrt(raw_dollars * raw_ether)
    town.do(
        0, "router", "addLiquidityV3", town.pools[v3].address, *FULL_RANGE, liquidity, gas=900_000
    )
    for key, first, second in (
        ("v2 harbor/weth", 600_000 * ETHER, 160 * ETHER),
        ("v2 dollar/gold", 528_000 * 10**6, 200 * ETHER),
    ):
        one, two = tokens_of(town, key)
        amounts = (first, second) if int(one, 16) < int(two, 16) else (second, first)
        town.do(0, "router", "addLiquidityV2", town.pools[key].address, *amounts, gas=500_000)
    for key in ("dollar", "anchor"):
        town.do(0, key, "transfer", town.pools["pancake dollar/anchor"].address, 900_000 * 10**6)
    town.mine()


def collections(town: Town) -> None:
    town.deploy("lanterns", "Lanterns")
    town.deploy("procession", "Procession", town.contracts["lanterns"].address)
    town.deploy("forge", "Items", "Forge and Field", "FORGE")
    for token_id in range(1, 7):
        mint_lantern(town, token_id)
    town.mine()
    for who in (8, 9, 10):
        ids = town.random.sample(range(1, 30), 6)
        town.do(0, "forge", "mintBatch", town.people[who], ids, [who + n for n in range(6)])
    town.mine()


def mint_lantern(town: Town, token_id: int) -> None:
    who = town.random.randrange(3, PEOPLE)
    town.do(3, "lanterns", "mint", town.people[who], token_id)
    town.lanterns[token_id] = who


@cache
def own_artifacts() -> dict[str, Artifact]:
    """Compile the contracts that no test has."""
    output = compile_standard({SOURCE.name: SOURCE.read_text()})
    return {
        name: Artifact(name, made["abi"], *map(bytes.fromhex, codes))
        for name, made in output["contracts"][SOURCE.name].items()
        if (codes := [made["evm"][k]["object"] for k in ("bytecode", "deployedBytecode")])
    }


def deploy_own(town: Town, key: str, name: str, *args: Any) -> Contract:
    made = own_artifacts()[name]
    receipt = town.anvil.receipt_of(town.send(0, None, data=creation_code(made, *args)))
    town.contracts[key] = Contract(receipt["contractAddress"], made)
    return town.contracts[key]


def savings(town: Town) -> None:
    """A contract behind an upgradeable proxy, which clients call by the proxy's address."""
    implementation = deploy_own(town, "savings implementation", "HarborSavings")
    asset, owner = town.contracts["dollar"].address, town.people[0]
    setup = implementation.data("initialize", asset, owner)
    proxy = deploy_own(
        town, "savings proxy", "SavingsProxy", implementation.address, bytes.fromhex(setup[2:])
    )
    town.contracts["savings"] = Contract(proxy.address, implementation.artifact)
    for who in range(PEOPLE):
        town.do(who, "dollar", "approve", proxy.address, MOST)
    town.mine()
    for who in (2, 5, 9, 12):
        deposit(town, who, 10_000)
    town.mine()


def deposit(town: Town, who: int, dollars: int) -> None:
    town.do(who, "savings", "deposit", dollars * 10**6)
    town.deposits[who] = town.deposits.get(who, 0) + dollars


def reasons(town: Town) -> None:
    town.deploy("reasons", "Reasons")
    guard = town.anvil.read(town.contracts["reasons"], "guard")
    town.contracts["guard"] = Contract(guard, artifact("Guard"))


def user_operations(town: Town) -> None:
    """Two accounts of ERC-4337, one of which is deployed by its first operation."""
    point = EntryPoint(town.anvil, "0.7")
    town.contracts["entry point"] = point.contract
    accounts = [point.account(number) for number in (77, 78)]
    for account in accounts:
        town.do(0, "dollar", "transfer", account.address, 5_000 * 10**6)
    town.mine()
    coin = town.contracts["dollar"]
    for nonce in range(2):
        pay = coin.data("transfer", STRANGERS[nonce], 40 * 10**6)
        operations = [
            point.operation(account, point.execute(coin.address, pay), nonce)
            for account in accounts[: 2 - nonce]
        ]
        point.send(*operations, bundler=11)
        town.mine()


def everyday(town: Town) -> None:
    """Three weeks of blocks at uneven times, more by day than by night."""
    start = town.now() + 60
    times: set[int] = set()
    while len(times) < BLOCKS:
        at = town.random.randrange(DAYS * 86_400)
        if town.random.random() < 0.55 + 0.45 * math.sin(math.tau * (at / 86_400 - 0.3)):
            times.add(start + at)
    last = start
    for number, at in enumerate(sorted(times)):
        for token, volatility in DAILY_VOLATILITY.items():
            step = volatility * math.sqrt((at - last) / 86_400)
            town.targets[token] *= math.exp(town.random.gauss(0.0001, step))
        last = at
        if number % 60 == 30:
            mint_lantern(town, 7 + number // 60)
        if number % 150 == 90:
            owner = town.people[town.random.randrange(PEOPLE)]
            code = creation_code(artifact("Vault"), owner)
            town.send(town.random.randrange(PEOPLE), None, data=code)
        for _ in range(town.random.choice((1, 1, 2, 2, 2, 3, 3, 4, 5))):
            habit(town)
        town.mine(at)


def habit(town: Town) -> None:
    habits, weights = zip(*HABITS, strict=True)
    [chosen] = town.random.choices(habits, weights)
    with suppress(RpcError):  # whoever has too little does nothing
        chosen(town)


def pay(town: Town) -> None:
    who = town.random.randrange(PEOPLE)
    to = town.random.choice((*town.people, *STRANGERS))
    town.send(who, to, value=int(town.amount(0.2, 9) * 1000 + 1) * ETHER // 1000)


def move_coin(town: Town) -> None:
    who = town.random.randrange(PEOPLE)
    key, median = town.random.choice(
        (("dollar", 180), ("dollar", 180), ("anchor", 90), ("harbor", 300), ("gold", 0.2))
    )
    decimals = COINS[key][2]
    value = int(town.amount(median, 60 * median) * 100) * 10 ** (decimals - 2)
    to = town.random.choice((*town.people, *STRANGERS))
    town.do(who, key, "transfer", to, max(value, 10 ** (decimals - 2)))


def trade(town: Town) -> None:
    """A trade that moves the price towards its target, more often than not."""
    if town.random.random() < 0.15:
        zero_for_one = town.random.random() < 0.5
        swap(town, town.random.choice(TRADERS), "pancake dollar/anchor", zero_for_one, 0)
        return
    token = town.random.choice(("weth", "weth", "harbor", "gold"))
    gap = town.targets[token] / price_of(town, token) - 1
    buys = town.random.random() < 0.5 + max(min(gap * 40, 0.45), -0.45)
    key = POOLS[token]
    tokens = [town.contracts[name].address for name in key.split(" ")[1].split("/")]
    base = town.contracts[token].address
    [quote] = {*tokens} - {base}
    token_in = quote if buys else base
    zero_for_one = int(token_in, 16) == min(int(each, 16) for each in tokens)
    dollars = town.amount(1_400 if token == "weth" else 500, 16_000)
    name_in = next(n for n, c in town.contracts.items() if c.address == token_in)
    raw = dollars / town.targets.get(name_in, 1.0) * 10 ** (6 if name_in == "dollar" else 18)
    swap(town, town.random.choice(TRADERS), key, zero_for_one, int(raw))


def swap(town: Town, who: int, key: str, zero_for_one: bool, amount: int) -> None:
    address = town.pools[key].address
    if key.startswith("v2"):
        town.do(who, "router", "swapV2", address, zero_for_one, amount, town.people[who])
    elif key.startswith("v3"):
        town.do(who, "router", "swapV3", address, zero_for_one, amount)
    else:
        town.do(who, key, "swap", zero_for_one, amount or int(town.amount(800, 9_000)) * 10**6)


def price_of(town: Town, token: str) -> float:
    """Return the price in dollars that the pools say."""
    key = POOLS[token]
    first, second = (int(address, 16) for address in tokens_of(town, key))
    if token == "weth":
        root = town.anvil.read(town.pools[key], "slot0")[0] / 2**96
        of_ether = root**2 if second < first else 1 / root**2
        return float(of_ether * 1e12)
    reserves = town.anvil.read(town.pools[key], "getReserves")[:2]
    one, two = reserves if first < second else reserves[::-1]
    if token == "gold":
        return float(one / two * 1e12)
    return float(two / one * price_of(town, "weth"))


def wrap(town: Town) -> None:
    who = town.random.choice(TRADERS)
    if town.random.random() < 0.6:
        town.do(who, "weth", "deposit", value=town.random.randint(1, 30) * ETHER // 10)
    else:
        town.do(who, "weth", "withdraw", town.random.randint(1, 20) * ETHER // 10)


def move_lantern(town: Town) -> None:
    token_id, owner = town.random.choice(sorted(town.lanterns.items()))
    if town.random.random() < 0.4:
        town.do(owner, "lanterns", "light", token_id, 1, gas=120_000)
        return
    to = town.other_than(owner)
    town.do(
        owner,
        "lanterns",
        "transferFrom",
        town.people[owner],
        town.people[to],
        token_id,
        gas=150_000,
    )
    town.lanterns[token_id] = to


def move_items(town: Town) -> None:
    ids = sorted(town.random.sample(range(1, 30), town.random.randint(1, 4)))
    to = town.people[town.random.randrange(PEOPLE)]
    town.do(0, "forge", "mintBatch", to, ids, [town.random.randint(1, 9) for _ in ids])


def save(town: Town) -> None:
    who = town.random.randrange(PEOPLE)
    deposited = town.deposits.get(who, 0)
    if deposited and town.random.random() < 0.4:
        amount = town.random.randint(1, deposited)
        town.do(who, "savings", "withdraw", amount * 10**6, gas=120_000)
        town.deposits[who] -= amount
    else:
        deposit(town, who, town.random.randint(1, 40) * 50)


def fail(town: Town) -> None:
    who = town.random.randrange(PEOPLE)
    key, function, args = town.random.choice(
        (
            ("savings", "withdraw", (10**15,)),
            ("reasons", "withRequire", (False,)),
            ("reasons", "calleesError", (7,)),
            ("dollar", "transferFrom", (town.people[1], town.people[2], 10**6)),
            ("savings", "upgradeToAndCall", (STRANGERS[3], b"")),
        )
    )
    town.do(who, key, function, *args, gas=110_000)


HABITS: tuple[tuple[Callable[[Town], None], int], ...] = (
    (trade, 34),
    (move_coin, 26),
    (pay, 16),
    (save, 7),
    (wrap, 5),
    (move_lantern, 5),
    (move_items, 2),
    (fail, 3),
)


def show_the_best(town: Town) -> None:
    """Pictures on the chain, calls within calls, and failures with reasons."""
    held = range(101, 107)
    for token_id in held:
        town.do(3, "lanterns", "mint", town.contracts["procession"].address, token_id)
    town.mine(town.now() + 30)
    mine_one = next(token_id for token_id, who in town.lanterns.items())
    for who, key, function, args in (
        (town.lanterns[mine_one], "lanterns", "light", (mine_one, 2)),
        (2, "lanterns", "light", (101, 5)),
        (3, "reasons", "item", (7,)),
        (4, "procession", "march", ([*held[:3]], 10)),
        (5, "reasons", "burnInside", ()),
        (6, "reasons", "withRequire", (False,)),
        (7, "procession", "marchOrSay", ([*held[:3]], 95)),
        (4, "procession", "march", ([*held[3:]], 95)),
        (8, "reasons", "burn", ()),
        (9, "savings", "withdraw", (10**15,)),
    ):
        town.do(who, key, function, *args, gas=400_000)
        town.mine(town.now() + 20)


def loop(town: Town) -> None:
    """Do things, and then their opposites, in blocks of the service's interval."""
    there: list[Callable[[], object]] = []
    back: list[Callable[[], object]] = []
    for _ in range(LOOP_BLOCKS):
        make = town.random.choices(
            (loop_swap, loop_coin, loop_pay, loop_save, loop_lantern, loop_wrap),
            (32, 28, 18, 8, 3, 6),
        )[0]
        one, other = make(town)
        there.append(one)
        back.append(other)
    town.random.shuffle(back)
    actions = [*there, *back]
    for number in (40, 130, 190, 260):
        actions.insert(number, lambda: fail(town))
    sizes = [len(actions) // LOOP_BLOCKS] * LOOP_BLOCKS
    for _ in range(len(actions) - sum(sizes)):
        sizes[town.random.randrange(LOOP_BLOCKS)] += 1
    for n in range(0, LOOP_BLOCKS - 1, 2):  # uneven, as blocks are
        moved = town.random.randint(0, sizes[n])
        sizes[n], sizes[n + 1] = sizes[n] - moved, sizes[n + 1] + moved
    for size in sizes:
        for _ in range(size):
            actions.pop(0)()
        town.mine(town.now() + INTERVAL_S)


Pair = tuple[Callable[[], object], Callable[[], object]]


def loop_swap(town: Town) -> Pair:
    """A trade, and one that sells as much as it bought."""
    who = town.random.choice(TRADERS)
    key = town.random.choice(
        ("v3 dollar/weth", "v3 dollar/weth", "v2 harbor/weth", "v2 dollar/gold")
    )
    names = sorted(key.split(" ")[1].split("/"), key=lambda n: int(town.contracts[n].address, 16))
    zero_for_one = town.random.random() < 0.5
    name_in, name_out = names if zero_for_one else names[::-1]
    dollars = town.amount(1_100, 9_000)
    raw_in, raw_out = (
        int(dollars * 10**6) if name == "dollar" else int(dollars / price_of(town, name) * 10**18)
        for name in (name_in, name_out)
    )
    return (
        lambda: swap(town, who, key, zero_for_one, raw_in),
        lambda: swap(town, who, key, not zero_for_one, raw_out),
    )


def loop_coin(town: Town) -> Pair:
    who = town.random.randrange(PEOPLE)
    to = town.other_than(who)
    key, median = town.random.choice((("dollar", 180), ("anchor", 90), ("harbor", 300)))
    value = int(town.amount(median, 60 * median) * 100) * 10 ** (COINS[key][2] - 2)
    return (
        lambda: town.do(who, key, "transfer", town.people[to], value),
        lambda: town.do(to, key, "transfer", town.people[who], value),
    )


def loop_pay(town: Town) -> Pair:
    who = town.random.randrange(PEOPLE)
    to = town.other_than(who)
    value = int(town.amount(0.2, 9) * 1000 + 1) * ETHER // 1000
    return (
        lambda: town.send(who, town.people[to], value=value),
        lambda: town.send(to, town.people[who], value=value),
    )


def loop_save(town: Town) -> Pair:
    who, amount = town.random.randrange(PEOPLE), town.random.randint(1, 40) * 50 * 10**6
    return (
        lambda: town.do(who, "savings", "deposit", amount),
        lambda: town.do(who, "savings", "withdraw", amount, gas=120_000),
    )


def loop_lantern(town: Town) -> Pair:
    free = sorted(town.lanterns)
    token_id = free[town.random.randrange(len(free))]
    who = town.lanterns.pop(token_id)
    to = town.other_than(who)
    one, two = town.people[who], town.people[to]
    return (
        lambda: town.do(who, "lanterns", "transferFrom", one, two, token_id),
        lambda: town.do(to, "lanterns", "transferFrom", two, one, token_id, gas=150_000),
    )


def loop_wrap(town: Town) -> Pair:
    who, value = town.random.choice(TRADERS), town.random.randint(1, 30) * ETHER // 10
    return (
        lambda: town.do(who, "weth", "deposit", value=value),
        lambda: town.do(who, "weth", "withdraw", value),
    )
