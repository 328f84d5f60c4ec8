"""A real node for the tests: anvil on a free loopback port, and a client of its own for it.

Nothing here imports scan: what the tests compare with must be learned by other means.
"""

import re
import shutil
import subprocess
from collections import namedtuple

import urllib3
from eth_abi import decode, encode, grammar
from eth_utils import keccak
from eth_utils.abi import abi_to_signature, get_abi_input_types, get_abi_output_types

from tests.support.folders import new_folder
from tests.support.serving import wait_until
from tests.support.solidity import NODE, artifact

ZERO = "0x" + 40 * "0"
GENESIS_TIMESTAMP = 1_700_000_000
BLOCK_INTERVAL_S = 12
REQUEST_TIMEOUT_S = 180
GAS = 400_000
# Said with each transaction that has no price: the node's own depend on when it has counted the
# tips of the last block, which it does on the side.
FEES = {"maxFeePerGas": 20 * 10**9, "maxPriorityFeePerGas": 10**9}
# Linux ends the command with its parent: a killed test run leaves no node behind. Not preexec_fn,
# for which all pages of a worker, which has a gigabyte, are entered into another table.
ENDS_WITH_PARENT = (path, "--pdeathsig", "KILL") if (path := shutil.which("setpriv")) else ()

_LISTENING = re.compile(r"Listening on (\S+)")
_READS = ("eth_", "web3_", "net_", "debug_trace", "trace_", "ots_")


class RpcError(Exception):
    """The node's own JSON-RPC error."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code = error.get("code")
        self.data = error.get("data")


class Node:
    """JSON-RPC over one kept connection; answers are the node's JSON, unchanged."""

    def __init__(self, url):
        self.url = url
        self._connections = urllib3.PoolManager(retries=False)

    def call(self, method, *params):
        answer = self._post(_request(1, method, params))
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]

    def batch(self, requests_):
        """Results in the order asked; an RpcError stands where the node said no."""
        calls = [_request(n, method, params) for n, (method, params) in enumerate(requests_)]
        if not calls:
            return []
        by_id = {answer["id"]: answer for answer in self._post(calls)}
        answers = [by_id[n] for n in range(len(calls))]
        return [RpcError(a["error"]) if "error" in a else a["result"] for a in answers]

    def close(self):
        self._connections.clear()

    def _post(self, body):
        answer = self._connections.request("POST", self.url, json=body, timeout=REQUEST_TIMEOUT_S)
        assert answer.status == 200, answer.data
        return answer.json()


def encoded_call(signature, *values):
    """A function's call, by its signature, such as `f(uint256,(bool,bytes)[])`."""
    inputs = signature[signature.index("(") :]
    types = [] if inputs == "()" else [t.to_type_str() for t in grammar.parse(inputs).components]
    return keccak(text=signature)[:4] + encode(types, values)


def calldata(signature, *values):
    """The same as hex."""
    return f"0x{encoded_call(signature, *values).hex()}"


class Contract(namedtuple("Contract", "address artifact")):
    """A deployed contract: where it is and what it can be asked."""

    def data(self, function, *args):
        """Call data for a function by name, or by full signature where names are overloaded."""
        return calldata(abi_to_signature(self._entry(function, len(args))), *args)

    def decode(self, function, result):
        types = get_abi_output_types(self._entry(function, None))
        values = decode(types, bytes.fromhex(result[2:]))
        return values[0] if len(values) == 1 else values

    def _entry(self, function, count):
        for entry in self.artifact.abi:
            if entry["type"] != "function" or entry["name"] != function:
                continue
            if count is None or len(entry["inputs"]) == count:
                return entry
        raise LookupError(f"{self.artifact.name} has no {function} with {count} arguments")


