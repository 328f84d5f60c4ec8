"""Blocks, receipts and traces drawn in the proportions of Ethereum, as templates of a chain.

What is drawn, and where the figures are from:

- Sizes: JSON of 1,451 transactions of Ethereum, measured for this project: 2.05 kB a transaction of
  blocks, 2.14 to 2.47 of receipts, 2.7 of callTracer, 2.7 (recently 6.4) of trace_block; 0.98 token
  transfers and 2.19 logs a transaction.
- Plain transfers 29 %, calls of tokens 25 %: members.delphidigital.io, "What Is The Composition Of
  Transactions On Ethereum?".
- Failed transactions 3.1 %: Flipside Crypto, "Let's Learn From Failures!", of 1.7 G transactions.
- Access lists 1.46 %: Heimbach and others, "Dissecting the EIP-2930 Optional Access Lists".
- Type 3: 300,000 in 7,000 epochs, 0.8 %: ethresear.ch/t/22667. 72 % of them carry one blob:
  "Blob Adoption and Utilization - Insights from the first 85 days".
- Calls: 8.2 a transaction in recent blocks (ethresear.ch/t/24209), 3.4 in all of the chain by the
  sizes of traces: the latter here. Trees are as deep as those of routers and proxies.
- Addresses: 87.8 M of 856 M transactions, 0.10 new ones each, drawn by preferential attachment with
  an exponent near 1: De Collibus and others, Frontiers in Physics 9 (2021), 720708.
- Tokens: USDC has 18 % of all transfers, USDT more: aubury.org, "The ERC-20 leaderboard has a
  Unicode lookalike problem".

Assumed, for want of a source: 20 % of type 0, 0.7 % of type 4, 0.7 % creations, and how long the
inputs of each kind of call are, of which their mean follows from the sizes.
"""

import random
from typing import Any, NamedTuple

from bench.call_frames import call_frame
from bench.marks import BLOCK_HASH, FIRST_TRANSACTION, Json, address_mark, hash_mark
from bench.options import BLOCK_TRANSACTIONS, MOST_BLOCK_TRANSACTIONS
from bench.signers import PARITY
from scan.ethereum.events import SWAP_V2, SWAP_V3, TRANSFER
from scan.hex import to_hex

TRANSACTIONS = BLOCK_TRANSACTIONS
# Of MOST_BLOCK_TRANSACTIONS, of which smaller blocks have some, in the same proportions.
KINDS = {"plain": 44, "token": 38, "approval": 8, "swap": 30, "call": 29, "creation": 1}
FRESH = {"plain": 9, "token": 7}  # transactions to an address that nobody saw before
FAILED = {"token": 1, "swap": 2, "call": 2}
TYPES = (0,) * 30 + (1,) + (2,) * 117 + (3,) + (4,)
WITHDRAWALS = 16
BASE_FEE = 10**9
BLOOM_BITS = 3 * 5  # an address and four topics
APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"
SYNC = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
DEPOSIT = "0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c"
WITHDRAWAL = "0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65"

# Parties of which each height has its own; POOL_TOKENS are those of the pool named beside it.
PERSON, FRESH_PERSON, TOKEN, POOL, CONTRACT, CREATED, DEPLOYED, TOKEN0, TOKEN1, WRAPPED = range(10)
SIGNER = 10
NONCES = 0x100000  # of three bytes, so that each height can have its own in its place


class Party(NamedTuple):
    kind: int
    of: int = 0  # the party whose token it is, or who created it
    transaction: int = 0  # that created it


class Shape(NamedTuple):
    """A block with numbered places for its parties and hashes; `%(number)s` for its number."""

    transactions: list[Json]
    receipts: list[Json]
    frames: list[Json]  # as callTracer has them
    withdrawals: list[Json]
    header: Json
    parties: list[Party]


