"""A chain in bad weather: blocks and forks by chance, and an indexer that is killed meanwhile."""

import random
import time

from tests.support.anvil import ZERO
from tests.support.scenario import BASIC_ACTS, contracts
from tests.support.scenario.everyday import everyday
from tests.support.scenario.exchanges import CREATE_POOL_GAS, pool
from tests.support.scenario.stage import ETHER, Stage

DEEPEST = 64
MOST_SNAPSHOTS = 12


class Storm:
    """Steps drawn from a seed; the chain and the moments of the kills follow from it alone."""

    def __init__(self, anvil, seed):
        self.random = random.Random(seed)
        self.anvil = anvil
        self.stage = Stage(anvil, seed)
        self.steps = []
        self._snapshots = []
        for act in (*BASIC_ACTS, contracts.purses):
            act(self.stage)
        self._ground = anvil.head()  # below this the contracts would not be there

    def blow(self, indexer, steps):
        """`steps` steps, then the indexer in peace."""
        for _ in range(steps):
            choices = [
                (self._mine, 10),
                (self._reorganise, 4),
                (self._revert, 3),
                (self._kill, 3),
                (self._settle, 3),
            ]
            acts, weights = zip(*choices, strict=True)
            [act] = self.random.choices(acts, weights)
            self.steps.append(act(indexer))
        self.anvil.mine()
        self.steps.append(self._settle(indexer))

    def _mine(self, _indexer):
        if self.random.random() < 0.3:
            self._snapshots.append((self.anvil.head(), self.anvil.snapshot()))
            del self._snapshots[:-MOST_SNAPSHOTS]
        blocks = self.random.randint(1, 6)
        for _ in range(blocks):
            if self.random.random() < 0.1:
                self._novelty()
            if self.random.random() < 0.5:
                contracts.spend(self.stage)
            everyday(self.stage, self.random.randint(0, 5))
        return f"mine {blocks}"

    def _novelty(self):
        """A token, a pair that an exchange creates, so that a trace alone names it before it has a
        log, or a pool that nobody has seen: a fork may take it back."""
        kind = self.random.choice(("token", "pair", "pool", "pool"))
        if kind != "pool":
            self.stage.deploy("novelty", "Coin", f"Novelty {len(self.steps)}", "NEW", 9)
            self.stage.do(1, "novelty", "mint", self.stage.anybody(), ETHER)
            if kind == "pair":
                self._open_pair(*(self.stage.contracts[k].address for k in ("novelty", "gold")))
        else:
            factory = "0x" + self.random.randbytes(20).hex()
            gold, harbor = (self.stage.contracts[key].address for key in ("gold", "harbor"))
            first = self.random.choice((gold, ZERO))  # without a first token it is no pool
            self.stage.deploy("novelty", "FakePool", factory, first, harbor)
            self.stage.do(2, "novelty", "swapV2", 10, 0, 0, 9)

    def _open_pair(self, *tokens):
        factory = self.stage.contracts["uniswap-v2"]
        self.stage.do(0, "uniswap-v2", "createPair", *tokens, gas=CREATE_POOL_GAS)
        self.anvil.mine(self.random.randint(1, 3))
        address = self.anvil.read(factory, "getPair", *tokens)
        for key in ("novelty", "gold"):
            self.stage.do(0, key, "mint", address, ETHER)
        self.anvil.mine()
        self.anvil.transact(
            self.stage.people[0], pool(address, "UniswapV2Pair"), "mint", self.stage.people[0]
        )

    def _reorganise(self, _indexer):
        depth = self.random.randint(1, min(DEEPEST, self.anvil.head() - self._ground))
        self._change_miner()
        payments = [
            ({"from": self.stage.person(), "to": self.stage.anybody(), "value": hex(ETHER)}, at)
            for at in range(depth)
            if self.random.random() < 0.2
        ]
        self.anvil.reorganise(depth, payments)
        self._snapshots = [s for s in self._snapshots if s[0] <= self.anvil.head() - depth]
        return f"reorganise {depth}"

    def _revert(self, indexer):
        """Back to an older state, and on along another way: for a while with a lower tip."""
        near = [s for s in self._snapshots if self.anvil.head() - s[0] <= DEEPEST]
        if not near:
            return self._mine(indexer)
        number, snapshot = chosen = self.random.choice(near)
        depth = self.anvil.head() - number
        self.anvil.revert(snapshot)
        self._snapshots = self._snapshots[: self._snapshots.index(chosen)]
        time.sleep(self.random.choice((0.0, 0.0, 0.5)))
        self._change_miner()
        self.anvil.mine(self.random.randint(1, max(1, depth)))
        return f"revert {depth}"

    def _kill(self, indexer):
        moment_s = self.random.uniform(0.0, 0.4)
        time.sleep(moment_s)
        indexer.kill()
        indexer.start()
        return f"kill after {moment_s:.3f} s"

    def _settle(self, indexer):
        newest = self.anvil.call("eth_getBlockByNumber", "latest", False)
        indexer.wait_for(int(newest["number"], 16), newest["hash"])
        return "settle"

    def _change_miner(self):
        self.anvil.call("anvil_setCoinbase", "0x" + self.random.randbytes(20).hex())