class Anvil(Node):
    """A running anvil whose blocks come only when mined, with times that depend on nothing.

    Its process ends with `stop`, and with the process that started it, however that ends.
    """

    def __init__(self, *options, port=0, hardfork="prague"):
        self._folder = new_folder("scan-anvil-")
        self._is_shared = False
        self._output = self._folder / "output"
        self._process = self._start([*options, "--hardfork", hardfork, "--port", str(port)])
        try:
            super().__init__(f"http://{self._address()}")
            self.accounts = self.call("eth_accounts")
            self.call("evm_setAutomine", False)
            self.call("anvil_setBlockTimestampInterval", BLOCK_INTERVAL_S)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def __getstate__(self):
        """Where it is: another process that unpickles this talks to the same node."""
        return {"url": self.url, "accounts": self.accounts, "is_shared": self._is_shared}

    def __setstate__(self, state):
        super().__init__(state["url"])
        self.accounts = state["accounts"]
        self._is_shared = state["is_shared"]

    def share(self):
        """From now on several tests read this chain, and none may change it."""
        self._is_shared = True

    def call(self, method, *params):
        if self._is_shared and (not method.startswith(_READS) or method.startswith("eth_send")):
            raise AssertionError(f"{method} would change a chain that other tests read")
        return super().call(method, *params)

    def stop(self):
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def pid(self):
        return self._process.pid

    def head(self):
        return int(self.call("eth_blockNumber"), 16)

    def mine(self, blocks=1):
        for _ in range(blocks):
            self.call("evm_mine")

    def send(self, sender, to, **fields):
        """Hands a transaction to the pool and returns its hash; `mine` puts it in a block.

        Fields are JSON-RPC's, ints welcome. Gas is given, so that failing ones are sent as well.
        """
        priced = fields.keys() & {"gasPrice", *FEES}
        transaction = {"from": sender, "gas": GAS, **({} if priced else FEES), **fields}
        if to is not None:
            transaction["to"] = to
        return str(self.call("eth_sendTransaction", _hexed(transaction)))

    def deploy(self, sender, code, *args, **fields):
        """Creates a contract, of a name or of what a compiler made of it, in a block of its own."""
        made = artifact(code) if isinstance(code, str) else code
        fields = {"gas": 12_000_000, "data": creation_code(made, *args), **fields}
        receipt = self.receipt_of(self.send(sender, None, **fields))
        assert receipt["status"] == "0x1", f"{made.name} was not created"
        return Contract(receipt["contractAddress"], made)

    def transact(self, sender, contract, function, *args, **fields):
        return self.send(sender, contract.address, data=contract.data(function, *args), **fields)

    def read(self, contract, function, *args, block="latest"):
        call = {"to": contract.address, "data": contract.data(function, *args)}
        return contract.decode(function, self.call("eth_call", call, block))

    def receipt_of(self, transaction_hash):
        """The receipt, after mining a block when the transaction still waits."""
        receipt = self.call("eth_getTransactionReceipt", transaction_hash)
        if receipt is None:
            self.mine()
            receipt = self.call("eth_getTransactionReceipt", transaction_hash)
        return dict(receipt)

    def impersonate(self, address):
        """Lets any address send, as if its key were known."""
        self.call("anvil_setBalance", address, hex(10**20))
        self.call("anvil_impersonateAccount", address)

    def place(self, address, name):
        """Puts a contract's runtime code where a well-known contract lives on other chains."""
        contract = artifact(name)
        self.call("anvil_setCode", address, "0x" + contract.runtime.hex())
        return Contract(address.lower(), contract)

    def reorganise(self, depth, transactions=()):
        """Replaces the newest blocks by as many others, which hold the given transactions.

        Each is (transaction object or signed hex, how many blocks above the fork it goes).
        """
        self.call("anvil_reorg", depth, list(transactions))

    def snapshot(self):
        return str(self.call("evm_snapshot"))

    def revert(self, snapshot):
        self.call("evm_revert", snapshot)

    def _start(self, options):
        command = [
            str(_binary()),
            *("--host", "127.0.0.1", "--order", "fifo"),
            *("--timestamp", str(GENESIS_TIMESTAMP), "--cache-path", str(self._folder)),
            *options,
        ]
        env = {"HOME": str(self._folder), "PATH": "/usr/bin:/bin"}
        return started(command, self._output, cwd=self._folder, env=env)

    def _address(self):
        """host:port as anvil prints it: it chose the port itself, so nobody can take it first."""
        wait_until(self._listening, self._process, told=self._output.read_text)
        return self._listening()[1]

    def _listening(self):
        return _LISTENING.search(self._output.read_text())


def started(command, output, **options):
    """A process that writes all it prints into a file: a pipe that nobody empties would stop it."""
    with output.open("wb") as out:
        return subprocess.Popen(
            [*ENDS_WITH_PARENT, *command],
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            **options,
        )


def creation_code(contract, *args):
    constructors = (entry for entry in contract.abi if entry["type"] == "constructor")
    constructor = next(constructors, {"type": "constructor"})
    return "0x" + (contract.bytecode + encode(get_abi_input_types(constructor), args)).hex()


def _binary():
    """npm's `anvil` is a script that starts this; ended directly, it leaves nothing behind."""
    paths = sorted(NODE.glob("node_modules/@foundry-rs/anvil-*/bin/anvil"))
    if not paths:
        raise RuntimeError("anvil is not installed: make install")
    return paths[0]


def _request(number, method, params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}


def _hexed(transaction):
    return {k: hex(v) if isinstance(v, int) else v for k, v in transaction.items()}
