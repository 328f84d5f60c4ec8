"""The demo chain: recorded blocks that end when the service first starts, and new ones after them.

The times of all recorded blocks are moved by the same number of seconds. Then a block is added
every few seconds: first the blocks of the recording's loop, and then the same blocks again and
again, each time with the next nonces, newly signed. The loop undoes its own changes, so only fees
remain of it. Parents, roots and hashes are computed. Times and hashes of added blocks are in a
file, so that a restarted service goes on.
"""

import hashlib
import logging
import os
import threading
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from scan.ethereum.block_hashing import header_hash, transactions_root
from scan.ethereum.blocks import BlockJson, read_json
from scan.ethereum.checksums import checksummed
from scan.extensions.demo.demo_node import RECORDING, DemoNode
from scan.extensions.demo.replay import (
    STATE_METHODS,
    Block,
    Outcome,
    Recording,
    RpcFault,
    read_lines,
)
from scan.extensions.transaction_details.explanations.state_changes import STATE
from scan.hex import to_hex

log = logging.getLogger(__name__)

LOOP = "scan_demo_loop"  # a method that no node has; its result is the first block of the loop
INTERVAL_S = 6
MAX_ADDED = 200_000  # two weeks, so that a forgotten chain does not fill the disk
CACHED_BLOCKS = 256
# The public mnemonic of anvil's accounts.
MNEMONIC = "test test test test test test test test test test test junk"
ACCOUNTS = 20
FIELDS = {
    "eth_getBalance": "balance",
    "eth_getTransactionCount": "nonce",
    "eth_getCode": "code",
    "eth_getStorageAt": "storage",
}
DRIFTING = ("balance", "nonce")  # values that each loop changes, by its fees and its transactions
EMPTY = {"balance": 0, "nonce": 0, "code": "0x", "storage": "0x" + 64 * "0"}


class AddedBlock(NamedTuple):
    timestamp: int
    hash: str
    transactions: tuple[str, ...]  # their hashes

    def line(self) -> str:
        return " ".join((str(self.timestamp), self.hash, *self.transactions)) + "\n"


