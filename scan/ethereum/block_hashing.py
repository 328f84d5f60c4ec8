"""Headers, transactions and receipts of a node's JSON, encoded as consensus hashes them. Pure.

EIP-2718 types 0 to 4: legacy, EIP-2930, EIP-1559, EIP-4844, EIP-7702.
"""

from typing import Any

from eth_hash.auto import keccak

from scan.ethereum.merkle_trie import Item, integer, list_root, rlp
from scan.hex import data, quantity

_HEADER = (
    *("parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot"),
    *("logsBloom", "difficulty", "number", "gasLimit", "gasUsed", "timestamp", "extraData"),
    *("mixHash", "nonce"),
)
_LATER_HEADER = (
    *("baseFeePerGas", "withdrawalsRoot", "blobGasUsed", "excessBlobGas"),
    *("parentBeaconBlockRoot", "requestsHash"),
)
HEADER_FIELDS = (*_HEADER, *_LATER_HEADER)
_NUMBERS = frozenset(
    (
        *("difficulty", "number", "gasLimit", "gasUsed", "timestamp", "baseFeePerGas"),
        *("blobGasUsed", "excessBlobGas", "gasPrice", "maxPriorityFeePerGas", "maxFeePerGas"),
        *("gas", "value", "maxFeePerBlobGas", "chainId", "r", "s"),
    )
)
_FEES = {
    0: ("gasPrice",),
    1: ("gasPrice",),
    2: ("maxPriorityFeePerGas", "maxFeePerGas"),
    3: ("maxPriorityFeePerGas", "maxFeePerGas"),
    4: ("maxPriorityFeePerGas", "maxFeePerGas"),
}


class Unencodable(Exception):
    """A part of a block in a chain-specific form, whose hash cannot be computed."""


def has_matching_body(header: dict[str, Any], receipts: list[dict[str, Any]]) -> bool:
    """Return whether transactions, receipts and withdrawals agree with the header and with each
    other.

    True where types are chain-specific. Raises Unencodable, or what a missing or malformed field
    raises.
    """
    for transaction, receipt in zip(header["transactions"], receipts, strict=True):
        if transaction.get("type", "0x0") != receipt.get("type", "0x0"):
            return False
        if quantity(transaction.get("type", "0x0")) not in _FEES:
            return True
    encoded = [_transaction(t) for t in header["transactions"]]
    withdrawals = header.get("withdrawalsRoot")
    return (
        list_root(encoded) == data(header["transactionsRoot"])
        and receipts_root(receipts) == data(header["receiptsRoot"])
        and (withdrawals is None or withdrawals_root(header["withdrawals"]) == data(withdrawals))
        and _has_implied_fields(header, encoded, receipts)
    )


def _has_implied_fields(
    header: dict[str, Any], encoded: list[bytes], receipts: list[dict[str, Any]]
) -> bool:
    """Return whether fields that no root covers are as others determine."""
    base_fee = quantity(header.get("baseFeePerGas") or "0x0")
    gas_before = logs_before = 0
    for transaction, raw, receipt in zip(header["transactions"], encoded, receipts, strict=True):
        gas = quantity(receipt["cumulativeGasUsed"])
        indexes = [quantity(log["logIndex"]) for log in receipt["logs"]]
        if not (
            data(transaction["hash"]) == keccak(raw)
            and data(transaction["from"]) == data(receipt["from"])
            and _creates(transaction, receipt)
            and quantity(receipt["gasUsed"]) == gas - gas_before
            and _paid(receipt, transaction) == _gas_price(transaction, base_fee)
            and indexes == list(range(logs_before, logs_before + len(indexes)))
        ):
            return False
        gas_before = gas
        logs_before += len(indexes)
    return True


def _paid(receipt: dict[str, Any], transaction: dict[str, Any]) -> int:
    return quantity(receipt.get("effectiveGasPrice") or transaction["gasPrice"])


def _gas_price(transaction: dict[str, Any], base_fee: int) -> int:
    """Return the price of gas by EIP-1559."""
    if "maxFeePerGas" not in transaction:
        return quantity(transaction["gasPrice"])
    tip = quantity(transaction["maxPriorityFeePerGas"])
    return min(quantity(transaction["maxFeePerGas"]), base_fee + tip)


