"""Blocks of what people do all day."""

from tests.support.anvil import creation_code
from tests.support.scenario.contracts import FAILURES
from tests.support.scenario.exchanges import trade
from tests.support.scenario.stage import ETHER, GWEI
from tests.support.solidity import artifact


def everyday(stage, count):
    """One block of what people do all day."""
    habits, weights = zip(*HABITS, strict=True)
    for habit in stage.random.choices(habits, weights, k=count):
        habit(stage)
    stage.mine()


def pay(stage):
    price = stage.random.randint(2 * GWEI, 9 * GWEI)
    value = stage.random.randint(1, ETHER)
    stage.anvil.send(stage.person(), stage.anybody(), value=value, gasPrice=price)


def move_coin(stage):
    key = stage.random.choice(("dollar", "dollar", "harbor", "gold"))
    value = stage.random.randint(1, 50 * 10**6)
    stage.do(stage.person(), key, "transfer", stage.anybody(), value)


def supply_coin(stage):
    key = stage.random.choice(("dollar", "harbor"))
    if stage.random.random() < 0.5:
        stage.do(stage.person(), key, "burn", stage.random.randint(1, 10**6))
    else:
        stage.do(stage.person(), key, "mint", stage.anybody(), stage.random.randint(1, 10**9))


def move_collectible(stage):
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


def move_items(stage):
    ids = stage.random.sample(range(1, 60), stage.random.randint(1, 5))
    values = [stage.random.randint(0, 9) for _ in ids]
    stage.do(stage.person(), "forge", "mintBatch", stage.person(), ids, values)


def wrap(stage):
    person = stage.person()
    stage.do(person, "weth", "deposit", value=ETHER // 10)
    if stage.random.random() < 0.5:
        stage.do(person, "weth", "withdraw", ETHER // 20)


def swap(stage):
    key = stage.random.choice(list(stage.pools))
    amount = stage.random.randint(10**12, ETHER // 100)
    # Only the first six have wrapped ether to sell.
    trade(stage, stage.random.randrange(6), key, stage.random.random() < 0.5, amount)


def fail(stage):
    function, args = stage.random.choice(FAILURES)
    stage.do(stage.person(), "failing", function, *args, gas=90_000)


def create(stage):
    if stage.random.random() < 0.5:
        stage.do(stage.person(), "maker", "make")
    else:
        code = creation_code(artifact("Vault"), stage.person())
        stage.anvil.send(stage.person(), None, data=code)


HABITS = (
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
