"""Acts of honest tokens: coins, collections, items and wrappers."""

from tests.support.scenario.stage import ETHER, MOST, STRANGERS


def honest_tokens(stage):
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


def collections(stage):
    stage.deploy("keepers", "Collectible", "Lantern Keepers", "LAMP")
    for token_id in (0, 1, 2, 3, MOST):
        stage.do(0, "keepers", "mint", stage.people[1], token_id)
    stage.mine()
    stage.do(1, "keepers", "transferFrom", stage.people[1], stage.people[2], 1)
    stage.do(1, "keepers", "transferFrom", stage.people[1], stage.people[1], 2)
    stage.do(1, "keepers", "burn", 3)
    stage.mine()
    items(stage)


def items(stage):
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


def wrappers(stage):
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
    stage.do(4, "dweth", "deposit", value=8 * ETHER)
    stage.do(5, "staking", "deposit", value=ETHER)
    stage.mine()
    stage.do(3, "dweth", "withdraw", 4 * ETHER)
    stage.do(5, "staking", "withdraw", ETHER)
    stage.mine()
