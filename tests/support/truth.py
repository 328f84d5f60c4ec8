"""What the API must say of a chain, worked out from the node alone, slowly and plainly.

Written from what the service promises, without the indexer's code: two ways to one
answer are the point. It asks other methods, too: receipts one by one, traces transaction by
transaction, logs through eth_getLogs.
"""

import datetime
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from eth_abi import decode, encode
from eth_abi.exceptions import DecodingError
from eth_utils import keccak

from tests.support.anvil import Node, RpcError
from tests.support.block_sizes import size_of

ZERO = "0x" + 40 * "0"
SYSTEM = "0x" + 19 * "ff" + "fe"
BATCH = 100

Record = dict[str, Any]

# The four factories of Ethereum that the scenario puts where they are known.
KNOWN_FACTORIES = {
    ("v2", "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"): "uniswap-v2",
    ("v3", "0x1f98431c8ad98523631ae4a59f267346ea31f984"): "uniswap-v3",
    ("v2", "0x1097053fd2ea711dad45caccc45eff7548fcb362"): "pancakeswap-v2",
    ("v3", "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865"): "pancakeswap-v3",
}

DELEGATION = "0xef0100"  # how the code of an account begins that delegates it (EIP-7702)

# Fields of answers that no truth here has, and where they are compared.
ELSEWHERE = {
    "verified": "of a token, which the operator's verifications say: tests/pages/test_pages.py",
    **dict.fromkeys(("logoUrl", "listedAs"), "of a token: tests/extensions/token_lists"),
    "largerNamesake": "of a token: tests/extensions/transaction_details/explanations",
    "event": "of a log, decoded by its contract's ABI: test_transaction_details.py",
    "confirmations": "of a block or a transaction alone: tests/api/test_lists.py",
    "blobCount": "of a block alone: tests/extensions/block_records/blobs",
    **dict.fromkeys(
        ("producerFees", "earned", "withdrawn"),
        "of a block alone: tests/extensions/block_records/earnings",
    ),
    "error": "of a transaction that failed: tests/extensions/transaction_details/explanations",
    **dict.fromkeys(
        ("authorizations", "authorizationCount"),
        "of a transaction alone: tests/extensions/block_records/authorizations",
    ),
    **dict.fromkeys(
        ("input", "method", "logs", "logCount", "unavailable", "summary"),
        "of a transaction alone, from the node and decoded: test_transaction_details.py",
    ),
}


def comparable(record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in ELSEWHERE}


def topic_of(event: str) -> str:
    return "0x" + keccak(text=event).hex()


TRANSFER = topic_of("Transfer(address,address,uint256)")
SINGLE = topic_of("TransferSingle(address,address,address,uint256,uint256)")
BATCHED = topic_of("TransferBatch(address,address,address,uint256[],uint256[])")
DEPOSIT = topic_of("Deposit(address,uint256)")
WITHDRAWAL = topic_of("Withdrawal(address,uint256)")
SWAP_V2 = topic_of("Swap(address,uint256,uint256,uint256,uint256,address)")
SWAP_V3 = topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)")
SWAP_PANCAKE = topic_of("Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)")


class Log(NamedTuple):
    """A log with its hex undone; `block` and `number` (its log index) place it in the chain."""

    address: str
    topics: list[bytes]
    data: bytes
    block: int
    number: int
    transaction_hash: str

    @property
    def event(self) -> str:
        return "0x" + self.topics[0].hex() if self.topics else ""

    def words(self) -> list[int]:
        whole = len(self.data) // 32 * 32
        return [int.from_bytes(self.data[n : n + 32], "big") for n in range(0, whole, 32)]


class Move(NamedTuple):
    """A transfer as its log says it, before the token's type has its say."""

    log: Log
    shape: str
    sender: str
    recipient: str
    # (id or third word, value) pairs; a shape without ids repeats its one word.
    parts: list[tuple[int, int]]


