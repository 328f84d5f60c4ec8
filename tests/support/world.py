"""One vocabulary for tests of the whole: a chain of anvil, its index, and the service over that.

A test takes a world by the name of a fixture, says what happens on the chain, and asks a door:

    def test_a_payment_is_shown(world):
        sent = world.pay(7)
        world.read()
        assert world.get(f"/api/v1/transactions/{sent}")["value"] == "7"

`world` is one test's, and its index has what happened once the test has it read. `explorer` is a
file's, with compilers, to which its tests add contracts; what a verb does is in the index when it
returns.

| Verb | What it does |
|---|---|
| deploy, place | a contract, by name, artifact or creation code; runtime code without a creation |
| send, do, pay, queue, in_one_block | transactions: one in a block of its own, or in the pool |
| begin_day, next_day, fork | the chain's days; other blocks in place of the newest |
| begin, read, wait_for_block | the index follows; has all blocks; has a block |
| get, token, holders, moved, contract, call, transaction, frames | what doors answer |
| verify, verified, submission, running_jobs | source submitted; verifications that run beside |
| sql, database | rows |
| serve, client | the service with other settings; its responses with their status |
| audit, is_as_fresh | the index compared with an expectation, and with one made anew |

A node that fails or lies is a `FaultyNode` before the chain's: `behind(world.settings, fault)` has
a service beside it, and `World(anvil, places, node.url)` an index that follows it.
"""

import json
import os
import threading
import time
from contextlib import ExitStack, contextmanager

from scan import registry
from scan.database.connection import Database
from scan.http import background_threads, hooks
from scan.verification.request import parse
from tests.support import auditing
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.explorer import compiled
from tests.support.indexing import Indexing
from tests.support.serving import wait_until
from tests.support.table_digest import digest, fresh_digest

DAY_S = 86_400


