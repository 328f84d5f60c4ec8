"""What happens on the demo chain: three weeks of a small economy, and a loop that is repeated."""

import math
from functools import cache
from pathlib import Path
from typing import Any

from eth_abi import encode
from eth_account import Account
from eth_utils import keccak

from demo.activity import everyday, habit, loop
from demo.town import COINS, INTERVAL_S, LAST_BLOCKS, PEOPLE, TRADERS, Town, deposit, mint_lantern
from tests.support.anvil import Anvil, Contract, creation_code
from tests.support.entry_points import EntryPoint
from tests.support.scenario.exchanges import (
    CREATE_POOL_GAS,
    FULL_RANGE,
    PANCAKESWAP_V2,
    PANCAKESWAP_V3,
    UNISWAP_V2,
    UNISWAP_V3,
    pool,
    tokens_of,
)
from tests.support.scenario.stage import ETHER, MOST, STRANGERS
from tests.support.solidity import Artifact, artifact, compile_standard

# It has no place among anvil's accounts, and sends nothing that is mined.
SAVER = Account.from_key(keccak(text="patient saver"))
SOURCE = Path(__file__).with_name("Savings.sol")


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
        (10, "dollar", "approve", (STRANGERS[5], 1_500 * 10**6)),
        (12, "lanterns", "setApprovalForAll", (town.contracts["procession"].address, True)),
        (0, "dollar", "transfer", (SAVER.address, 8_000 * 10**6)),
    ):
        town.do(who, key, function, *args, gas=400_000)
        town.mine(town.now() + 20)
    town.send(0, SAVER.address, value=25 * ETHER)
    town.mine(town.now() + 20)
