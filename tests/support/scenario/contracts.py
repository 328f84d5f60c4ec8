"""Acts of contracts: creations, failures, and value that contracts move."""

from eth_utils import keccak

from tests.support.anvil import creation_code
from tests.support.scenario.stage import ETHER, GWEI, STRANGERS
from tests.support.solidity import artifact


def creations(stage):
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
    stage.anvil.send(stage.people[8], None, data=creation_code(artifact("Stillborn")))
    stage.anvil.send(stage.people[9], None, data="0x", gas=100_000)
    stage.mine()


def failures(stage):
    stage.deploy("failing", "Failing")
    for function, args in FAILURES:
        stage.do(stage.random.randrange(10), "failing", function, *args, gas=90_000)
    stage.do(9, "gold", "transfer", stage.people[0], ETHER)
    stage.mine()


FAILURES = (
    ("withReason", ()),
    ("withCustomError", ()),
    ("withPanic", (0,)),
    ("withoutData", ()),
    ("withInvalidOpcode", ()),
    ("untilGasIsOut", ()),
)


def purses(stage):
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


def spend(stage):
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