def draw_shape(seed: int) -> Shape:
    return _Writer(random.Random(seed)).shape()


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._parties: list[Party] = []
        self._log_index = 0
        self._gas = 0

    def shape(self) -> Shape:
        draw = self._draw
        kinds = [(kind, n) for kind, count in KINDS.items() for n in range(count)]
        draw.shuffle(kinds)
        types = list(TYPES)
        draw.shuffle(types)
        drawn = [*zip(kinds, types, strict=True)][:TRANSACTIONS]
        written = [
            self._transaction(index, *kind, 2 if kind[0] == "creation" and type_ > 2 else type_)
            for index, (kind, type_) in enumerate(drawn)
        ]
        transactions, receipts, frames = map(list, zip(*written, strict=True))
        blobs = sum(len(t.get("blobVersionedHashes", ())) for t in transactions)
        withdrawals = [
            {
                "index": "%(withdrawal)s",
                "validatorIndex": hex(draw.randrange(1 << 20)),
                "address": "0x" + draw.randbytes(20).hex(),
                "amount": hex(draw.randrange(1 << 24, 1 << 25)),
            }
            for _ in range(WITHDRAWALS)
        ]
        return Shape(
            transactions, receipts, frames, withdrawals, self._header(blobs), self._parties
        )

    def _header(self, blobs: int) -> Json:
        draw = self._draw
        return {
            "miner": "0x" + draw.randbytes(20).hex(),
            "gasUsed": hex(self._gas),
            "gasLimit": hex(36_000_000),
            "baseFeePerGas": hex(BASE_FEE),
            "blobGasUsed": hex(blobs * 131_072),
            "excessBlobGas": hex(131_072),
            "difficulty": "0x0",
            "extraData": "0x" + draw.randbytes(20).hex(),
            "logsBloom": self._bloom(400),
            "mixHash": self._random_hash(),
            "nonce": "0x0000000000000000",
            "parentBeaconBlockRoot": self._random_hash(),
            "requestsHash": self._random_hash(),
            "sha3Uncles": "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
            "size": "0x1a2b3",
            "stateRoot": self._random_hash(),
            "uncles": [],
        }

    def _transaction(self, index: int, kind: str, kind_index: int, type_: int) -> tuple[Json, ...]:
        draw = self._draw
        sender = self._party(SIGNER)
        failed = kind_index >= KINDS[kind] - FAILED.get(kind, 0)
        to, value, input_, logs, frame = getattr(self, f"_{kind}")(
            sender, kind_index < FRESH.get(kind, 0), index
        )
        gas_used = 21_000 if kind == "plain" else draw.randrange(40_000, 300_000)
        self._gas += gas_used
        created = frame["to"] if to is None else None
        common = {"blockHash": hash_mark(BLOCK_HASH), "blockNumber": "%(number)s"}
        common |= {"from": sender, "to": to, "transactionIndex": hex(index), "type": hex(type_)}
        sent = common | {
            "hash": hash_mark(FIRST_TRANSACTION + index),
            "nonce": hex(NONCES + index),
            "value": hex(value),
            "gas": hex(gas_used * 5 // 4),
            "input": input_,
            "chainId": "0x1",
            "r": hash_mark(FIRST_TRANSACTION + TRANSACTIONS + index),
            "s": hash_mark(FIRST_TRANSACTION + 2 * TRANSACTIONS + index),
            **self._fees(type_),
        }
        if failed:
            frame |= {"error": "execution reverted", "output": "0x" + self._words(3)}
            frame.pop("calls", None)
            logs = []
        price = int(sent["gasPrice"], 16)
        received = common | {
            "transactionHash": sent["hash"],
            "status": hex(not failed),
            "gasUsed": hex(gas_used),
            "cumulativeGasUsed": hex(self._gas),
            "effectiveGasPrice": hex(price),
            "contractAddress": created,
            "logsBloom": self._bloom(BLOOM_BITS * len(logs)),
            "logs": [self._placed(log, common, sent["hash"]) for log in logs],
        }
        if type_ == 3:
            blobs = len(sent["blobVersionedHashes"])
            received |= {"blobGasUsed": hex(131_072 * blobs), "blobGasPrice": "0x1"}
        frame |= {"gas": sent["gas"], "gasUsed": hex(gas_used)}
        return sent, received, frame

    def _placed(self, log: Json, common: Json, transaction_hash: str) -> Json:
        self._log_index += 1
        position = {key: common[key] for key in ("blockHash", "blockNumber", "transactionIndex")}
        index = hex(self._log_index - 1)
        return {**log, **position, "transactionHash": transaction_hash, "logIndex": index}

    def _fees(self, type_: int) -> Json:
        draw = self._draw
        tip = draw.randrange(10**6, 10**9)
        parity = hex(PARITY)
        if type_ == 0:
            return {"gasPrice": hex(BASE_FEE + tip), "v": hex(37 + PARITY)}
        keys = [{"address": "0x" + draw.randbytes(20).hex(), "storageKeys": []} for _ in range(3)]
        for entry in keys:
            entry["storageKeys"] = [self._random_hash() for _ in range(draw.randrange(1, 4))]
        has_keys = type_ == 1 or draw.random() < 0.0146 - 1 / MOST_BLOCK_TRANSACTIONS
        fees: Json = {"accessList": keys if has_keys else [], "v": parity, "yParity": parity}
        fees |= {"gasPrice": hex(BASE_FEE + tip)}
        if type_ > 1:
            fees |= {"maxFeePerGas": hex(3 * BASE_FEE), "maxPriorityFeePerGas": hex(tip)}
        if type_ == 3:
            blobs = 1 if draw.random() < 0.72 else draw.randrange(2, 7)
            hashes = ["0x01" + self._random_hash()[4:] for _ in range(blobs)]
            fees |= {"maxFeePerBlobGas": "0x3b9aca00", "blobVersionedHashes": hashes}
        if type_ == 4:
            signature = {
                "yParity": parity,
                "r": self._random_hash("8"),
                "s": self._random_hash("4"),
            }
            authorization = {"chainId": "0x1", "address": "0x" + draw.randbytes(20).hex()}
            fees["authorizationList"] = [{**authorization, "nonce": "0x1", **signature}]
        return fees

    # Kinds of transactions: recipient, value, input, logs, outermost call.

    def _plain(self, sender: str, is_fresh: bool, _index: int) -> tuple[Any, ...]:
        to = self._party(FRESH_PERSON if is_fresh else PERSON)
        value = self._draw.randrange(1 << 56, 1 << 62)
        return to, value, "0x", [], call_frame("CALL", sender, to, value)

    def _token(self, sender: str, is_fresh: bool, _index: int) -> tuple[Any, ...]:
        token, to = self._party(TOKEN), self._party(FRESH_PERSON if is_fresh else PERSON)
        amount = self._draw.randrange(1 << 60)
        input_ = f"0xa9059cbb{_word(to)}{amount:064x}"
        logs = [self._transfer(token, sender, to, amount)]
        return token, 0, input_, logs, self._token_call(sender, token, input_)

    def _token_call(self, caller: str, token: str, input_: str) -> Json:
        """A third of tokens delegate to their implementation, as USDC does."""
        frame = call_frame("CALL", caller, token, 0, input_, f"0x{1:064x}")
        if self._draw.random() < 0.33:
            code = self._party(CONTRACT)
            inner = self._spend(
                call_frame("DELEGATECALL", token, code, None, input_, f"0x{1:064x}")
            )
            frame["calls"] = [inner]
        return self._spend(frame)

    def _approval(self, sender: str, _is_fresh: bool, _index: int) -> tuple[Any, ...]:
        token, spender = self._party(TOKEN), self._party(CONTRACT)
        input_ = f"0x095ea7b3{_word(spender)}{'f' * 64}"
        log = _log(token, [APPROVAL, _topic(sender), _topic(spender)], "f" * 64)
        return token, 0, input_, [log], self._token_call(sender, token, input_)

    def _swap(self, sender: str, _is_fresh: bool, _index: int) -> tuple[Any, ...]:
        draw = self._draw
        router, wrapped = self._party(CONTRACT), self._party(WRAPPED)
        hops = draw.choices((1, 2, 3), (6, 3, 1))[0]
        value = draw.randrange(1 << 58) if draw.random() < 0.35 else 0
        pays_out = not value and draw.random() < 0.5
        logs: list[Json] = []
        calls: list[Json] = []
        if value:
            logs.append(_log(wrapped, [DEPOSIT, _topic(router)], f"{value:064x}"))
            calls.append(self._spend(call_frame("CALL", router, wrapped, value, "0xd0e30db0")))
        for _ in range(hops):
            hop_logs, hop_calls = self._hop(router, sender)
            logs += hop_logs
            calls.append(hop_calls)
        if pays_out:
            amount = draw.randrange(1 << 58)
            logs.append(_log(wrapped, [WITHDRAWAL, _topic(router)], f"{amount:064x}"))
            unwrap = call_frame("CALL", router, wrapped, 0, f"0x2e1a7d4d{amount:064x}")
            unwrap["calls"] = [self._spend(call_frame("CALL", wrapped, router, amount))]
            calls += [self._spend(unwrap), self._spend(call_frame("CALL", router, sender, amount))]
        input_ = "0x3593564c" + self._words(draw.randrange(12, 60))
        frame = call_frame("CALL", sender, router, value, input_)
        return router, value, input_, logs, frame | {"calls": calls}

    def _hop(self, router: str, sender: str) -> tuple[list[Json], Json]:
        draw, pool = self._draw, self._party(POOL)
        at = len(self._parties) - 1
        tokens = [self._party(TOKEN0, at), self._party(TOKEN1, at)]
        draw.shuffle(tokens)
        paid, received = draw.randrange(1 << 60), draw.randrange(1 << 60)
        logs = [
            self._transfer(tokens[0], sender, pool, paid),
            self._transfer(tokens[1], pool, sender, received),
        ]
        topics = [_topic(router), _topic(sender)]
        if draw.random() < 0.5:
            logs.append(_log(pool, [SYNC], self._words(2)))
            amounts = f"{paid:064x}{0:064x}{0:064x}{received:064x}"
            logs.append(_log(pool, [to_hex(SWAP_V2), *topics], amounts))
        else:
            amounts = f"{paid:064x}{(1 << 256) - received:064x}{self._words(3)}"
            logs.append(_log(pool, [to_hex(SWAP_V3), *topics], amounts))
        swap = call_frame("CALL", router, pool, 0, "0x022c0d9f" + self._words(4))
        send = self._token_call(pool, tokens[1], f"0xa9059cbb{_word(sender)}{received:064x}")
        ask = call_frame("STATICCALL", pool, tokens[0], None, f"0x70a08231{_word(pool)}")
        ask["output"] = "0x" + self._words(1)
        return logs, self._spend(swap | {"calls": [send, self._spend(ask)]})

    def _call(self, sender: str, _is_fresh: bool, index: int) -> tuple[Any, ...]:
        draw, to = self._draw, self._party(CONTRACT)
        value = draw.randrange(1 << 60) if draw.random() < 0.2 else 0
        # Few are long: batches, bridges, rollups.
        input_ = "0x" + draw.randbytes(4).hex() + self._words(int(3 + draw.expovariate(1 / 58)))
        logs = []
        for _ in range(min(int(draw.expovariate(1 / 4.7)), 24)):
            if draw.random() < 0.25:
                parties = self._party(PERSON), self._party(PERSON)
                logs.append(self._transfer(self._party(TOKEN), *parties, draw.randrange(1 << 60)))
            else:
                topics = [self._random_hash() for _ in range(draw.randrange(1, 4))]
                logs.append(_log(self._party(CONTRACT), topics, self._words(draw.randrange(1, 6))))
        frame = call_frame("CALL", sender, to, value, input_)
        self._grow(frame, min(int(draw.expovariate(1 / 7)), 60))
        if index % 29 == 0:
            made = self._party(DEPLOYED)
            code = "0x6080" + self._words(20)
            inner = self._spend(call_frame("CREATE2", to, made, 0, code, code))
            frame.setdefault("calls", []).append(inner)
        return to, value, input_, logs, frame

    def _grow(self, outermost: Json, count: int) -> None:
        """Hang so many calls below the outermost one: most below the last, as proxies do."""
        draw, open_calls = self._draw, [outermost]
        for _ in range(count):
            outer = open_calls[-1] if draw.random() < 0.6 else draw.choice(open_calls)
            kind = draw.choices(("STATICCALL", "CALL", "DELEGATECALL"), (45, 30, 25))[0]
            value = draw.randrange(1 << 58) if kind == "CALL" and draw.random() < 0.2 else 0
            party = self._party(PERSON if value else CONTRACT)
            frame = call_frame(
                kind, outer["to"], party, value if kind == "CALL" else None,
                "0x" + draw.randbytes(4).hex() + self._words(draw.randrange(0, 6)),
                "0x" + self._words(draw.randrange(0, 3)),
            )  # fmt: skip
            if draw.random() < 0.02:
                frame["error"] = "execution reverted"
            outer.setdefault("calls", []).append(self._spend(frame))
            if not value and len(open_calls) < 9:
                open_calls.append(frame)

    def _creation(self, sender: str, _is_fresh: bool, index: int) -> tuple[Any, ...]:
        self._parties.append(Party(CREATED, len(self._parties) - 1, index))
        created = address_mark(len(self._parties) - 1)
        code = "0x608060405234" + self._words(200)
        return None, 0, code, [], call_frame("CREATE", sender, created, 0, code, code)

    def _spend(self, frame: Json) -> Json:
        gas = self._draw.randrange(1_000, 200_000)
        frame |= {"gas": hex(gas * 2), "gasUsed": hex(gas)}
        return frame

    def _transfer(self, token: str, sender: str, recipient: str, amount: int) -> Json:
        return _log(token, [to_hex(TRANSFER), _topic(sender), _topic(recipient)], f"{amount:064x}")

    def _party(self, kind: int, of: int = 0) -> str:
        self._parties.append(Party(kind, of))
        return address_mark(len(self._parties) - 1)

    def _words(self, count: int) -> str:
        """ABI words as contracts take them: numbers, addresses, hashes."""
        sizes = self._draw.choices((1, 2, 8, 20, 32), (4, 4, 4, 3, 2), k=count)
        return "".join(self._draw.randbytes(size).hex().rjust(64, "0") for size in sizes)

    def _random_hash(self, first: str = "a") -> str:
        return f"0x{first}{self._draw.randbytes(32).hex()[1:]}"

    def _bloom(self, bits: int) -> str:
        value = 0
        for _ in range(bits):
            value |= 1 << self._draw.randrange(2048)
        return f"0x{value:0512x}"


def _word(address: str) -> str:
    return "00" * 12 + address[2:]


def _topic(address: str) -> str:
    return "0x" + _word(address)


def _log(address: str, topics: list[str], data: str) -> Json:
    return {"address": address, "topics": topics, "data": "0x" + data, "removed": False}
