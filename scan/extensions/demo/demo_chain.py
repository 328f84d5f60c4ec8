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
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from scan.ethereum import block_encoding, block_hashing, checksums, rlp_and_tries
from scan.ethereum.blocks import BlockJson, read_json
from scan.extensions.demo import demo_node, replay
from scan.extensions.explanations.storage import mapping_keys
from scan.extensions.explanations.transactions import failing_steps, state_changes
from scan.hex import to_hex

log = logging.getLogger(__name__)

LOOP = "scan_demo_loop"  # a method that no node has; its result is the first block of the loop
INTERVAL_S = 6
MAX_ADDED = 200_000  # two weeks, so that a forgotten chain does not fill the disk
CACHED_BLOCKS = 256
# The public mnemonic of anvil's accounts.
MNEMONIC = "test test test test test test test test test test test junk"
ACCOUNTS = 20
BALANCES = ("0x70a08231", "0x00fdd58e")  # balanceOf(address) and of an item
FIELDS = {
    "eth_getBalance": "balance",
    "eth_getTransactionCount": "nonce",
    "eth_getCode": "code",
    "eth_getStorageAt": "storage",
}
_NUMBER = re.compile("[0-9]+")
# Tracers in JavaScript without the numbers that bound them, by whose names the recording has their
# results: another text or time is no other request.
TRACERS = {
    _NUMBER.sub("", options["tracer"]): name
    for name, options in {
        "failing steps": failing_steps.TRACER,
        "hashed values": mapping_keys.TRACER,
    }.items()
}


class AddedBlock(NamedTuple):
    timestamp: int
    hash: str
    transactions: tuple[str, ...]  # their hashes

    def line(self) -> str:
        return " ".join((str(self.timestamp), self.hash, *self.transactions)) + "\n"