class DemoChain(Recording):
    """The recorded blocks before the loop, and the blocks that add() adds.

    `ended_at` is the time of the last block before the loop.
    """

    def __init__(self, lines: Iterable[bytes], ended_at: int) -> None:
        super().__init__(lines)
        self._first_added: int = self._exact.pop((LOOP, b"[]"))["result"]
        self._loop_blocks = self.head + 1 - self._first_added
        self._added: list[AddedBlock] = []
        self._values: dict[tuple[str, ...], list[tuple[int, Any]]] = defaultdict(list)
        self._keep_values()
        senders = (t["from"] for n in self._loop_numbers() for t in self._blocks[n]["transactions"])
        self._loop_nonces = Counter(senders)
        self._numbers: dict[str, int] = {}  # of blocks, by hash
        self._transaction_numbers: dict[str, int] = {}
        self._move(ended_at - int(self._blocks[self._first_added - 1]["timestamp"], 16))
        self.head = self._first_added - 1
        self._made = lru_cache(CACHED_BLOCKS)(self._make)
        self._derived |= {
            "eth_getBlockReceipts": self._block_receipts,
            "debug_traceTransaction": self._trace,
            **{method: partial(self._field, method) for method in FIELDS},
        }

    def next_block(self, timestamp: int) -> AddedBlock:
        """Make the block to add next, without adding it."""
        timestamp = max(timestamp, int(self._block_at(self.head)["timestamp"], 16) + 1)
        block, _ = self._make(self.head + 1, timestamp)
        hashes = tuple(transaction["hash"] for transaction in block["transactions"])
        return AddedBlock(timestamp, block["hash"], hashes)

    def add(self, block: AddedBlock) -> None:
        number = self.head + 1
        self._added.append(block)
        self._numbers[block.hash] = number
        self._transaction_numbers |= dict.fromkeys(block.transactions, number)
        self.head = number

    @property
    def is_full(self) -> bool:
        return len(self._added) >= MAX_ADDED

    def _loop_numbers(self) -> range:
        return range(self._first_added, self._first_added + self._loop_blocks)

    def _move(self, seconds: int) -> None:
        """Move the blocks before the loop in time, which changes their hashes."""
        parent = self._blocks[0]["parentHash"]
        for number in range(self._first_added):
            block = self._blocks[number]
            timestamp = int(block["timestamp"], 16) + seconds
            receipts = [self._receipts[t["hash"]] for t in block["transactions"]]
            block = _placed(block, receipts, number, timestamp, parent)
            self._blocks[number], parent = block, block["hash"]
            self._numbers[parent] = number
            hashes = (transaction["hash"] for transaction in block["transactions"])
            self._transaction_numbers |= dict.fromkeys(hashes, number)

    def _make(self, number: int, timestamp: int) -> tuple[Block, list[dict[str, Any]]]:
        """Return a block after the recorded ones, with its receipts."""
        cycle, template = self._template(number)
        block = self._blocks[template]
        receipts = [dict(self._receipts[t["hash"]]) for t in block["transactions"]]
        transactions = [self._next_signed(t, cycle) for t in block["transactions"]]
        for receipt, transaction in zip(receipts, transactions, strict=True):
            receipt["logs"] = [dict(log) for log in receipt["logs"]]
            for part in (receipt, *receipt["logs"]):
                part["transactionHash"] = transaction["hash"]
        block = {**block, "transactions": transactions}
        if cycle:
            encoded = read_json(block, BlockJson, number).transactions
            block["transactionsRoot"] = to_hex(transactions_root(encoded))
        return _placed(block, receipts, number, timestamp, self._hash_of(number - 1)), receipts

    def _next_signed(self, transaction: dict[str, Any], cycle: int) -> dict[str, Any]:
        """Return a transaction of the loop, signed anew for a later cycle."""
        if cycle == 0:
            return dict(transaction)
        sender = transaction["from"]
        nonce = int(transaction["nonce"], 16) + cycle * self._loop_nonces[sender]
        unsigned = {
            name: int(transaction[name], 16)
            for name in ("chainId", "gas", "maxFeePerGas", "maxPriorityFeePerGas", "value")
        }
        to = checksummed(transaction["to"])
        signed = _keys()[sender].sign_transaction(
            {**unsigned, "type": 2, "nonce": nonce, "to": to, "data": transaction["input"]}
        )
        parity = hex(signed.v)
        return {
            **transaction,
            "nonce": hex(nonce),
            "hash": to_hex(signed.hash),
            "r": hex(signed.r),
            "s": hex(signed.s),
            "v": parity,
            "yParity": parity,
        }

    def _template(self, number: int) -> tuple[int, int]:
        """Return how often the loop has run before a block, and the number of the recorded block
        that the block repeats."""
        if number < self._first_added:
            return 0, number
        cycle, offset = divmod(number - self._first_added, self._loop_blocks)
        return cycle, self._first_added + offset

    def _hash_of(self, number: int) -> str:
        if number < self._first_added:
            return str(self._blocks[number]["hash"])
        return self._added[number - self._first_added].hash

    def _block_at(self, number: int) -> Block:
        if number < self._first_added:
            return self._blocks[number]
        return self._made(number, self._added[number - self._first_added].timestamp)[0]

    def _block(self, number: int) -> Block | None:
        return self._block_at(number) if 0 <= number <= self.head else None

    def _block_of_hash(self, hash_: str) -> Block | None:
        return self._block(self._numbers.get(hash_, -1))

    def _transaction(self, hash_: str) -> dict[str, Any] | None:
        block = self._block(self._transaction_numbers.get(hash_, -1)) or {"transactions": ()}
        return next((t for t in block["transactions"] if t["hash"] == hash_), None)

    def _receipts_of(self, number: int) -> list[dict[str, Any]]:
        if number < self._first_added:
            return [self._receipts[t["hash"]] for t in self._blocks[number]["transactions"]]
        return self._made(number, self._added[number - self._first_added].timestamp)[1]

    def _receipt(self, hash_: str) -> dict[str, Any] | None:
        number = self._transaction_numbers.get(hash_)
        receipts = () if number is None else self._receipts_of(number)
        return next((r for r in receipts if r["transactionHash"] == hash_), None)

    def _block_receipts(self, params: list[Any]) -> list[dict[str, Any]] | None:
        block = params[0] if params else None
        is_hash = isinstance(block, str) and len(block) == 66
        number = self._number({"blockHash": block} if is_hash else block)
        return self._receipts_of(number) if 0 <= number <= self.head else None

    def _trace(self, params: list[Any]) -> Any:
        """Return the recorded trace of a transaction, or of the one that it repeats."""
        hash_ = str(params[0] if params else None).lower()
        transaction = self._transaction(hash_)
        if transaction is None:
            raise RpcFault(-32000, "transaction not found")
        number, index = (int(transaction[key], 16) for key in ("blockNumber", "transactionIndex"))
        cycle, template = self._template(number)
        recorded = self._blocks[template]["transactions"][index]["hash"]
        result = super()._trace([recorded, *params[1:]])
        return self._later_state(result, cycle) if cycle and "pre" in result else result

    def _later_state(self, result: dict[str, Any], cycle: int) -> dict[str, Any]:
        """Return the changes of the state by a transaction of the loop, as they are in a later
        cycle."""

        def later(address: str, account: dict[str, Any]) -> dict[str, Any]:
            moved = dict(account)
            if "balance" in account:
                balance = int(account["balance"], 16) + self._drift(("balance", address), cycle)
                moved["balance"] = hex(balance)
            if "nonce" in account:
                moved["nonce"] = account["nonce"] + self._drift(("nonce", address), cycle)
            return moved

        return {
            side: {address: later(address, account) for address, account in accounts.items()}
            for side, accounts in result.items()
        }

    def _keep_values(self) -> None:
        """Keep the values that every transaction changed, by the recorded traces of the state."""
        for number, block in sorted(self._blocks.items()):
            for transaction in block["transactions"]:
                params = [transaction["hash"], STATE[0][1]]
                changes = super()._trace(params)
                before, after = _flat(changes["pre"]), _flat(changes["post"])
                for key in before.keys() | after.keys():
                    empty = EMPTY[key[0]]
                    # `post` lacks the fields of a changed account that did not change themselves.
                    new = after.get(key, empty if key[0] == "storage" else before.get(key, empty))
                    values = self._values[key]
                    if not values:
                        values.append((-1, before.get(key, empty)))
                    values.append((number, new))

    def _field(self, method: str, params: list[Any]) -> Any:
        """Return a balance, nonce, code or storage of an address at any block."""
        key, number = self.state_key(method, params)
        if number > self.head:
            raise RpcFault(-32000, "block not found")
        subject = [str(part).lower() for part in params[: STATE_METHODS[method]]]
        if len(subject) == 2:  # a slot, which may lack its zeros
            subject[1] = f"0x{subject[1].removeprefix('0x'):0>64}"
        field = FIELDS[method]
        cycle, recorded = self._template(number)
        values = self._values.get((field, *subject))
        if values is None:  # nothing on the chain changed it
            states = self._states.get(key)
            return states[-1][1]["result"] if states else _text(EMPTY[field])
        value = _value_at(values, recorded)
        return _text(value + self._drift((field, *subject), cycle) if field in DRIFTING else value)

    def _drift(self, key: tuple[str, ...], cycle: int) -> int:
        """Return by how much so many cycles change a balance or a nonce; 0 for other values."""
        values = self._values.get(key)
        if not cycle or values is None:
            return 0
        last = self._first_added + self._loop_blocks - 1
        return cycle * int(_value_at(values, last) - _value_at(values, self._first_added - 1))

    def _state(self, method: str, params: list[Any]) -> Outcome:
        """Return a contract's recorded result after the block, or after the block it repeats."""
        key, number = self.state_key(method, params)
        if self._first_added - 1 <= number <= self.head and key in self._states:
            _, recorded = self._template(number)
            return dict(_value_at(self._states[key], recorded))
        return super()._state(method, params)


