"""Acts of tokens that lie, burn gas, answer garbage or change their kind."""

from tests.support.anvil import ZERO
from tests.support.scenario.stage import MOST, STRANGERS, word

ERC721 = bytes.fromhex("80ac58cd")
ERC1155 = bytes.fromhex("d9b67a26")
NO_INTERFACE = bytes(4)


def poison_metadata(stage):
    for name in """
        NulName Bytes32Name LongName InvalidUtf8Name RevertingName HugeDecimals RevertingSupply
        GasBurner BrokenStrings
    """.split():
        stage.deploy(name, name)
        stage.do(1, name, "mint", stage.people[1], 700)
        stage.do(1, name, "mint", stage.people[2], 300)
        stage.do(1, name, "transfer", STRANGERS[3], 700)
        stage.mine()


def poison_events(stage):
    kitties(stage)
    silent_and_empty(stage)
    liar(stage)
    stage.anvil.deploy(stage.people[0], "Vanishing")


def kitties(stage):
    for name in ("Kitties", "UnindexedCoin", "Unannounced721"):
        stage.deploy(name, name)
        stage.do(0, name, "mint", stage.people[1], 11)
        stage.do(0, name, "mint", stage.people[2], 12)
    stage.mine()
    stage.do(1, "Kitties", "transfer", stage.people[3], 11)
    stage.mine()


def silent_and_empty(stage):
    stage.deploy("Silent", "Silent")
    stage.deploy("EmptyAnswers", "EmptyAnswers")
    stage.do(0, "EmptyAnswers", "emitTransfer", ZERO, stage.people[5], 10)
    words = "".join(word(n) for n in (0, int(STRANGERS[4], 16), 10))
    stage.anvil.send(stage.people[0], stage.contracts["Silent"].address, data="0x" + words)
    stage.mine()


def liar(stage):
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


def shape_shifters(stage):
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
    stage.mine()
    stage.do(0, "claims 1155", "single", to, STRANGERS[10], 1, 4)
    stage.do(0, "claims nothing", "threeTopics", to, STRANGERS[11], 3)
    stage.mine()
