"""A synthetic chain: any height, always the same, as bytes a node would send.

Twelve blocks are written out once as templates; a height fills in its hashes and parties. 150
transactions a block: 45 % plain, 35 % ERC20, 10 % swaps with four logs, 10 % other.
"""

import math
import random
from typing import NamedTuple

import orjson

from scan.ethereum.events import SWAP_V2, TRANSFER
from scan.hex import to_hex

TRANSACTIONS = 150
KINDS = ("plain",) * 68 + ("erc20",) * 52 + ("swap",) * 15 + ("other",) * 14 + ("create",)
TEMPLATES = 12
PEOPLE, TOKENS, POOLS, CONTRACTS = 200_000, 5_000, 3_000, 2_000
FRESH_SHARE = 0.25  # of recipients of plain transfers: an address nobody saw before
HOT_SHARE = 0.05
DRAWN_AHEAD = 1 << 18
# Odd, so that multiplying by it modulo 2**64 gives every height a prefix of its own.
SCATTER = 0x9E3779B97F4A7C15
UNSCATTER = pow(SCATTER, -1, 1 << 64)
GENESIS_TIME_S = 1_600_000_000
BLOOM = "0x" + "00" * 20 + "20" * 216 + "00" * 20
SYNC = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
UNKNOWN_TOPICS = ["0x" + f"{n:02x}" * 32 for n in (0xA1, 0xB2, 0xC3)]
SIGNATURE = {"r": "0x" + "5a" * 32, "s": "0x" + "3c" * 32, "v": "0x1", "yParity": "0x1"}

Parties = dict[bytes, bytes]


class Template(NamedTuple):
    """A block and its receipts with %(name)s where a height's own values stand."""

    header: bytes
    transactions: list[bytes]
    receipts: list[bytes]
    people: list[bytes]  # names of the places that people take
    tokens: list[bytes]
    pools: list[bytes]


class Chain:
    """Serialised blocks and receipts by height."""

    def __init__(self) -> None:
        draw = random.Random(42)
        self._templates = [_Writer(random.Random(n)).template(n) for n in range(TEMPLATES)]
        self._blocks = [
            t.header.replace(b"TRANSACTIONS", b",".join(t.transactions)) for t in self._templates
        ]
        self._receipts = [b"[" + b",".join(t.receipts) + b"]" for t in self._templates]
        self._people = _sequence(draw, "01", PEOPLE)
        self._tokens = _sequence(draw, "02", TOKENS)
        self._pools = _sequence(draw, "03", POOLS)

    def block(self, number: int) -> bytes:
        """eth_getBlockByNumber with whole transactions."""
        return self._blocks[number % TEMPLATES] % self._values(number)

    def header(self, number: int) -> bytes:
        """eth_getBlockByNumber with hashes alone."""
        template = self._templates[number % TEMPLATES]
        hashes = b",".join(b'"0x%(scatter)s' + b"%048x" % n + b'"' for n in range(TRANSACTIONS))
        return template.header.replace(b"TRANSACTIONS", hashes) % self._values(number)

    def receipts(self, number: int) -> bytes:
        """eth_getBlockReceipts."""
        return self._receipts[number % TEMPLATES] % self._values(number)

    def receipt(self, transaction_hash: str) -> bytes:
        """eth_getTransactionReceipt."""
        number = int(transaction_hash[2:18], 16) * UNSCATTER % (1 << 64)
        index = int(transaction_hash[18:], 16)
        return self._templates[number % TEMPLATES].receipts[index] % self._values(number)

    def _values(self, number: int) -> Parties:
        template = self._templates[number % TEMPLATES]
        values = {
            b"number": b"0x%x" % number,
            b"timestamp": b"0x%x" % (GENESIS_TIME_S + 12 * number),
            b"scatter": _scattered(number),
            b"parent": _scattered(number - 1),
        }
        for names, drawn in (
            (template.people, self._people),
            (template.tokens, self._tokens),
            (template.pools, self._pools),
        ):
            at = number * 7919 * len(names) % (DRAWN_AHEAD - len(names))
            values.update(zip(names, drawn[at : at + len(names)], strict=True))
        return values


def _scattered(number: int) -> bytes:
    return b"%016x" % (number * SCATTER % (1 << 64))


def _sequence(draw: random.Random, kind: str, most: int) -> list[bytes]:
    """Addresses drawn ahead: one takes 5 %, the rest are Zipf's with exponent 1."""
    addresses = [_address(kind, n) for n in range(most)]
    return [
        addresses[0 if draw.random() < HOT_SHARE else int(math.exp(draw.random() * math.log(most)))]
        for _ in range(DRAWN_AHEAD)
    ]


def _address(kind: str, number: int) -> bytes:
    """40 hex digits that begin with the number scattered and end with the kind."""
    return b"%s%022x%s" % (_scattered(number + 1), number, kind.encode())


def is_contract(address: str) -> bool:
    """Whether code stands at an address: tokens, pools, other contracts, what was created."""
    return address[-2:] in ("02", "03", "04", "05")