def _flat(accounts: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """Return the values in a trace's accounts, by field, address and, for storage, slot."""
    values: dict[tuple[str, ...], Any] = {}
    for address, account in accounts.items():
        for field in account.keys() & {"balance", "nonce", "code"}:
            value = account[field]
            values[field, address] = int(value, 16) if field == "balance" else value
        for slot, value in account.get("storage", {}).items():
            values["storage", address, slot] = value
    return values


def _value_at(values: list[tuple[int, Any]], number: int) -> Any:
    return values[max(bisect_right(values, number, key=itemgetter(0)) - 1, 0)][1]


def _text(value: Any) -> str:
    return hex(value) if isinstance(value, int) else str(value)


def _placed(
    block: Block, receipts: Sequence[dict[str, Any]], number: int, timestamp: int, parent: str
) -> Block:
    """Return the block with this number, time and parent, and with the hash that follows. The
    references to the block in its transactions, receipts and logs are changed in place."""
    block = {**block, "parentHash": parent, "number": hex(number), "timestamp": hex(timestamp)}
    header = read_json({**block, "transactions": []}, BlockJson, number)
    block["hash"] = to_hex(header_hash(header))
    logs = (log for receipt in receipts for log in receipt["logs"])
    for record in (*block["transactions"], *receipts, *logs):
        record["blockHash"], record["blockNumber"] = block["hash"], block["number"]
        if "blockTimestamp" in record:
            record["blockTimestamp"] = block["timestamp"]
    return block


@cache
def _keys() -> dict[str, Any]:
    """Return the keys of the accounts that send the loop's transactions, by address."""
    from eth_account import Account  # importing takes half a second; needed after 16 minutes

    Account.enable_unaudited_hdwallet_features()
    paths = (f"m/44'/60'/0'/0/{number}" for number in range(ACCOUNTS))
    accounts = (Account.from_mnemonic(MNEMONIC, account_path=path) for path in paths)
    return {account.address.lower(): account for account in accounts}


def start(data_dir: Path, now: Callable[[], float] = time.time) -> DemoNode:
    """Serve the demo chain, which goes on from its file in `data_dir`."""
    digest = hashlib.sha256(RECORDING.read_bytes()).hexdigest()[:8]
    path = data_dir / f"demo_{digest}.blocks"
    ended_at, blocks = _saved(path)
    if ended_at is None:
        ended_at = int(now())
        path.write_text(f"{ended_at}\n")
    chain = DemoChain(read_lines(RECORDING), ended_at)
    for block in blocks:
        chain.add(block)
    threading.Thread(target=_grow, args=(chain, path, now), name="demo-chain", daemon=True).start()
    return DemoNode(chain, 0)


def _saved(path: Path) -> tuple[int | None, list[AddedBlock]]:
    """Return the time of the last recorded block, None without one, and the added blocks. The last
    line is cut off if it has no end, as the service was killed while it wrote the line."""
    if not path.exists():
        return None, []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if len(whole) < len(text):
        os.truncate(path, len(whole))
    first, *lines = whole.splitlines() or [""]
    rows = (line.split() for line in lines)
    blocks = [AddedBlock(int(time_), hash_, tuple(rest)) for time_, hash_, *rest in rows]
    return (int(first), blocks) if first else (None, [])


def _grow(chain: DemoChain, path: Path, now: Callable[[], float]) -> None:
    """Add a block every few seconds, as long as the process runs."""
    with path.open("a") as file:
        while not chain.is_full:
            time.sleep(INTERVAL_S)
            block = chain.next_block(int(now()))
            file.write(block.line())
            file.flush()
            chain.add(block)