class DemoChain(replay.Recording):
    """The recorded blocks before the loop, and the blocks that add() adds.

    `ended_at` is the time of the last block before the loop.
    """

    def __init__(self, lines: Iterable[bytes], ended_at: int, max_added: int = MAX_ADDED) -> None:
        super().__init__(lines)
        self.max_added = max_added
        self._first_added: int = self._exact.pop((LOOP, b"[]"))["result"]
        self._loop_blocks = self.head + 1 - self._first_added
        self._added: list[AddedBlock] = []
        loop = range(self._first_added, self._first_added + self._loop_blocks)
        self._accounts = demo_node.DemoState(self._changes(), self._unchanged(), loop)
        senders = (t["from"] for n in loop for t in self._blocks[n]["transactions"])
        self._loop_nonces = Counter(senders)
        self._numbers: dict[str, int] = {}  # of blocks, by hash
        self._transaction_numbers: dict[str, int] = {}
        self._pending = self._pool()
        self._move(ended_at - int(self._blocks[self._first_added - 1]["timestamp"], 16))
        self.head = self._first_added - 1
        self._made = lru_cache(CACHED_BLOCKS)(self._make)
        self._derived |= {
            "eth_getTransactionByHash": self._transaction,
            "eth_getTransactionReceipt": self._receipt,
            "eth_getBlockReceipts": self._block_receipts,
            "debug_traceTransaction": self._trace,
            "eth_getProof": self._proof,
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
        return len(self._added) >= self.max_added

    def _pool(self) -> dict[str, dict[str, Any]]:
        """Return the transactions that wait in the recorded pool for ever, by their hashes."""
        content = self._exact.get(replay.exact_key("txpool_content", []), {"result": {}})["result"]
        by_nonce = (n for by_sender in content.values() for n in by_sender.values())
        return {t["hash"]: t for transactions in by_nonce for t in transactions.values()}

    def _move(self, seconds: int) -> None:
        """Move the blocks before the loop in time, which changes their hashes."""
        parent = self._blocks[0]["parentHash"]
        for number in range(self._first_added):
            block = self._blocks[number]
            timestamp = int(block["timestamp"], 16) + seconds
            receipts = [self._receipts[t["hash"]] for t in block["transactions"]]
            if number == self._first_added - 1:
                block = {**block, "stateRoot": self._root(number)}
            block = _placed(block, receipts, number, timestamp, parent)
            self._blocks[number], parent = block, block["hash"]
            self._numbers[parent] = number
            hashes = (transaction["hash"] for transaction in block["transactions"])
            self._transaction_numbers |= dict.fromkeys(hashes, number)

    def _make(self, number: int, timestamp: int) -> tuple[replay.Block, list[dict[str, Any]]]:
        """Return a block after the recorded ones, with its receipts."""
        cycle, template = self._template(number)
        block = self._blocks[template]
        receipts = [dict(self._receipts[t["hash"]]) for t in block["transactions"]]
        transactions = [self._next_signed(t, cycle) for t in block["transactions"]]
        for receipt, transaction in zip(receipts, transactions, strict=True):
            receipt["logs"] = [dict(log) for log in receipt["logs"]]
            for part in (receipt, *receipt["logs"]):
                part["transactionHash"] = transaction["hash"]
        block = {**block, "transactions": transactions, "stateRoot": self._root(number)}
        if cycle:
            sent = read_json(block, BlockJson, number).transactions
            root = rlp_and_tries.list_root(block_encoding.encode_transactions(sent))
            block["transactionsRoot"] = to_hex(root)
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
        to = checksums.checksummed(transaction["to"])
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

    def _block_at(self, number: int) -> replay.Block:
        if number < self._first_added:
            return self._blocks[number]
        return self._made(number, self._added[number - self._first_added].timestamp)[0]

    def _block(self, number: int) -> replay.Block | None:
        return self._block_at(number) if 0 <= number <= self.head else None

    def _block_of_hash(self, hash_: str) -> replay.Block | None:
        return self._block(self._numbers.get(hash_, -1))

    def _transaction(self, params: list[Any]) -> dict[str, Any] | None:
        hash_ = replay.hash_in(params)
        block = self._block(self._transaction_numbers.get(hash_, -1)) or {"transactions": ()}
        mined = (t for t in block["transactions"] if t["hash"] == hash_)
        return next(mined, self._pending.get(hash_))

    def _receipts_of(self, number: int) -> list[dict[str, Any]]:
        if number < self._first_added:
            return [self._receipts[t["hash"]] for t in self._blocks[number]["transactions"]]
        return self._made(number, self._added[number - self._first_added].timestamp)[1]

    def _receipt(self, params: list[Any]) -> dict[str, Any] | None:
        hash_ = replay.hash_in(params)
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
        transaction = self._transaction(params)
        if transaction is None:
            raise replay.RpcFault(-32000, "transaction not found")
        number, index = (int(transaction[key], 16) for key in ("blockNumber", "transactionIndex"))
        cycle, template = self._template(number)
        recorded = self._blocks[template]["transactions"][index]["hash"]
        result = super()._trace([recorded, *map(recorded_options, params[1:])])
        return self._later_state(result, cycle) if cycle and "pre" in result else result

    def _later_state(self, result: dict[str, Any], cycle: int) -> dict[str, Any]:
        """Return the changes of the state by a transaction of the loop, as they are in a later
        cycle."""

        def later(address: str, account: dict[str, Any]) -> dict[str, Any]:
            moved = dict(account)
            if "balance" in account:
                drift = self._accounts.drift(("balance", address), cycle)
                moved["balance"] = hex(int(account["balance"], 16) + drift)
            if "nonce" in account:
                moved["nonce"] = account["nonce"] + self._accounts.drift(("nonce", address), cycle)
            return moved

        return {
            side: {address: later(address, account) for address, account in accounts.items()}
            for side, accounts in result.items()
        }

    def _changes(self) -> Iterator[tuple[int, Any]]:
        """Yield the recorded blocks' numbers with what their transactions changed in the state."""
        for number, block in sorted(self._blocks.items()):
            for transaction in block["transactions"]:
                yield number, super()._trace([transaction["hash"], state_changes.STATE[0][1]])

    def _unchanged(self) -> dict[demo_node.Key, Any]:
        """Return the recorded values of accounts, of which some are never changed."""
        values: dict[demo_node.Key, Any] = {}
        for (method, subject), states in self._states.items():
            if method in FIELDS and "result" in states[-1][1]:
                result = states[-1][1]["result"]
                field = FIELDS[method]
                value = int(result, 16) if field in demo_node.DRIFTING else result
                values[field, *orjson.loads(subject)] = value
        return values

    def _field(self, method: str, params: list[Any]) -> Any:
        """Return a balance, nonce, code or storage of an address at any block."""
        _, number = self.state_key(method, params)
        if number > self.head:
            raise replay.RpcFault(-32000, "block not found")
        subject = [str(part).lower() for part in params[: replay.STATE_METHODS[method]]]
        if len(subject) == 2:  # a slot, which may lack its zeros
            subject[1] = f"0x{subject[1].removeprefix('0x'):0>64}"
        value = self._accounts.value((FIELDS[method], *subject), *self._template(number))
        return hex(value) if isinstance(value, int) else value

    def _proof(self, params: list[Any]) -> dict[str, Any]:
        """Return the result of eth_getProof. Headers before those that are added have the roots
        that were recorded, of which the node has no tries."""
        address, slots, block = params
        number = self._number(block)
        if not self._first_added - 1 <= number <= self.head:
            raise replay.RpcFault(-32000, f"historical state of block {number} is not available")
        return self._accounts.proof(address.lower(), slots, *self._template(number))

    def _root(self, number: int) -> str:
        return to_hex(self._accounts.trie(*self._template(number)).root)

    def _state(self, method: str, params: list[Any]) -> replay.Outcome:
        """Return a contract's recorded result after the block, or after the block it repeats.
        Balances of tokens, which every loop changes, have results where they were recorded."""
        key, number = self.state_key(method, params)
        if self._first_added - 1 <= number <= self.head:
            cycle, recorded = self._template(number)
            states = self._states.get(key, [])
            is_kept = not cycle and recorded in (block for block, _ in states)
            of_token = method == "eth_call" and orjson.loads(key[1])[1].startswith(BALANCES)
            if of_token and not is_kept:
                raise replay.UnseenCall
            if states:
                return dict(demo_node.value_at(states, recorded))
        return super()._state(method, params)


def recorded_options(options: Any) -> Any:
    """Return a tracer's options as the recording has them."""
    tracer = options.get("tracer") if isinstance(options, dict) else None
    name = TRACERS.get(_NUMBER.sub("", tracer)) if isinstance(tracer, str) else None
    return options if name is None else {"tracer": name}


def _placed(
    block: replay.Block,
    receipts: Sequence[dict[str, Any]],
    number: int,
    timestamp: int,
    parent: str,
) -> replay.Block:
    """Return the block with this number, time and parent, and with the hash that follows. The
    references to the block in its transactions, receipts and logs are changed in place."""
    block = {**block, "parentHash": parent, "number": hex(number), "timestamp": hex(timestamp)}
    header = read_json({**block, "transactions": []}, BlockJson, number)
    block["hash"] = to_hex(block_hashing.header_hash(header))
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


def start(
    data_dir: Path, now: Callable[[], float] = time.time, interval_s: float = INTERVAL_S
) -> demo_node.DemoNode:
    """Serve the demo chain, which goes on from its file in `data_dir`."""
    digest = hashlib.sha256(demo_node.RECORDING.read_bytes()).hexdigest()[:8]
    path = data_dir / f"demo_{digest}.blocks"
    ended_at, blocks = _saved(path)
    if ended_at is None:
        ended_at = int(now())
        path.write_text(f"{ended_at}\n")
    chain = DemoChain(replay.read_lines(demo_node.RECORDING), ended_at)
    for block in blocks:
        chain.add(block)
    grow = partial(_grow, chain, path, now, interval_s)
    threading.Thread(target=grow, name="demo-chain", daemon=True).start()
    return demo_node.DemoNode(chain)


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


def _grow(chain: DemoChain, path: Path, now: Callable[[], float], interval_s: float) -> None:
    """Add a block every few seconds, as long as the process runs."""
    with path.open("a") as file:
        while not chain.is_full:
            time.sleep(interval_s)
            block = chain.next_block(int(now()))
            file.write(block.line())
            file.flush()
            chain.add(block)
