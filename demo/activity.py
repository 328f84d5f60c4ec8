"""What people do on the demo chain, and the loop of things and their opposites.

The service repeats the loop with new nonces (scan/extensions/demo/demo_chain.py), so it has no
creations, no mints and nothing else that could not happen twice.
"""

import math
from collections.abc import Callable
from contextlib import suppress

from demo.town import (
    BLOCKS,
    COINS,
    DAILY_VOLATILITY,
    DAYS,
    INTERVAL_S,
    LOOP_BLOCKS,
    PEOPLE,
    POOLS,
    TRADERS,
    Town,
    deposit,
    mint_lantern,
    price_of,
    swap,
)
from tests.support.anvil import RpcError, creation_code
from tests.support.scenario.stage import ETHER, STRANGERS
from tests.support.solidity import artifact

# Texts of payments, by the last digits of their amounts.
TEXTS = {3: "Invoice 2026-114", 11: "Rent, February", 17: "Danke für das Mittagessen"}


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
    thousandths = int(town.amount(0.2, 9) * 1000 + 1)
    text = TEXTS.get(thousandths % 20, "")
    town.send(who, to, value=thousandths * ETHER // 1000, data=f"0x{text.encode().hex()}")


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
    zero_for_one = int(token_in, 16) == min(int(address, 16) for address in tokens)
    dollars = town.amount(1_400 if token == "weth" else 500, 16_000)
    name_in = next(n for n, c in town.contracts.items() if c.address == token_in)
    raw = dollars / town.targets.get(name_in, 1.0) * 10 ** (6 if name_in == "dollar" else 18)
    swap(town, town.random.choice(TRADERS), key, zero_for_one, int(raw))


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