@dataclass(frozen=True)
class Truth:
    """Records as the API shows them, whole, newest first."""

    head: int
    stats: Record  # what the chain says of them; the rest is the operator's
    blocks: list[Record]
    transactions: list[Record]
    token_transfers: list[Record]
    dex_trades: list[Record]
    tokens: list[Record]
    # token -> what its own page shows beside its record
    token_details: dict[str, Record]
    addresses: dict[str, Record]
    internal_transfers: list[Record]
    # token -> holder -> balance above zero, by the transfers
    holders: dict[str, dict[str, int]]
    # transaction hash -> the contract it created directly
    created: dict[str, str]
    logs: list[Record]
    # of which it has none: see tests/extensions/user_operations
    user_operations: list[Record] = field(default_factory=list)

    def transactions_of(self, address: str) -> list[Record]:
        return [t for t in self.transactions if self._touches(t, address)]

    def address_detail(self, address: str) -> Record:
        """As /addresses/:address shows it."""
        recent = self.transactions_of(address)[:25]
        detail = {**self.addresses[address], "recentTxs": recent, "balanceBlock": self.head}
        return {**detail, "creation": self.creation_of(address)}

    def creation_of(self, address: str) -> Record | None:
        """The newest, by a transaction or inside of one."""
        transactions = {t["hash"]: t for t in self.transactions}
        ways = [(t, None) for h, t in transactions.items() if self.created.get(h) == address]
        ways += [
            (transactions[i["transactionHash"]], i["fromAddress"])
            for i in self.internal_transfers
            if i["type"] in ("create", "create2") and i["toAddress"] == address
        ]
        if not ways:
            return None
        sent, factory = max(
            ways, key=lambda way: (way[0]["blockNumber"], way[0]["transactionIndex"])
        )
        return {
            "creator": sent["fromAddress"],
            "factory": factory,
            "transactionHash": sent["hash"],
            "blockNumber": sent["blockNumber"],
            "timestamp": sent["timestamp"],
            "unproven": ["factory"],
        }

    def token_detail(self, token: Record) -> Record:
        """As /tokens/:address shows it."""
        return {**token, **self.token_details[token["address"]]}

    def tokens_held_by(self, address: str) -> list[Record]:
        """As /addresses/:address/tokens lists them."""
        return [
            {
                "tokenAddress": token["address"],
                **{name: token[name] for name in ("name", "symbol", "decimals", "type")},
                "balance": str(self.holders[token["address"]][address]),
                "unproven": ["name", "symbol", "decimals", "type"],
            }
            for token in sorted(self.tokens, key=lambda t: str(t["address"]))
            if address in self.holders.get(token["address"], ())
        ]

    def _touches(self, transaction: Record, address: str) -> bool:
        parties = (transaction["fromAddress"], transaction["toAddress"])
        return address in parties or self.created.get(transaction["hash"]) == address


def read_truth(node: Node, traces: bool = True) -> Truth:
    """Reads the whole chain up to the head; `traces` as the service's SCAN_TRACES."""
    return _Reading(node, traces).truth()


