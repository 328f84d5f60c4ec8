"""The chain, the index and the doors of a test: deploy, do, in_one_block, read, fork and get."""

from contextlib import ExitStack

from tests.support import auditing
from tests.support.anvil import Contract, creation_code
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.solidity import artifact
from tests.support.table_digest import digest, fresh_digest

DAY_S = 86_400


class World:
    """A chain of anvil and its index, which begins with the first read(), by a node at another
    address where one is given; settings are the indexer's."""

    def __init__(self, anvil, places, node_url=None, **settings):
        self.anvil, self.settings = anvil, settings
        self.url, self.postgres, self.template, self.folder = places
        self.me, self.you, *_ = self.accounts = anvil.accounts
        self.indexing = Indexing(self.url, node_url or anvil.url, **settings)
        self.client = self.indexing.client()
        self._open = ExitStack()
        self._is_begun = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._open.close()

    @property
    def head(self):
        return self.anvil.head()

    def get(self, path):
        """The JSON of a response, or the text of one that is none."""
        answer = self.client.get(path)
        return answer.get_json() if answer.is_json else answer.text

    def token(self, contract, path=""):
        """Its record, or what is below it."""
        return self.get(f"/api/v1/tokens/{contract.address}{path}")

    def holders(self, contract):
        """Balances by holder, as they are listed."""
        records = self.token(contract, "/holders")["holders"]
        return {record["address"]: int(record["balance"]) for record in records}

    def moved(self, contract):
        """The value, the item if any and the type of each transfer, in their order."""
        records = self.token(contract, "/transfers")["transfers"]
        return sorted((int(r["value"]), r["tokenId"], r["tokenType"]) for r in records)

    def sql(self, statement, *values):
        return execute(self.url, statement, *values)

    def deploy(self, contract, *args, sender=0, **fields):
        """A contract, by its name or what a compiler made of it."""
        made = artifact(contract) if isinstance(contract, str) else contract
        code = creation_code(made, *args)
        sent = self.anvil.send(self.accounts[sender], None, data=code, gas=12_000_000, **fields)
        receipt = self.anvil.receipt_of(sent)
        assert receipt["status"] == "0x1", made.name
        return Contract(receipt["contractAddress"], made)

    def send(self, contract, function, *args, sender=0, **fields):
        """Hand a call to the pool, and return its hash."""
        fields = {"gas": 8_000_000, **fields}
        return self.anvil.transact(self.accounts[sender], contract, function, *args, **fields)

    def do(self, contract, function, *args, **fields):
        """Have a call in a block of its own, and return the block's number."""
        sent = self.send(contract, function, *args, **fields)
        assert self.anvil.receipt_of(sent)["status"] == "0x1", function
        return self.head

    def in_one_block(self, *calls):
        """Have calls, each (contract, function, arguments), in one block, in their order."""
        sent = [self.send(*call, gas=4_000_000) for call in calls]
        receipts = [self.anvil.receipt_of(hash_) for hash_ in sent]
        at = {(receipt["status"], receipt["blockNumber"]) for receipt in receipts}
        assert at == {("0x1", hex(self.head))}

    def begin_day(self):
        """The next block is of the next day."""
        newest = self.anvil.call("eth_getBlockByNumber", "latest", False)
        self.anvil.call("evm_setNextBlockTimestamp", int(newest["timestamp"], 16) + DAY_S)

    def next_day(self):
        self.begin_day()
        self.anvil.mine()

    def begin(self):
        """From now on the index follows the chain."""
        if not self._is_begun:
            self._open.enter_context(self.indexing)
            self._is_begun = True

    def read(self):
        """Have all blocks in the index."""
        self.begin()
        self.indexing.wait_for(self.head)

    def pay(self, value=1):
        """Have a payment in a block of its own, and return its hash."""
        sent = self.anvil.send(self.me, self.you, value=value)
        self.anvil.mine()
        return sent

    def fork(self, depth, mined=1):
        """Replace the newest blocks by empty ones and more, and read them: the index is then that
        of whoever has never seen what was replaced."""
        self.anvil.reorganise(depth)
        self.anvil.mine(mined)
        self.read()
        self.is_as_fresh()

    def is_as_fresh(self):
        fresh = fresh_digest(self.postgres, self.template, self.anvil, **self.settings)
        assert digest(self.url) == fresh

    def audit(self, **options):
        return auditing.run(self.indexing.settings, **options)
