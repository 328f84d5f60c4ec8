"""The replay of a recording, for the demo chain of demo_chain.py and chains that tests make.

A recording is gzipped JSON lines, one per request: {"method", "params", and "result" or "error"}.
"""

import gzip
import io
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from scan.extensions.traces.transaction_traces import CALLS

# Methods that read a state, and the index of the block among their parameters.
STATE_METHODS = {
    **dict.fromkeys(("eth_getBalance", "eth_getCode", "eth_getTransactionCount", "eth_call"), 1),
    "eth_getStorageAt": 2,
}
NEVER_USED = {"eth_getBalance": "0x0", "eth_getCode": "0x", "eth_getTransactionCount": "0x0"}

Outcome = dict[str, Any]
Block = dict[str, Any]


class RpcFault(Exception):
    """A JSON-RPC error, with a code of the JSON-RPC 2.0 specification and a message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.outcome: Outcome = {"error": {"code": code, "message": message}}


class UnseenCall(RpcFault):
    """A contract's revert whose reason, as Solidity encodes it, is that nothing was recorded."""

    def __init__(self) -> None:
        text = "this node replays a recording, which has no such call"
        super().__init__(3, f"execution reverted: {text}")
        encoded = f"{32:064x}{len(text):064x}{text.encode().hex():0<128}"
        self.outcome["error"]["data"] = f"0x08c379a0{encoded}"


def read_lines(path: Path) -> Iterable[bytes]:
    """Return the lines of a recording's file."""
    return io.BytesIO(gzip.decompress(path.read_bytes()))


