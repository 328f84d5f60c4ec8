"""A chain that is made block by block: JSON as nodes return it, hashes, roots, and balances."""

from collections import Counter, namedtuple

import orjson
import rlp
from eth_utils import keccak

from tests.support.chain_forms.accounts import address, signed
from tests.support.chain_forms.encoding import (
    ENCODINGS,
    HEADER_FIELDS,
    bloom_of,
    encodable,
    list_root,
    union_of,
)

ETH = 10**18
GWEI = 10**9
ZERO = bytes(20)
EMPTY_UNCLES = keccak(rlp.encode([]))
CALL_TRACER = {"tracer": "callTracer"}
SIGNATURE = {"r": 0x1234 << 200, "s": 0x5678 << 180}


def word(name):
    return keccak(text=f"word {name}")


class Made(namedtuple("Made", "transaction receipt trace fee encoded")):
    """A transaction with its receipt and trace, in values of Python: int, bytes, lists. `fee`: by
    the chain's documentation; `encoded`: None: in no root."""


class MadeChain:
    """Balances change as transactions are made; mine() ends a block."""

    def __init__(
        self,
        chain_id,
        balances,
        *,
        base_fee=7 * GWEI,
        header_fields=HEADER_FIELDS,
        genesis=(),
        **fields,
    ):
        """`fields` are those of every header; None leaves out one that headers have by default."""
        self.chain_id = chain_id
        self.balances = Counter(balances)
        self.base_fee = base_fee
        self.fees = {}  # of each transaction, by its hash
        self.state_syncs = {}  # block numbers, where no root covers them
        self.unknown = set()  # accounts whose histories cannot add up
        self.encodings = dict(ENCODINGS)
        self.receipt_tails = {}
        self.header_fields = header_fields
        self._fields = fields
        self._nonces = Counter()
        self._pending = []
        self._blocks = []
        # What debug_getRaw… returns, by method and parameter, of a node that has it.
        self.bytes = {}
        self._last_pending = []
        self.mine(**dict(genesis))

    @property
    def head(self):
        return len(self._blocks) - 1

    @property
    def addresses(self):
        """All that the chain has seen, but for nobody."""
        return sorted(self._seen() - {ZERO})

    def balance(self, holder):
        return self._blocks[-1][3][holder]

    def move(self, sender, to, amount):
        """None mints or burns."""
        if sender is not None:
            assert self.balances[sender] >= amount >= 0
            self.balances[sender] -= amount
        if to is not None:
            self.balances[to] += amount

    def next_nonce(self, sender):
        self._nonces[sender] += 1
        return self._nonces[sender] - 1

    def pay(
        self,
        sender,
        to,
        value,
        *,
        gas_used=21_000,
        tip=GWEI,
        receive=None,
        more_fee=0,
        receipt=None,
        **fields,
    ):
        """A usual transaction of type 2, or of the type among its fields; `receive` says who gets
        base fees and tips, by default the miner the tips; `more_fee` is what the chain adds."""
        price = self.base_fee + tip
        base_fees, tips = self.base_fee * gas_used, tip * gas_used
        self.move(sender, None, base_fees + tips + more_fee)
        self.move(sender, to, value)
        if receive is not None:
            receive(base_fees, tips)
        else:
            self.move(None, self.miner, tips)
        priced = {"gasPrice": price, "v": 35 + 2 * self.chain_id}  # EIP-155
        if fields.get("type", 2) != 0:
            priced |= {"maxFeePerGas": 2 * price, "maxPriorityFeePerGas": tip, "accessList": []}
        return self.add(
            {"type": 2, "from": sender, "to": to, "value": value, "gas": gas_used, **priced}
            | {"nonce": self.next_nonce(sender), "yParity": 0, **SIGNATURE}
            | {"chainId": self.chain_id, **fields},
            {"gasUsed": gas_used, "effectiveGasPrice": price, **(receipt or {})},
            fee=base_fees + tips + more_fee,
        )

    @property
    def miner(self):
        return bytes(self._fields.get("miner", address("miner")))

    def add(
        self, transaction, receipt, *, fee, encoding=None, trace=None, hash_=None, is_traced=True
    ):
        """A transaction to the pending block; `encoding` are the values that consensus encodes,
        by default those of its type's fields. With a `hash_` it is in no root."""
        transaction = {"input": b"", "value": 0, "nonce": 0, **transaction}
        type_ = transaction["type"]
        encoded = None
        if hash_ is None:
            transaction = signed(transaction, self.encodings.get(type_, ()))
            values = encoding or [transaction[name] for name in self.encodings[type_]]
            encoded = (bytes([type_]) if type_ else b"") + rlp.encode([*map(encodable, values)])
            hash_ = keccak(encoded)
        frame = {
            "type": "CALL",
            "from": transaction["from"],
            "to": transaction["to"],
            **{name: transaction[name] for name in ("value", "gas", "input")},
            "gasUsed": receipt["gasUsed"],
            "output": b"",
            "calls": [],
            **(trace or {}),
        }
        made = Made(
            {**transaction, "hash": hash_},
            {"status": 1, "logs": [], "contractAddress": None, "type": type_, **receipt},
            frame if is_traced else None,
            fee,
            encoded,
        )
        self.fees[hash_] = fee
        self._pending.append(made)
        return made

    def mine(self, **fields):
        """End the block, with fields of its header beside the usual ones; return its JSON."""
        number = len(self._blocks)
        pending, self._pending = self._pending, []
        self._last_pending = pending
        receipts = [*_receipts(pending)]
        covered = [made for made in pending if made.encoded is not None]
        blooms = [receipt["logsBloom"] for receipt in receipts[: len(covered)]]
        leaves = [*map(self._encoded_receipt, receipts[: len(covered)])]
        header = {
            "number": number,
            "parentHash": self._parent(),
            "sha3Uncles": EMPTY_UNCLES,
            "miner": self.miner,
            "stateRoot": word(f"state {number}"),
            "difficulty": 0,
            "transactionsRoot": list_root([made.encoded or b"" for made in covered]),
            "receiptsRoot": list_root(leaves),
            "logsBloom": int.to_bytes(union_of(blooms), 256),
            "gasLimit": 30_000_000,
            "gasUsed": sum(r["gasUsed"] for r in receipts),
            "timestamp": 1_700_000_000 + 2 * number,
            "extraData": b"",
            "mixHash": bytes(32),
            "nonce": bytes(8),
            "baseFeePerGas": self.base_fee,
            **self._fields,
            **fields,
        }
        header = {name: value for name, value in header.items() if value is not None}
        encoded = [encodable(header[name]) for name in self.header_fields if name in header]
        hash_ = header["hash"] = header.get("hash", keccak(rlp.encode(encoded)))
        self.bytes["debug_getRawHeader", hex(number)] = rlp.encode(encoded)
        self.bytes["debug_getRawReceipts", hex(number)] = leaves
        for made in covered:
            self.bytes["debug_getRawTransaction", _json(made.transaction["hash"])] = made.encoded
        links = {"blockHash": hash_, "blockNumber": number}
        transactions = []
        for index, (made, receipt) in enumerate(zip(pending, receipts, strict=True)):
            own = {**links, "transactionIndex": index}
            transactions.append({**made.transaction, **own})
            receipt |= {**own, "transactionHash": made.transaction["hash"]}
            receipt |= {"from": made.transaction["from"], "to": made.transaction["to"]}
            for log in receipt["logs"]:
                log |= {**own, "transactionHash": made.transaction["hash"], "removed": False}
        block = {**header, "transactions": transactions, "uncles": [], "size": 1000}
        traces = [
            {"txHash": made.transaction["hash"], "result": made.trace}
            for made in pending
            if made.trace is not None
        ]
        self._blocks.append((block, receipts, traces, +self.balances))
        return block

    def mine_sealed(self, vanity, seal):
        """End the block with extraData that ends with a seal of the hash without it."""
        unsealed = self.mine(extraData=vanity)
        self._blocks.pop()
        self._pending = self._last_pending
        return self.mine(extraData=vanity + seal(unsealed["hash"]))

    def mine_with_state_sync(self, transaction, receipt):
        """End the block with a transaction whose hash is made of the block's, by Polygon."""
        number = len(self._blocks)
        made = self.add(transaction, receipt, fee=0, hash_=bytes(32), is_traced=False)
        self._pending.pop()
        block_hash = self.mine()["hash"]
        sync_hash = keccak(b"matic-bor-receipt-" + number.to_bytes(8) + block_hash)
        self.fees[sync_hash] = self.fees.pop(bytes(32))
        self.state_syncs[sync_hash] = number
        self._blocks.pop()
        self._pending = [
            *self._last_pending,
            made._replace(transaction={**made.transaction, "hash": sync_hash}),
        ]
        assert self.mine()["hash"] == block_hash

    def lines(self, *, apart=frozenset(), has_bytes=False):
        """The recording of a node with this chain, and the state of every block; receipts of the
        transactions `apart` are returned by their hash alone."""
        rows = [("eth_chainId", [], self.chain_id)]
        if has_bytes:
            rows += [(method, [parameter], raw) for (method, parameter), raw in self.bytes.items()]
        seen = sorted(self._seen())
        for block, receipts, traces, balances in self._blocks:
            number = hex(block["number"])
            rows += [
                ("eth_getBlockByNumber", [number, True], block),
                (
                    "eth_getBlockReceipts",
                    [number],
                    [r for r in receipts if r["transactionHash"] not in apart],
                ),
                *(
                    ("eth_getTransactionReceipt", [_json(r["transactionHash"])], r)
                    for r in receipts
                    if r["transactionHash"] in apart
                ),
                ("debug_traceBlockByHash", [_json(block["hash"]), CALL_TRACER], traces),
                *(("eth_getBalance", [_json(holder), number], balances[holder]) for holder in seen),
                *(("eth_getCode", [_json(holder), number], b"") for holder in seen),
            ]
        return [
            orjson.dumps({"method": method, "params": params, "result": _json(result)})
            for method, params, result in rows
        ]

    def _seen(self):
        seen = {ZERO, *self.balances}
        for block, receipts, *_ in self._blocks:
            seen |= {block["miner"]}
            seen |= {t[name] for t in block["transactions"] for name in ("from", "to")}
            seen |= {log["address"] for receipt in receipts for log in receipt["logs"]}
        return seen - {None}

    def _parent(self):
        return bytes(self._blocks[-1][0]["hash"]) if self._blocks else bytes(32)

    def _encoded_receipt(self, receipt):
        logs = [[log["address"], log["topics"], log["data"]] for log in receipt["logs"]]
        tails = self.receipt_tails.get(receipt["type"], ())
        tail = [receipt[name] for name in tails if name in receipt]
        values = [receipt["status"], receipt["cumulativeGasUsed"], receipt["logsBloom"], logs]
        prefix = bytes([receipt["type"]]) if receipt["type"] else b""
        return prefix + rlp.encode([*map(encodable, (*values, *tail))])


def log(emitter, *topics, data=b""):
    return {"address": emitter, "topics": list(topics), "data": data}


def _receipts(pending):
    gas, log_index = 0, 0
    for made in pending:
        gas += made.receipt["gasUsed"]
        logs = []
        for entry in made.receipt["logs"]:
            logs.append({**entry, "logIndex": log_index})
            log_index += 1
        bloom = bloom_of([b for e in logs for b in (e["address"], *e["topics"])])
        yield {
            **made.receipt,
            "logs": logs,
            "cumulativeGasUsed": gas,
            "logsBloom": int.to_bytes(bloom, 256),
        }


def _json(value):
    if isinstance(value, dict):
        return {name: _json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [*map(_json, value)]
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, int) and not isinstance(value, bool):
        return hex(value)
    return value