class _Writer:
    """Writes one template; places for parties are numbered as they are needed."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._places: dict[str, list[bytes]] = {"person": [], "token": [], "pool": []}
        self._log_index = 0

    def template(self, seed: int) -> Template:
        kinds = list(KINDS)
        self._draw.shuffle(kinds)
        pairs = [self._transaction(index, kind) for index, kind in enumerate(kinds)]
        return Template(
            _header(seed),
            [transaction for transaction, _ in pairs],
            [receipt for _, receipt in pairs],
            self._places["person"],
            self._places["token"],
            self._places["pool"],
        )

    def _place(self, kind: str) -> str:
        """A party of the height's own, to be drawn from people, tokens or pools."""
        names = self._places[kind]
        name = f"{kind}{len(names)}"
        names.append(name.encode())
        return f"0x%({name})s"

    def _transaction(self, index: int, kind: str) -> tuple[bytes, bytes]:
        sender = self._place("person")
        to, logs = getattr(self, f"_{kind}")(index, sender)
        value = self._draw.randrange(10**19) if kind == "plain" else 0
        gas_used = 21_000 if kind == "plain" else self._draw.randrange(30_000, 300_000)
        price = hex(self._draw.randrange(10**9, 10**11))
        call_data = "0x" if kind == "plain" else "0x" + "a9059cbb" + "00" * 64
        common = {
            "blockHash": "0x%(scatter)s" + "b" * 48,
            "blockNumber": "%(number)s",
            "from": sender,
            "to": to,
            "transactionIndex": hex(index),
            "type": "0x2",
        }
        transaction_hash = f"0x%(scatter)s{index:048x}"
        transaction = common | {
            "hash": transaction_hash,
            "nonce": hex(index * 3),
            "value": hex(value),
            "gas": hex(gas_used + 20_000),
            "gasPrice": price,
            "maxFeePerGas": price,
            "maxPriorityFeePerGas": "0x3b9aca00",
            "input": call_data,
            "accessList": [],
            "chainId": "0x1",
            **SIGNATURE,
        }
        receipt = common | {
            "transactionHash": transaction_hash,
            "status": "0x0" if not logs and self._draw.random() < 0.05 else "0x1",
            "gasUsed": hex(gas_used),
            "cumulativeGasUsed": hex(100_000 * (index + 1)),
            "effectiveGasPrice": price,
            "contractAddress": f"0x%(scatter)s{index:022x}05" if kind == "create" else None,
            "logsBloom": BLOOM,
            "logs": [common | log | {"transactionHash": transaction_hash} for log in logs],
        }
        return orjson.dumps(transaction), orjson.dumps(receipt)

    def _plain(self, index: int, _sender: str) -> tuple[str, list[dict[str, object]]]:
        if self._draw.random() < FRESH_SHARE:
            return f"0x%(scatter)s{index:022x}06", []
        return self._place("person"), []

    def _erc20(self, _index: int, sender: str) -> tuple[str, list[dict[str, object]]]:
        token = self._place("token")
        return token, [self._transfer(token, sender, self._place("person"))]

    def _swap(self, _index: int, sender: str) -> tuple[str, list[dict[str, object]]]:
        pool, token0, token1 = self._place("pool"), self._place("token"), self._place("token")
        router = _written("04", 0)
        amounts = [self._draw.randrange(10**18), 0, 0, self._draw.randrange(10**18)]
        return router, [
            self._transfer(token0, sender, pool),
            self._transfer(token1, pool, sender),
            self._log(pool, [SYNC], amounts[:2]),
            self._log(pool, [to_hex(SWAP_V2), _word(router), _word(sender)], amounts),
        ]

    def _other(self, _index: int, _sender: str) -> tuple[str, list[dict[str, object]]]:
        contract = _written("04", 1 + self._draw.randrange(CONTRACTS))
        logs = [self._log(contract, [topic], [7, 8]) for topic in UNKNOWN_TOPICS]
        return contract, logs[: self._draw.randrange(4)]

    def _create(self, _index: int, _sender: str) -> tuple[None, list[dict[str, object]]]:
        return None, []

    def _transfer(self, token: str, sender: str, recipient: str) -> dict[str, object]:
        topics = [to_hex(TRANSFER), _word(sender), _word(recipient)]
        return self._log(token, topics, [self._draw.randrange(10**21)])

    def _log(self, address: str, topics: list[str], words: list[int]) -> dict[str, object]:
        self._log_index += 1
        return {
            "address": address,
            "topics": topics,
            "data": "0x" + "".join(f"{word:064x}" for word in words),
            "logIndex": hex(self._log_index - 1),
            "removed": False,
        }


def _header(seed: int) -> bytes:
    fields = {
        "number": "%(number)s",
        "hash": "0x%(scatter)s" + "b" * 48,
        "parentHash": "0x%(parent)s" + "b" * 48,
        "timestamp": "%(timestamp)s",
        "miner": _written("07", seed),
        "gasUsed": hex(15_000_000 + seed),
        "gasLimit": hex(30_000_000),
        "baseFeePerGas": "0x3b9aca00",
        "difficulty": "0x0",
        "totalDifficulty": "0x0",
        "extraData": "0x",
        "logsBloom": BLOOM,
        "mixHash": "0x" + "1d" * 32,
        "nonce": "0x0000000000000000",
        "receiptsRoot": "0x" + "2e" * 32,
        "sha3Uncles": "0x" + "3f" * 32,
        "size": "0x1a2b3",
        "stateRoot": "0x" + "4a" * 32,
        "transactionsRoot": "0x" + "5b" * 32,
        "uncles": [],
        "transactions": ["TRANSACTIONS"],
    }
    return orjson.dumps(fields).replace(b'["TRANSACTIONS"]', b"[TRANSACTIONS]")


def _written(kind: str, number: int) -> str:
    return "0x" + _address(kind, number).decode()


def _word(address: str) -> str:
    return "0x" + "00" * 12 + address[2:]