class _Reading:
    """One pass over the chain: what was read is kept, since everything is asked many times."""

    def __init__(self, node: Node, traces: bool) -> None:
        self.node = node
        self.head = int(node.call("eth_blockNumber"), 16)
        self.blocks = read_blocks(node, self.head)
        self.receipts = read_receipts(node, self.blocks)
        self.logs = read_logs(node, self.head)
        self.timestamps = [timestamp(b["timestamp"]) for b in self.blocks]
        self.created = direct_creations(self.receipts)
        self.traces = read_traces(node, self.receipts) if traces else {}
        self.call = cache(self._call)
        self.token_types: dict[str, str] = {}
        self.first_seen: dict[str, int] = {}
        # A pool is one exchange's, whatever else it emits: named at its first trade.
        self.dexes: dict[str, str] = {}

    def truth(self) -> Truth:
        transfers = self.token_transfers()
        holders = holders_by_transfers(transfers)
        transactions = self.transactions()
        return Truth(
            head=self.head,
            stats=self.stats(),
            blocks=newest_first([block_record(b, self.receipts) for b in self.blocks]),
            transactions=newest_first(transactions),
            token_transfers=newest_first(transfers),
            dex_trades=newest_first(self.dex_trades(transfers)),
            tokens=sorted(
                (self.token_record(token, holders) for token in self.token_types),
                key=lambda t: (t["holderCount"], t["address"]),
                reverse=True,
            ),
            token_details=self.token_details(transfers),
            addresses=self.addresses(transfers, transactions),
            internal_transfers=newest_first(self.internal_transfers()),
            holders=holders,
            created=self.created,
            logs=newest_first([self.log_record(log) for log in self.logs]),
        )

    # blocks and transactions

    def stats(self) -> Record:
        newest = self.blocks[-100:]
        prices = [
            quantity(self.receipts[t["hash"]]["effectiveGasPrice"])
            for b in newest
            for t in b["transactions"]
        ]
        return {
            "latestBlock": self.head,
            "totalTransactions": len(self.receipts),
            "totalTokens": len(self.token_types),
            "avgGasPrice": str(sum(prices) // len(prices) if prices else 0),
            "chainId": quantity(self.node.call("eth_chainId")),
        }

    def transactions(self) -> list[Record]:
        return [
            transaction_record(t, self.receipts[t["hash"]], self.timestamps[quantity(b["number"])])
            | {"unproven": unproven_of_transactions(b)}
            for b in self.blocks
            for t in b["transactions"]
        ]

    def internal_transfers(self) -> list[Record]:
        """What calls, creations and self-destructions moved inside transactions."""
        if not self.traces:
            return self.logged_transfers()
        return [
            {
                "transactionHash": t["hash"],
                "blockNumber": quantity(block["number"]),
                "transferIndex": place,
                "type": frame["type"].lower(),
                "fromAddress": frame["from"].lower(),
                "toAddress": frame["to"].lower(),
                "value": str(quantity(frame["value"])),
                "timestamp": self.timestamps[quantity(block["number"])],
                "source": "trace",
                "proven": "blockAccessListHash" in block
                and quantity(frame["value"]) > 0
                and frame["from"].lower() != frame["to"].lower(),
            }
            for block in self.blocks
            for t in block["transactions"]
            if t["hash"] in self.traces
            for place, frame in moved_in(self.traces[t["hash"]])
        ]

    def logged_transfers(self) -> list[Record]:
        """What logs of coin say was moved inside transactions; the first of a transaction with a
        value to another account is of that value."""
        records = []
        for block in self.blocks:
            for t in block["transactions"]:
                receipt = self.receipts[t["hash"]]
                logs = [log for log in map(read_log, receipt["logs"]) if self.is_coin(log)]
                recipient = (t["to"] or receipt["contractAddress"] or "").lower()
                has_own = quantity(t["value"]) and recipient != t["from"].lower()
                for place, log in enumerate(logs[1:] if has_own else logs, 1):
                    records.append(
                        {
                            "transactionHash": t["hash"],
                            "blockNumber": log.block,
                            "transferIndex": place,
                            "type": "transfer",
                            "fromAddress": "0x" + log.topics[1][12:].hex(),
                            "toAddress": "0x" + log.topics[2][12:].hex(),
                            "value": str(log.words()[0]),
                            "timestamp": self.timestamps[log.block],
                            "source": "log",
                            "proven": True,
                        }
                    )
        return records

    def is_coin(self, log: Log) -> bool:
        """Whether the protocol logs a transfer of coin, as it does since Amsterdam (EIP-7708)."""
        return log.address == SYSTEM and "blockAccessListHash" in self.blocks[log.block]

    # token transfers

    def token_transfers(self) -> list[Record]:
        moves = [move for logs in self._logs_by_transaction() for move in self.moves(logs)]
        records = []
        for move in moves:
            token = move.log.address
            if token not in self.token_types and move.parts:
                self.token_types[token] = self.type_of(move)
                self.first_seen[token] = move.log.block
            records += self.transfer_records(move)
        return records

    def _logs_by_transaction(self) -> Iterator[list[Log]]:
        found: dict[str, list[Log]] = defaultdict(list)
        for log in self.logs:
            found[log.transaction_hash].append(log)
        yield from found.values()

    def moves(self, logs: list[Log]) -> list[Move]:
        """The transfers in one transaction's logs, a wrapper's doubles taken out."""
        moves = [m for log in logs if not self.is_coin(log) and (m := read_move(log))]
        wrapping = [m for m in moves if m.shape in ("deposit", "withdrawal")]
        others = [m for m in moves if m.shape not in ("deposit", "withdrawal")]
        announced = Counter(identity(m) for m in others)
        kept = list(others)
        for move in wrapping:
            if announced[identity(move)]:
                announced[identity(move)] -= 1
            elif self.is_wrapper(move.log):
                kept.append(move)
        return sorted(kept, key=lambda m: m.log.number)

    def is_wrapper(self, log: Log) -> bool:
        def answers(signature: str, *args: Any) -> bool:
            answer = self.call(log.address, signature, args, log.block)
            return answer is not None and len(answer) >= 32

        return (
            answers("totalSupply()")
            and answers("decimals()")
            and answers("balanceOf(address)", ZERO)
        )

    def type_of(self, move: Move) -> str:
        claimed = self.claimed_type(move.log)
        if claimed:
            return claimed
        if move.shape == "erc20" or move.shape in ("deposit", "withdrawal"):
            return "BEP20"
        if move.shape == "erc721":
            return "BEP721"
        if move.shape == "erc1155":
            return "BEP1155"
        decimals = self.call(move.log.address, "decimals()", (), move.log.block)
        return "BEP20" if decimals is not None and len(decimals) >= 32 else "BEP721"

    def claimed_type(self, log: Log) -> str | None:
        """What ERC-165 says, when it says one thing and says it credibly."""

        def claims(interface: str) -> bool:
            answer = self.call(
                log.address, "supportsInterface(bytes4)", (bytes.fromhex(interface),), log.block
            )
            return answer is not None and len(answer) >= 32 and answer[:32] == bytes(31) + b"\x01"

        if not claims("01ffc9a7") or claims("ffffffff"):
            return None
        claimed = [
            name
            for name, interface in (("BEP721", "80ac58cd"), ("BEP1155", "d9b67a26"))
            if claims(interface)
        ]
        return claimed[0] if len(claimed) == 1 else None

    def transfer_records(self, move: Move) -> list[Record]:
        token_type = self.token_types.get(move.log.address)
        return [
            {
                "transactionHash": move.log.transaction_hash,
                "blockNumber": move.log.block,
                "logIndex": move.log.number,
                "batchIndex": n,
                "tokenAddress": move.log.address,
                "tokenType": token_type,
                "fromAddress": move.sender,
                "toAddress": move.recipient,
                **amount_of(token_type, move.shape, token_id, value),
                "timestamp": self.timestamps[move.log.block],
                "tokenSymbol": self.symbol(move.log.address),
                "tokenDecimals": self.decimals(move.log.address),
                "unproven": ["tokenType", "tokenSymbol", "tokenDecimals"],
            }
            for n, (token_id, value) in enumerate(move.parts)
        ]

    def log_record(self, log: Log) -> Record:
        return {
            "transactionHash": log.transaction_hash,
            "blockNumber": log.block,
            "logIndex": log.number,
            "transactionIndex": quantity(self.receipts[log.transaction_hash]["transactionIndex"]),
            "address": log.address,
            "topics": ["0x" + topic.hex() for topic in log.topics],
            "data": "0x" + log.data.hex(),
            "timestamp": self.timestamps[log.block],
        }

    # tokens

    def symbol(self, token: str) -> str | None:
        """None for a contract that no token was ever moved of."""
        if token not in self.first_seen:
            return None
        return text_of(self.call(token, "symbol()", (), self.first_seen[token]), 50)

    def decimals(self, token: str) -> int | None:
        if token not in self.first_seen:
            return None
        decimals = first_word(self.call(token, "decimals()", (), self.first_seen[token]))
        return decimals if 0 <= decimals <= 255 else 0

    def token_record(self, token: str, holders: dict[str, dict[str, int]]) -> Record:
        seen = self.first_seen[token]
        supply = self.call(token, "totalSupply()", (), self.head)
        total = first_word(supply)
        if self.token_types[token] != "BEP20" and (supply is None or len(supply) < 32):
            total = sum(holders.get(token, {}).values())
        return {
            "address": token,
            "name": text_of(self.call(token, "name()", (), seen), 255),
            "symbol": self.symbol(token),
            "decimals": self.decimals(token),
            "type": self.token_types[token],
            "totalSupply": str(total),
            "holderCount": len(holders.get(token, {})),
            "firstSeen": self.timestamps[seen],
            "unproven": ["name", "symbol", "decimals", "type", "totalSupply"],
        }

    def token_details(self, transfers: list[Record]) -> dict[str, Record]:
        by_token: dict[str, list[Record]] = {token: [] for token in self.token_types}
        for transfer in transfers:
            by_token[transfer["tokenAddress"]].append(transfer)
        return {
            token: {
                "transferCount": len(found),
                "eventsConsistent": all(
                    balance >= 0 for holder, balance in balances_of(found).items() if holder != ZERO
                ),
                "itemCount": None
                if self.token_types[token] == "BEP20"
                else len({transfer["tokenId"] for transfer in found} - {None}),
            }
            for token, found in by_token.items()
        }

    # trades

    def dex_trades(self, transfers: list[Record]) -> list[Record]:
        """Each with whether the pool's transfers bear what its trades in the transaction say."""
        moved: Counter[tuple[str, str, str, str]] = Counter()
        for transfer in transfers:
            at, token, value = (transfer[k] for k in ("transactionHash", "tokenAddress", "value"))
            if transfer["fromAddress"] != transfer["toAddress"]:
                moved[at, token, "in", transfer["toAddress"]] += int(value)
                moved[at, token, "out", transfer["fromAddress"]] += int(value)
        trades = [record for log in self.logs if (record := self.trade_record(log))]
        said: Counter[tuple[str, str, str, str]] = Counter()
        for trade in trades:
            for key, amount in sides(trade):
                said[key] += amount
        for trade in trades:
            keys = [key for key, _ in sides(trade)]
            trade["backedByTransfers"] = all(k in moved and moved[k] >= said[k] for k in keys)
            if not trade["backedByTransfers"] and all(
                k in moved and moved[k] * 2 >= said[k] for k in keys
            ):
                trade["backedByTransfers"] = None
        return trades

    def trade_record(self, log: Log) -> Record | None:
        if (swap := read_swap(log)) is None:
            return None
        protocol, net0, net1 = swap
        token0, token1 = (self.address_answer(log, f"token{n}()") for n in (0, 1))
        if token0 is None or token1 is None:
            return None
        zero_in, amount_in, amount_out = direction(net0, net1)
        if log.address not in self.dexes:
            self.dexes[log.address] = self.dex_of(log, protocol, token0, token1)
        return {
            "transactionHash": log.transaction_hash,
            "blockNumber": log.block,
            "logIndex": log.number,
            "dex": self.dexes[log.address],
            "pairAddress": log.address,
            "maker": self.receipts[log.transaction_hash]["from"].lower(),
            "tokenIn": token0 if zero_in else token1,
            "tokenOut": token1 if zero_in else token0,
            "amountIn": str(amount_in),
            "amountOut": str(amount_out),
            "timestamp": self.timestamps[log.block],
            "tokenInSymbol": self.symbol(token0 if zero_in else token1),
            "tokenInDecimals": self.decimals(token0 if zero_in else token1),
            "tokenOutSymbol": self.symbol(token1 if zero_in else token0),
            "tokenOutDecimals": self.decimals(token1 if zero_in else token0),
            "unproven": [
                *("dex", "tokenIn", "tokenOut", "tokenInSymbol", "tokenInDecimals"),
                *("tokenOutSymbol", "tokenOutDecimals"),
            ],
        }

    def address_answer(self, log: Log, signature: str, *args: Any, to: str = "") -> str | None:
        answer = self.call(to or log.address, signature, args, log.block)
        if answer is None or len(answer) < 32 or any(answer[:12]):
            return None
        return "0x" + answer[12:32].hex()

    def dex_of(self, log: Log, protocol: str, token0: str, token1: str) -> str:
        factory = self.address_answer(log, "factory()") or ZERO
        if not self.confirmed(log, protocol, factory, token0, token1):
            return f"{protocol}-unconfirmed"
        return KNOWN_FACTORIES.get((protocol, factory), f"{protocol}-{factory}")

    def confirmed(self, log: Log, protocol: str, factory: str, token0: str, token1: str) -> bool:
        if protocol == "v2":
            signature, args = "getPair(address,address)", (token0, token1)
        else:
            fee = first_word(self.call(log.address, "fee()", (), log.block))
            signature, args = "getPool(address,address,uint24)", (token0, token1, fee % 2**24)
        return self.address_answer(log, signature, *args, to=factory) == log.address

    # addresses

    def addresses(self, transfers: list[Record], transactions: list[Record]) -> dict[str, Record]:
        seen: dict[str, list[int]] = defaultdict(list)
        for address, block in self.sightings(transfers):
            seen[address].append(block)
        counts = self.transaction_counts(transactions)
        facts = dict(zip(seen, self.facts(seen), strict=True))
        return {
            address: {
                "address": address,
                "balance": facts[address][0],
                "txCount": counts[address],
                "isContract": is_contract(facts[address][1]),
                "unproven": ["balance", "isContract"],
                **delegation(facts[address][1]),
                "label": None,
                "firstSeen": self.timestamps[min(blocks)],
                "lastSeen": self.timestamps[max(blocks)],
            }
            for address, blocks in seen.items()
        }

    def sightings(self, transfers: list[Record]) -> Iterator[tuple[str, int]]:
        for block in self.blocks:
            number = quantity(block["number"])
            yield block["miner"].lower(), number
            for transaction in block["transactions"]:
                yield transaction["from"].lower(), number
                if transaction["to"]:
                    yield transaction["to"].lower(), number
                for address in self.creations(transaction["hash"]):
                    yield address, number
            for withdrawal in block.get("withdrawals") or ():
                yield withdrawal["address"].lower(), number
        for transfer in self.internal_transfers():
            yield transfer["fromAddress"], transfer["blockNumber"]
            yield transfer["toAddress"], transfer["blockNumber"]
        for log in self.logs:
            yield log.address, log.block
        for transfer in transfers:
            yield transfer["fromAddress"], transfer["blockNumber"]
            yield transfer["toAddress"], transfer["blockNumber"]

    def creations(self, transaction_hash: str) -> list[str]:
        direct = self.created.get(transaction_hash)
        trace = self.traces.get(transaction_hash)
        return ([direct] if direct else []) + (created_in(trace) if trace else [])

    def transaction_counts(self, transactions: list[Record]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for t in transactions:
            parties = {t["fromAddress"], t["toAddress"], self.created.get(t["hash"])} - {None}
            counts.update(parties)
        return counts

    def facts(self, addresses: Iterable[str]) -> list[tuple[str, str]]:
        """(balance, code) of each at the head."""
        at = hex(self.head)
        asked = [(a, at) for a in addresses]
        balances = batched(self.node, [("eth_getBalance", pair) for pair in asked])
        codes = batched(self.node, [("eth_getCode", pair) for pair in asked])
        return [
            (str(quantity(balance)), code) for balance, code in zip(balances, codes, strict=True)
        ]

    def _call(self, to: str, signature: str, args: tuple[Any, ...], block: int) -> bytes | None:
        """The raw answer, or None where the call fails."""
        types = signature[signature.index("(") + 1 : -1]
        body = encode(types.split(","), args) if types else b""
        call = {"to": to, "data": "0x" + (keccak(text=signature)[:4] + body).hex()}
        try:
            return bytes.fromhex(self.node.call("eth_call", call, hex(block))[2:])
        except RpcError:
            return None


def read_blocks(node: Node, head: int) -> list[Record]:
    asked = [("eth_getBlockByNumber", (hex(n), True)) for n in range(head + 1)]
    return batched(node, asked)


def read_receipts(node: Node, blocks: list[Record]) -> dict[str, Record]:
    hashes = [t["hash"] for b in blocks for t in b["transactions"]]
    receipts = batched(node, [("eth_getTransactionReceipt", (h,)) for h in hashes])
    return dict(zip(hashes, receipts, strict=True))


def direct_creations(receipts: dict[str, Record]) -> dict[str, str]:
    return {h: r["contractAddress"].lower() for h, r in receipts.items() if creates(r)}


def creates(receipt: Record) -> bool:
    """A creation that failed created nothing, though its receipt may name an address."""
    return bool(receipt.get("contractAddress")) and succeeded(receipt)


def read_traces(node: Node, hashes: Iterable[str]) -> dict[str, Record]:
    """The outermost call frame of each transaction."""
    asked = [("debug_traceTransaction", (h, {"tracer": "callTracer"})) for h in hashes]
    return dict(zip(hashes, batched(node, asked), strict=True))


def read_logs(node: Node, head: int) -> list[Log]:
    logs = []
    for first in range(0, head + 1, BATCH):
        span = {"fromBlock": hex(first), "toBlock": hex(min(head, first + BATCH - 1))}
        logs += [read_log(found) for found in node.call("eth_getLogs", span)]
    return sorted(logs, key=lambda log: (log.block, log.number))


def read_log(found: Record) -> Log:
    return Log(
        address=found["address"].lower(),
        topics=[bytes.fromhex(topic[2:]) for topic in found["topics"]],
        data=bytes.fromhex(found["data"][2:]),
        block=quantity(found["blockNumber"]),
        number=quantity(found["logIndex"]),
        transaction_hash=found["transactionHash"],
    )


def batched(node: Node, asked: list[tuple[str, Any]]) -> list[Any]:
    answers: list[Any] = []
    for n in range(0, len(asked), BATCH):
        answers += node.batch(asked[n : n + BATCH])
    return answers


def block_record(block: Record, receipts: dict[str, Record]) -> Record:
    own = [receipts[t["hash"]] for t in block["transactions"]]
    gas = sum(quantity(receipt["gasUsed"]) for receipt in own)
    with_blobs = [r for r in own if r.get("blobGasUsed") and quantity(r["blobGasUsed"])]
    blobs = sum(quantity(r["blobGasUsed"]) * quantity(r["blobGasPrice"]) for r in with_blobs)
    base_fee = block.get("baseFeePerGas")
    return {
        "number": quantity(block["number"]),
        "hash": block["hash"],
        "timestamp": timestamp(block["timestamp"]),
        "miner": block["miner"].lower(),
        "txCount": len(block["transactions"]),
        "gasUsed": str(quantity(block["gasUsed"])),
        "gasLimit": str(quantity(block["gasLimit"])),
        "parentHash": block["parentHash"],
        "baseFeePerGas": text_or_none(block.get("baseFeePerGas")),
        "size": quantity(block["size"]) if has_blobs_inside(block) else size_of(block),
        # The base fee of the gas that was paid for, since Amsterdam not the header's, and blobs.
        "burntFees": None if base_fee is None else str(quantity(base_fee) * gas + blobs),
        "blobFees": str(blobs) if with_blobs else None,
        "blobGasUsed": text_or_none(block.get("blobGasUsed")),
        "excessBlobGas": text_or_none(block.get("excessBlobGas")),
        "blobBaseFee": text_or_none(with_blobs[0]["blobGasPrice"]) if with_blobs else None,
        "unproven": unproven_of_block(block),
    }


def transaction_record(transaction: Record, receipt: Record, at: str) -> Record:
    return {
        "hash": transaction["hash"],
        "blockNumber": quantity(transaction["blockNumber"]),
        "fromAddress": transaction["from"].lower(),
        "toAddress": transaction["to"].lower() if transaction["to"] else None,
        "value": str(quantity(transaction["value"])),
        "gasPrice": str(quantity(receipt["effectiveGasPrice"])),
        "gasUsed": str(quantity(receipt["gasUsed"])),
        "status": succeeded(receipt),
        "timestamp": at,
        "transactionIndex": quantity(receipt["transactionIndex"]),
        "contractAddress": receipt["contractAddress"].lower() if creates(receipt) else None,
        "blockHash": receipt["blockHash"],
        "nonce": quantity(transaction["nonce"]),
        "gasLimit": str(quantity(transaction["gas"])),
        "type": quantity(transaction["type"]),
        "maxFeePerGas": text_or_none(transaction.get("maxFeePerGas")),
        "maxPriorityFeePerGas": text_or_none(transaction.get("maxPriorityFeePerGas")),
        "maxFeePerBlobGas": text_or_none(transaction.get("maxFeePerBlobGas")),
        "blobVersionedHashes": transaction.get("blobVersionedHashes"),
        "cumulativeGasUsed": str(quantity(receipt["cumulativeGasUsed"])),
        "methodId": method_id(transaction),
        "fee": str(fee(transaction, receipt)),
        "unproven": [],
    }


OF_BODY = (
    *("hash", "fromAddress", "toAddress", "value", "gasPrice", "gasUsed", "status", "nonce"),
    *("transactionIndex", "contractAddress", "gasLimit", "type", "maxFeePerGas", "fee"),
    *("maxPriorityFeePerGas", "maxFeePerBlobGas", "blobVersionedHashes", "cumulativeGasUsed"),
    "methodId",
)


def has_blobs_inside(block: Record) -> bool:
    """Whether anvil keeps the blobs of a block in it, which has no root of its header then."""
    return any(t.get("blobs") for t in block["transactions"])


def unproven_of_block(block: Record) -> list[str]:
    inside = ["blobBaseFee", "blobFees", "burntFees", "size", "txCount"]
    return inside if has_blobs_inside(block) else []


def unproven_of_transactions(block: Record) -> list[str]:
    """Of those of a block: all that the root covers, or where anvil sent in another's name the
    sender, the hash and what was created."""
    if has_blobs_inside(block):
        return sorted(OF_BODY)
    is_signed = all(int(t["r"], 16) for t in block["transactions"])
    return [] if is_signed else ["contractAddress", "fromAddress", "hash"]


def fee(transaction: Record, receipt: Record) -> int:
    """Return what the sender paid for gas and, by EIP-4844, for blobs of 131,072 gas each."""
    blobs = len(transaction.get("blobVersionedHashes") or ())
    gas = quantity(receipt["effectiveGasPrice"]) * quantity(receipt["gasUsed"])
    return gas + blobs * 131_072 * quantity(receipt.get("blobGasPrice") or "0x0")


def text_or_none(amount: str | None) -> str | None:
    return None if amount is None else str(quantity(amount))


def method_id(transaction: Record) -> str | None:
    calls = transaction["to"] and len(transaction["input"]) >= 10
    return transaction["input"][:10] if calls else None


def succeeded(receipt: Record) -> bool:
    return receipt.get("status") != "0x0"


def read_move(log: Log) -> Move | None:
    """The transfer that a log is by its shape, if every address in it is one."""
    readers: dict[str, Callable[[Log], Move | None]] = {
        TRANSFER: read_transfer,
        SINGLE: read_single,
        BATCHED: read_batch,
        DEPOSIT: read_wrapping,
        WITHDRAWAL: read_wrapping,
    }
    reader = readers.get(log.event)
    return reader(log) if reader else None


def read_transfer(log: Log) -> Move | None:
    count, length, words = len(log.topics), len(log.data), log.words()
    if count == 3 and length >= 32:
        return move_of(log, "erc20", log.topics[1:3], [(words[0], words[0])])
    if count == 4 and length == 0:
        third = int.from_bytes(log.topics[3], "big")
        return move_of(log, "erc721", log.topics[1:3], [(third, third)])
    if count == 1 and length == 96:
        return move_of(log, "unindexed", [log.data[:32], log.data[32:64]], [(words[2], words[2])])
    return None


def read_single(log: Log) -> Move | None:
    if len(log.topics) != 4 or len(log.data) < 64:
        return None
    token_id, value = log.words()[:2]
    return move_of(log, "erc1155", log.topics[2:4], [(token_id, value)])


def read_batch(log: Log) -> Move | None:
    if len(log.topics) != 4:
        return None
    try:
        ids, values = decode(["uint256[]", "uint256[]"], log.data)
    except (DecodingError, OverflowError):
        return None
    if len(ids) != len(values):
        return None
    return move_of(log, "erc1155", log.topics[2:4], list(zip(ids, values, strict=True)))


def read_wrapping(log: Log) -> Move | None:
    if len(log.topics) != 2 or len(log.data) != 32:
        return None
    value, zero = log.words()[0], bytes(32)
    if log.event == DEPOSIT:
        return move_of(log, "deposit", [zero, log.topics[1]], [(value, value)])
    return move_of(log, "withdrawal", [log.topics[1], zero], [(value, value)])


def move_of(
    log: Log, shape: str, parties: list[bytes], parts: list[tuple[int, int]]
) -> Move | None:
    if any(any(party[:12]) for party in parties):
        return None
    sender, recipient = ("0x" + party[12:].hex() for party in parties)
    return Move(log, shape, sender, recipient, parts)


def identity(move: Move) -> tuple[Any, ...]:
    """What a wrapper's two announcements of one mint have in common."""
    return move.log.address, move.sender, move.recipient, tuple(move.parts)


def amount_of(token_type: str | None, shape: str, token_id: int, value: int) -> Record:
    """What the words of an event mean is the type's to say, whatever event it was."""
    if token_type == "BEP721" or (token_type == "BEP1155" and shape == "erc721"):
        return {"value": "1", "tokenId": str(token_id)}
    if token_type == "BEP1155" and shape == "erc1155":
        return {"value": str(value), "tokenId": str(token_id)}
    return {"value": str(value), "tokenId": None}


def holders_by_transfers(transfers: list[Record]) -> dict[str, dict[str, int]]:
    """Who holds how much of what by the events, the ids of a token summed; zero holds nothing."""
    by_token: dict[str, list[Record]] = defaultdict(list)
    for transfer in transfers:
        by_token[transfer["tokenAddress"]].append(transfer)
    return {
        token: {h: value for h, value in balances_of(found).items() if value > 0 and h != ZERO}
        for token, found in by_token.items()
    }


def balances_of(transfers: list[Record]) -> Counter[str]:
    """What one token's transfers leave to whom, also less than nothing."""
    balances: Counter[str] = Counter()
    for t in transfers:
        balances[t["fromAddress"]] -= int(t["value"])
        balances[t["toAddress"]] += int(t["value"])
    return balances


def read_swap(log: Log) -> tuple[str, int, int] | None:
    """The protocol, and what went into the pool of token0 and token1; what came out is below 0."""
    words = log.words()
    if len(log.topics) != 3:
        return None
    if log.event == SWAP_V2 and len(log.data) == 128:
        in0, in1, out0, out1 = words
        return "v2", in0 - out0, in1 - out1
    lengths = {SWAP_V3: 160, SWAP_PANCAKE: 224}
    if lengths.get(log.event) == len(log.data):
        return "v3", signed(words[0]), signed(words[1])
    return None


def direction(net0: int, net1: int) -> tuple[bool, int, int]:
    """(token0 goes in, amount in, amount out), amounts net and never below zero.

    Where both or neither went in, token0 is the one that did, if any of it did.
    """
    if net0 > 0 or (net0 == 0 and net1 <= 0):
        return True, max(net0, 0), max(-net1, 0)
    return False, max(net1, 0), max(-net0, 0)


def created_in(frame: Record) -> list[str]:
    """Contracts that a call frame and those below it created, undone ones left out."""
    if frame.get("error"):
        return []
    own = [frame["to"].lower()] if frame["type"] in ("CREATE", "CREATE2") else []
    return own + [address for call in frame.get("calls", []) for address in created_in(call)]


def moved_in(outermost: Record) -> list[tuple[int, Record]]:
    """The calls of a trace that move value or create, undone ones left out, as they were called,
    and the place of each among all calls."""
    return [
        (place, call)
        for place, (call, around) in enumerate(calls_in(outermost))
        if around is not None and moves(call, around)
    ]


def calls_in(
    frame: Record, around: Record | None = None, *, undone: bool = False
) -> Iterator[tuple[Record, Record | None]]:
    """The calls of a trace and those around them: None of the outermost and of undone ones."""
    undone = undone or bool(frame.get("error"))
    yield frame, None if undone else around
    for call in frame.get("calls", []):
        yield from calls_in(call, frame, undone=undone)


def moves(call: Record, around: Record) -> bool:
    if call["type"] == "SELFDESTRUCT":
        # Anvil reports the transfer before, where a contract destroys itself in its own favour.
        borrowed = around["type"] in ("DELEGATECALL", "CALLCODE")
        if call.get("from") != around["from" if borrowed else "to"]:
            return False
    elif call["type"] != "CALL":
        return call["type"] in ("CREATE", "CREATE2")
    return quantity(call.get("value", "0x0")) > 0


def is_contract(code: str) -> bool:
    """An account that delegates its code (EIP-7702) has some, and is no contract."""
    delegated = code.startswith(DELEGATION) and len(code) == 2 + 2 * 23
    return code != "0x" and not delegated


def delegation(code: str) -> Record:
    """Whose code runs in an account's name, where it delegates."""
    delegate = code.removeprefix(DELEGATION)
    return {"delegate": f"0x{delegate}"} if delegate != code else {}


def text_of(answer: bytes | None, most: int) -> str:
    """A name as shown: a string, or bytes32 of old, without what a page could not show."""
    if answer is None:
        return ""
    raw = answer.split(b"\0")[0] if len(answer) == 32 else raw_string(answer)
    text = raw.decode("utf-8", errors="replace")
    return "".join(c for c in text if unicodedata.category(c) != "Cc")[:most]


def raw_string(answer: bytes) -> bytes:
    try:
        (raw,) = decode(["bytes"], answer)
    except (DecodingError, OverflowError):
        return b""
    return bytes(raw)


def first_word(answer: bytes | None) -> int:
    """A number answered, or 0 where there was none."""
    return int.from_bytes(answer[:32], "big") if answer and len(answer) >= 32 else 0


def newest_first(records: list[Record]) -> list[Record]:
    return records[::-1]


def timestamp(value: str) -> str:
    moment = datetime.datetime.fromtimestamp(quantity(value), datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def quantity(value: str) -> int:
    return int(value, 16)


def signed(word: int) -> int:
    return word - 2**256 if word >= 2**255 else word


def sides(trade: Record) -> Iterator[tuple[tuple[str, str, str, str], int]]:
    """What a trade says went into its pool, and out of it."""
    at, pool = trade["transactionHash"], trade["pairAddress"]
    yield (at, trade["tokenIn"], "in", pool), int(trade["amountIn"])
    yield (at, trade["tokenOut"], "out", pool), int(trade["amountOut"])