class World:
    """A chain and its index, which begins with the first read(), by a node at another address where
    one is given; settings are the indexer's. With `follows` the index begins at once, and has what
    a verb does when it returns."""

    def __init__(self, anvil, places, node_url=None, *, follows=False, **settings):
        self.anvil, self.follows, self._chosen = anvil, follows, settings
        self.url, self.postgres, self.template, self.folder = places
        self.me, self.you, *_ = self.accounts = anvil.accounts
        self.indexing = Indexing(self.url, node_url or anvil.url, **settings)
        self.settings = self.indexing.settings
        self.database = Database(self.url, statement_timeout_ms=10_000)
        self.serve()
        self._placed = 1
        self._open = ExitStack()
        self._is_begun = False

    def __enter__(self):
        if self.follows:
            self.begin()
            self.indexing.wait_for(0, or_later=True)  # until then pages know no chain
        return self

    def __exit__(self, *_):
        self._open.close()
        self.database.close()

    @property
    def head(self):
        return self.anvil.head()

    def serve(self, **settings):
        """From now on the service has these settings besides."""
        self.app = self.indexing.client(**settings).application

    @property
    def client(self):
        return self.app.test_client()

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

    def contract(self, address):
        return self.client.get(f"/api/v1/contracts/{address}")

    def call(self, address, function, *arguments):
        body = {"functionName": function, "args": list(arguments)}
        return self.client.post(f"/api/v1/contracts/{address}/call", json=body)

    def transaction(self, transaction_hash):
        return self.get(f"/api/v1/transactions/{transaction_hash}")

    def frames(self, transaction_hash):
        """The calls of a transaction's trace."""
        return self.get(f"/api/v1/transactions/{transaction_hash}/trace")["frames"]

    def sql(self, statement, *values):
        return execute(self.url, statement, *values)

    execute = sql

    def deploy(self, code, *args, sender=0, **fields):
        """A contract of a name, or of what a compiler made of it; of creation code in hex, with its
        arguments in hex, its address."""
        sender, fields = self.accounts[sender], {"gas": 15_000_000, **fields}
        if isinstance(code, str) and not code[:1].isupper():
            data = f"0x{code.removeprefix('0x')}{''.join(args)}"
            receipt = self.anvil.receipt_of(self.anvil.send(sender, None, data=data, **fields))
            assert receipt["status"] == "0x1", "the contract was not created"
            return self._created(receipt["contractAddress"])
        contract = self.anvil.deploy(sender, code, *args, **fields)
        self._created(contract.address)
        return contract

    @property
    def next_place(self):
        """The address at which code is placed next."""
        return f"0x{0xC0DE << 64 | self._placed:040x}"

    def place(self, runtime):
        """Puts code at a fresh address, as no compiler would; its address."""
        address = self.next_place
        self._placed += 1
        self.anvil.call("anvil_setCode", address, "0x" + runtime.removeprefix("0x"))
        # The indexer looks for code where a transaction went.
        self.anvil.receipt_of(self.anvil.send(self.me, address))
        return self._created(address)

    def _created(self, address):
        if self.follows and self._is_begun:
            self.wait_for(address)
        return address

    def wait_for(self, address):
        """Until the index has a contract's code."""
        self.indexing.look()
        key = bytes.fromhex(address[2:])
        wait_until(lambda: self.database.row("contracts/contracts_get_code", address=key))

    def queue(self, contract, function, *args, sender=0, **fields):
        """Hand a call to the pool, and return its hash."""
        fields = {"gas": 8_000_000, **fields}
        return self.anvil.transact(self.accounts[sender], contract, function, *args, **fields)

    def send(self, to, data, **fields):
        """The hash of the first account's transaction, once it is indexed; it may fail."""
        sent = self.anvil.send(self.me, to, data=data, **fields)
        self.anvil.receipt_of(sent)
        self.indexing.look()
        # Before its block is indexed it has no status.
        wait_until(lambda: self.transaction(sent).get("status") is not None)
        return sent

    def transact(self, to, data, **fields):
        """The record of the first account's transaction."""
        return self.transaction(self.send(to, data, **fields))

    def do(self, contract, function, *args, **fields):
        """Have a call in a block of its own, and return the block's number."""
        sent = self.queue(contract, function, *args, **fields)
        assert self.anvil.receipt_of(sent)["status"] == "0x1", function
        return self.head

    def in_one_block(self, *calls):
        """Have calls, each (contract, function, arguments), in one block, in their order."""
        sent = [self.queue(*call, gas=4_000_000) for call in calls]
        receipts = [self.anvil.receipt_of(hash_) for hash_ in sent]
        at = {(receipt["status"], receipt["blockNumber"]) for receipt in receipts}
        assert at == {("0x1", hex(self.head))}

    def pay(self, value=1):
        """Have a payment in a block of its own, and return its hash."""
        sent = self.anvil.send(self.me, self.you, value=value)
        self.anvil.mine()
        return sent

    def errors(self, sent):
        """Of transactions that wait, by the keys of their hashes; a block for all is mined."""
        *_, last = map(self.anvil.receipt_of, sent.values())
        self.wait_for_block(int(last["blockNumber"], 16))
        return {key: self.transaction(hash_)["error"] for key, hash_ in sent.items()}

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

    def wait_for_block(self, number):
        self.indexing.look()
        path = f"/api/v1/blocks/{number}?_="  # the cache may have that it is not indexed
        wait_until(lambda: self.client.get(f"{path}{time.monotonic()}").status_code == 200)

    def fork(self, depth, mined=1):
        """Replace the newest blocks by empty ones and more, and read them: the index is then that
        of whoever has never seen what was replaced."""
        self.anvil.reorganise(depth)
        self.anvil.mine(mined)
        self.read()
        self.is_as_fresh()

    def is_as_fresh(self):
        fresh = fresh_digest(self.postgres, self.template, self.anvil, **self._chosen)
        assert digest(self.url) == fresh

    def audit(self, **options):
        return auditing.run(self.settings, **options)

    def verified(self, standard, version, name, arguments="", creation=None):
        """The address of a contract of a standard JSON input, `path:name`, deployed and verified;
        `creation` is its linked code, or what the compiler gives."""
        creation = creation or compiled(version, standard, *name.split(":")).creation
        address = self.deploy(creation, arguments)
        answer = self.verify(address, standard, version, contractName=name)
        assert answer.status_code == 200, answer.json
        return address

    def verify(self, address, source, version, *, client_address="127.0.0.1", **fields):
        """The response; a source that is no text goes as standard JSON."""
        code = source if isinstance(source, str) else json.dumps(source)
        body = {"address": address, "sourceCode": code, "compilerVersion": version, **fields}
        peer = {"REMOTE_ADDR": client_address}
        return self.client.post("/api/v1/verify", json=body, environ_base=peer)

    def submission(self, response):
        """What a response's job asks of the verifier, where no job runs; the job is removed."""
        assert response.status_code == 200, response.text
        sql = "DELETE FROM verification_jobs WHERE request IS NOT NULL RETURNING request"
        [(request,)] = self.sql(sql)
        return parse(request)

    @contextmanager
    def running_jobs(self):
        """Verify what is submitted, and compare creations, as gunicorn does in its worker, until
        the context ends: then no thread of it is left."""
        services = self.app.extensions["scan"]
        threads = [*background_threads.equal_creations_threads(services)]
        for extension, worker in registry.by_extension(hooks.Worker):
            if extension in ("contract_details", "verification_jobs"):
                threads.extend(worker.threads(services))
        others = {*threading.enumerate()}
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            for thread in threads:
                thread.stop()
            for thread in threading.enumerate():
                if thread not in others and thread.name.startswith("verification-"):
                    thread.join()


@contextmanager
def explorer_over(postgres, template, solc_dir):
    """A world that follows, with compilers."""
    settings = {"solc_dir": solc_dir, "path": os.environ["PATH"]}
    settings["rate_limit_anonymous"] = "1000000/minute"
    with (
        Anvil() as node,
        postgres.cloned(template) as url,
        World(node, (url, postgres, template, None), follows=True, **settings) as world,
    ):
        yield world