def _creates(transaction: dict[str, Any], receipt: dict[str, Any]) -> bool:
    """Return whether the new contract has the address that follows from its creator and nonce.

    Yellow Paper, section 7.
    """
    if transaction.get("to") is not None or quantity(receipt.get("status", "0x1")) == 0:
        return True
    creation: Item = [data(transaction["from"], 20), integer(quantity(transaction["nonce"]))]
    return data(receipt["contractAddress"]) == keccak(rlp(creation))[12:]


def header_hash(header: dict[str, Any]) -> bytes:
    later = [name for name in _LATER_HEADER if header.get(name) is not None]
    return keccak(rlp([_field(header, name) for name in (*_HEADER, *later)]))


def transactions_root(transactions: list[dict[str, Any]]) -> bytes:
    """Return the root of transactions; raises Unencodable for an unknown type."""
    return list_root([_transaction(t) for t in transactions])


def receipts_root(receipts: list[dict[str, Any]]) -> bytes:
    return list_root([_receipt(r) for r in receipts])


def withdrawals_root(withdrawals: list[dict[str, Any]]) -> bytes:
    """Return the root of withdrawals by EIP-4895."""
    return list_root([rlp(_withdrawal(withdrawal)) for withdrawal in withdrawals])


def _withdrawal(fields: dict[str, Any]) -> Item:
    index = integer(quantity(fields["index"]))
    validator = integer(quantity(fields["validatorIndex"]))
    return [index, validator, data(fields["address"], 20), integer(quantity(fields["amount"]))]


def _field(source: dict[str, Any], name: str) -> bytes:
    if source.get(name) is None:
        raise Unencodable(f"there is no {name}")
    return integer(quantity(source[name])) if name in _NUMBERS else data(source[name])


def _transaction(t: dict[str, Any]) -> bytes:
    kind = quantity(t.get("type", "0x0"))
    if kind not in _FEES:
        raise Unencodable(f"transactions of type {kind}")
    if t.get("blobs"):
        raise Unencodable("blobs inside the block, as test nodes keep them")
    to = b"" if t.get("to") is None else data(t["to"], 20)
    nonce = integer(quantity(t["nonce"]))
    fees = [_field(t, name) for name in _FEES[kind]]
    body: list[Item] = [nonce, *fees, _field(t, "gas"), to, _field(t, "value"), data(t["input"])]
    signature = [_field(t, "r"), _field(t, "s")]
    if kind == 0:
        return rlp([*body, integer(quantity(t["v"])), *signature])
    access_list: Item = [
        [data(entry["address"], 20), [data(key, 32) for key in entry["storageKeys"]]]
        for entry in t.get("accessList") or []
    ]
    body = [_field(t, "chainId"), *body, access_list]
    if kind == 3:
        hashes = [data(h, 32) for h in t["blobVersionedHashes"]]
        body += [_field(t, "maxFeePerBlobGas"), hashes]
    if kind == 4:
        body.append([_authorization(a) for a in t["authorizationList"]])
    parity = t.get("yParity", t.get("v"))  # some nodes return only v
    return bytes([kind]) + rlp([*body, integer(quantity(parity)), *signature])


def _authorization(entry: dict[str, Any]) -> Item:
    numbers = [integer(quantity(entry[name])) for name in ("nonce", "yParity", "r", "s")]
    return [_field(entry, "chainId"), data(entry["address"], 20), *numbers]


def _receipt(receipt: dict[str, Any]) -> bytes:
    kind = quantity(receipt.get("type", "0x0"))
    if kind not in _FEES:
        raise Unencodable(f"receipts of type {kind}")
    if receipt.get("status") is not None:
        outcome = integer(quantity(receipt["status"]))
    elif receipt.get("root"):
        outcome = data(receipt["root"], 32)
    else:
        raise Unencodable("receipts without status and root")
    logs: list[Item] = [
        [data(log["address"], 20), [data(topic, 32) for topic in log["topics"]], data(log["data"])]
        for log in receipt["logs"]
    ]
    gas = integer(quantity(receipt["cumulativeGasUsed"]))
    encoded = rlp([outcome, gas, data(receipt["logsBloom"], 256), logs])
    return encoded if kind == 0 else bytes([kind]) + encoded