class Recording:
    """The requests that were made while a chain was recorded, with their responses."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        """Parse the lines. Raises ValueError where they have no block."""
        self._exact: dict[tuple[str, bytes], Outcome] = {}
        self._blocks: dict[int, Block] = {}
        self._states: dict[tuple[str, bytes], list[tuple[int, Outcome]]] = defaultdict(list)
        rows = list(map(orjson.loads, lines))
        self._keep_blocks(rows)
        self.first, self.head = min(self._blocks), max(self._blocks)
        for row in rows:
            self._keep(row)
        for states in self._states.values():
            states.sort(key=lambda state: state[0])
        self._methods = {method for method, _ in self._exact}
        # Results that follow from the blocks, whatever the recorded requests were.
        self._derived: dict[str, Callable[[list[Any]], Any]] = {
            "eth_blockNumber": lambda params: hex(self.head),
            "eth_syncing": lambda params: False,
            "eth_getBlockByNumber": lambda params: _with_transactions(
                self._block(self._number(params[0] if params else None)), params
            ),
            "eth_getBlockByHash": lambda params: _with_transactions(
                self._block_of_hash(hash_in(params)), params
            ),
            "eth_getTransactionByHash": lambda params: self._transactions.get(hash_in(params)),
            "eth_getTransactionReceipt": lambda params: self._receipts.get(hash_in(params)),
            "eth_getLogs": self._logs,
        }
        if "debug_traceTransaction" in self._methods:
            self._derived["debug_traceBlockByHash"] = self._block_trace

    def respond(self, method: str, params: list[Any]) -> Outcome:
        """Return the node's {"result"} or {"error"}. Raises RpcFault if none was recorded."""
        outcome = self._exact.get(exact_key(method, params))
        if derived := self._derived.get(method):
            try:
                return {"result": derived(params)}
            except RpcFault:  # a header outside of the recorded blocks, as block 0's, may be exact
                if outcome is None:
                    raise
        if outcome:
            return outcome
        if method in STATE_METHODS:
            return self._state(method, params)
        if method not in self._methods:
            raise RpcFault(-32601, f"the recording has no method {method}")
        raise RpcFault(-32000, "the recording has no response to this request")

    def _keep_blocks(self, rows: list[dict[str, Any]]) -> None:
        """Keep the blocks with full transactions; blocks with hashes alone are made from them."""
        for row in rows:
            if (
                row["method"].startswith("eth_getBlockBy")
                and row.get("result")
                and row["params"][1:] == [True]
            ):
                self._blocks[int(row["result"]["number"], 16)] = row["result"]
        if not self._blocks:
            raise ValueError("the recording contains no block")
        self._numbers = {block["hash"]: number for number, block in self._blocks.items()}
        blocks = self._blocks.values()
        self._transactions = {t["hash"]: t for block in blocks for t in block["transactions"]}
        self._receipts = {}
        for row in rows:
            if row["method"] in ("eth_getBlockReceipts", "eth_getTransactionReceipt"):
                result = row.get("result") or []
                for receipt in result if isinstance(result, list) else [result]:
                    self._receipts[receipt["transactionHash"]] = receipt

    def _keep(self, row: dict[str, Any]) -> None:
        outcome: Outcome = {key: row[key] for key in ("result", "error") if key in row}
        method, params = row["method"], row["params"]
        self._exact[exact_key(method, params)] = outcome
        if method in STATE_METHODS:
            with suppress(RpcFault):  # no such block: only the exact request has an answer
                key, block = self.state_key(method, params)
                self._states[key].append((block, outcome))

    def _state(self, method: str, params: list[Any]) -> Outcome:
        """Return the recorded state of a block; for the head, the last recorded state.

        For other blocks raise RpcFault with the error of a node that has pruned their state.
        """
        key, block = self.state_key(method, params)
        states = self._states.get(key, [])
        if block != self.head:
            at = bisect_left(states, block, key=lambda state: state[0])
            if at == len(states) or states[at][0] != block:
                reason = f"historical state of block {block} is not available"
                raise RpcFault(-32000, f"{reason}: the recording has only the state of its head")
            return states[at][1]
        # The recording of a whole chain has all its accounts, so this one was never used.
        if not states and method in NEVER_USED:
            return {"result": NEVER_USED[method]}
        if not states and method == "eth_call":
            return self._unseen_call(params)
        if not states:
            raise RpcFault(-32000, f"this node replays a recording, which has no such {method}")
        return states[-1][1]

    def _unseen_call(self, params: list[Any]) -> Outcome:
        """Return what an account without code returns. Raises RpcFault as a contract does that has
        no such function: an indexer draws some of its calls, and would take another error for a
        failure of the node."""
        to, at = params[0].get("to"), params[1:2]
        with suppress(RpcFault):
            if to and self.respond("eth_getCode", [to, *at]).get("result") == "0x":
                return {"result": "0x"}
        raise UnseenCall

    def state_key(self, method: str, params: list[Any]) -> tuple[tuple[str, bytes], int]:
        """Return the key of a request without its block, and the block's number."""
        block_index = STATE_METHODS[method]
        if len(params) < block_index:
            raise RpcFault(-32602, f"{method} takes {block_index} parameters and a block")
        subject = params[:block_index]
        if method == "eth_call":
            call = params[0]
            if not isinstance(call, dict):
                raise RpcFault(-32602, "the first parameter of eth_call must be an object")
            # Gas and sender do not change the result of a view function.
            subject = [call.get("to"), call.get("data") or call.get("input") or "0x"]
        block = self._number(params[block_index] if len(params) > block_index else "latest")
        return exact_key(method, subject), block

    def _logs(self, params: list[Any]) -> list[Any]:
        """Select logs by block range or block hash, addresses and topics, as in execution-apis."""
        if not params or not isinstance(params[0], dict):
            raise RpcFault(-32602, "eth_getLogs takes a filter")
        log_filter = params[0]
        at = {"blockHash": log_filter["blockHash"]} if "blockHash" in log_filter else None
        first = self._number(at or log_filter.get("fromBlock", "latest"))
        last = self._number(at or log_filter.get("toBlock", "latest"))
        if last > self.head:
            raise RpcFault(-32602, "block range extends beyond current head block")
        logs = (
            log
            for number in range(max(first, self.first), min(last, self.head) + 1)
            for receipt in self._receipts_of(number)
            for log in receipt["logs"]
        )
        topics = log_filter.get("topics") or []
        return [
            log
            for log in logs
            if _is_one_of(log["address"], log_filter.get("address"))
            and len(topics) <= len(log["topics"])
            and all(map(_is_one_of, log["topics"], topics))
        ]

    def _block(self, number: int) -> Block | None:
        if number <= self.head and number not in self._blocks:
            raise RpcFault(-32000, f"the recording has no block {number}")
        return self._blocks.get(number)

    def _block_of_hash(self, hash_: str) -> Block | None:
        return self._blocks.get(self._numbers.get(hash_, -1))

    def _receipts_of(self, number: int) -> list[dict[str, Any]]:
        hashes = [t["hash"] for t in self._blocks.get(number, {"transactions": ()})["transactions"]]
        return [self._receipts[hash_] for hash_ in hashes if hash_ in self._receipts]

    def _trace(self, params: list[Any]) -> Any:
        """Return the recorded trace of a transaction. Raises RpcFault without one."""
        outcome = self._exact.get(exact_key("debug_traceTransaction", params))
        if outcome is None or "result" not in outcome:
            raise RpcFault(-32000, "the recording has no trace of this transaction")
        return outcome["result"]

    def _block_trace(self, params: list[Any]) -> list[dict[str, Any]]:
        """Return callTracer's trace of a block, made of its transactions' traces with logs."""
        block = self._block_of_hash(hash_in(params))
        if block is None or params[1:] != [{"tracer": "callTracer"}]:
            raise RpcFault(-32000, "the recording has no response to this request")
        hashes = [transaction["hash"] for transaction in block["transactions"]]
        return [
            {"txHash": hash_, "result": _without_logs(self._trace([hash_, CALLS[0][1]]))}
            for hash_ in hashes
        ]

    def _number(self, block: Any) -> int:
        """Return the number of the block that a parameter refers to (EIP-1898 allows an object)."""
        if isinstance(block, dict) and "blockNumber" in block:
            return self._number(block["blockNumber"])
        if isinstance(block, dict) and "blockHash" in block:
            number = self._numbers.get(str(block["blockHash"]).lower())
            if number is None:
                raise RpcFault(-32000, "block not found")
            return number
        if block == "earliest":
            return self.first
        if block in ("latest", "pending", "safe", "finalized"):
            return self.head
        try:
            if isinstance(block, str) and block.startswith("0x"):
                return int(block, 16)
        except ValueError:
            pass
        raise RpcFault(-32602, f"not a block: {str(block)[:80]}")


def _without_logs(frame: dict[str, Any]) -> dict[str, Any]:
    frame = {name: value for name, value in frame.items() if name != "logs"}
    if "calls" in frame:
        frame["calls"] = [_without_logs(call) for call in frame["calls"]]
    return frame


def exact_key(method: str, params: Any) -> tuple[str, bytes]:
    """Return a key that does not depend on the case of hex digits and the order of JSON's keys."""
    return method, orjson.dumps(params, option=orjson.OPT_SORT_KEYS).lower()


def hash_in(params: list[Any]) -> str:
    """Return the hash that is the first parameter."""
    return str(params[0] if params else None).lower()


def _is_one_of(value: str, accepted: Any) -> bool:
    """Return whether a filter accepts a value: None and [] accept all, a list its values."""
    if accepted is None or accepted == []:
        return True
    values = accepted if isinstance(accepted, list) else [accepted]
    return value in [str(item).lower() for item in values]


def _with_transactions(block: Block | None, params: list[Any]) -> Block | None:
    """Return the block with transactions, or their hashes if the second parameter is not true."""
    if block is None or (len(params) > 1 and params[1] is True):
        return block
    return {**block, "transactions": [t["hash"] for t in block["transactions"]]}
