"""Who acts on the demo chain, with fees, times and prices as on a chain that people use."""

import math
from typing import Any

from tests.support.anvil import Anvil
from tests.support.scenario.exchanges import tokens_of
from tests.support.scenario.stage import GWEI, Stage

DAYS = 21
BLOCKS = 620  # of the three weeks
LAST_BLOCKS = 40  # as often as the service adds blocks
LOOP_BLOCKS = 160
INTERVAL_S = 6
PEOPLE = 20
TRADERS = range(1, 7)

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


def swap(town: Town, who: int, key: str, zero_for_one: bool, amount: int) -> None:
    address = town.pools[key].address
    if key.startswith("v2"):
        town.do(who, "router", "swapV2", address, zero_for_one, amount, town.people[who])
    elif key.startswith("v3"):
        town.do(who, "router", "swapV3", address, zero_for_one, amount)
    else:
        town.do(who, key, "swap", zero_for_one, amount or int(town.amount(800, 9_000)) * 10**6)


def deposit(town: Town, who: int, dollars: int) -> None:
    town.do(who, "savings", "deposit", dollars * 10**6)
    town.deposits[who] = town.deposits.get(who, 0) + dollars


def mint_lantern(town: Town, token_id: int) -> None:
    who = town.random.randrange(3, PEOPLE)
    town.do(3, "lanterns", "mint", town.people[who], token_id)
    town.lanterns[token_id] = who
