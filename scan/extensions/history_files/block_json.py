"""A proven block of a file as the structs of a node's JSON, from which the indexer decodes it.

So rows from files and rows from a node are made by one decoder. What a node adds to the bytes
follows from them: hashes, senders, prices, gas of each transaction, addresses of contracts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from scan.ethereum.block_decoder import decode_block
from scan.ethereum.block_encoding import HEADER_QUANTITIES, TRANSACTION_FIELDS
from scan.ethereum.blocks import (
    BlockJson,
    DecodedBlock,
    LogJson,
    MalformedBlock,
    ReceiptJson,
    TransactionJson,
    UncleJson,
)
from scan.ethereum.keccak import keccak256
from scan.ethereum.rlp import LISTS, join_list, quantity_item, string_prefix_bytes
from scan.extensions.history_files.blob_prices import blob_price
from scan.extensions.history_files.e2store import BadFile
from scan.extensions.history_files.raw_block import RawBlock, RawReceipt, read_header
from scan.extensions.history_files.rlp_reader import list_content, read_list
from scan.extensions.history_files.senders import sender
from scan.hex import to_hex

_METHOD_BYTES = 4
_HASH_BYTES = 32
_WITHDRAWAL = ("index", "validatorIndex", "address", "amount")
_AUTHORIZATION = ("chainId", "address", "nonce", "yParity", "r", "s")
# Fields of transactions that are no QUANTITY.
_OTHERS = {"to", "input", "accessList", "blobVersionedHashes", "authorizationList"}


class DecodedParts(NamedTuple):
    """A block, but for its uncles and rewards, and its header and uncles as structs."""

    block: DecodedBlock
    header: Any
    uncles: Sequence[Any]


class _Prices(NamedTuple):
    """The prices of a block, in wei; None before the forks that brought them."""

    base_fee: int
    blob: str | None  # QUANTITY


def decode(raw: RawBlock, chain_id: int) -> DecodedParts:
    """Decode a proven block. Raises BadFile."""
    number = int.from_bytes(raw.header["number"])
    try:
        header = _header(BlockJson, raw.header, transactions=[])
        prices = _prices(header, chain_id)
        _complete(header, raw, prices)
        receipts = [*_receipts(header, raw.receipts, prices)]
        uncles = [_header(UncleJson, read_header(uncle)) for uncle in raw.uncles]
        return DecodedParts(decode_block(header, receipts, number), header, uncles)
    except MalformedBlock as error:
        raise BadFile(str(error)) from None
    except (ValueError, IndexError, TypeError, KeyError, OverflowError) as error:
        raise BadFile(f"block {number} cannot be decoded: {error}"[:200]) from None


def _header(type_: Any, fields: Mapping[str, bytes], **others: Any) -> Any:
    texts = {
        name: _quantity(value) if name in HEADER_QUANTITIES else to_hex(value)
        for name, value in fields.items()
    }
    return type_(**texts, **others)


def _complete(header: Any, raw: RawBlock, prices: _Prices) -> None:
    """Give a block's struct what follows from its bytes."""
    header.hash, header.size, header.source = to_hex(raw.hash), hex(raw.size), {}
    header.uncles = [to_hex(keccak256(uncle)) for uncle in raw.uncles]
    if raw.withdrawals is not None:
        header.withdrawals = [_named(_WITHDRAWAL, entry) for entry in raw.withdrawals]
    header.transactions = [
        _transaction(encoded, index, header.hash, prices)
        for index, encoded in enumerate(raw.transactions)
    ]


def _prices(header: Any, chain_id: int) -> _Prices:
    price = None
    if header.excessBlobGas is not None:
        is_prague = header.requestsHash is not None
        excess, time_s = int(header.excessBlobGas, 16), int(header.timestamp, 16)
        price = hex(blob_price(chain_id, time_s, excess, is_prague=is_prague))
    return _Prices(int(header.baseFeePerGas or "0x0", 16), price)


def _transaction(encoded: bytes, index: int, block_hash: str, prices: _Prices) -> Any:
    type_ = 0 if encoded[0] >= LISTS else encoded[0]
    if type_ not in _LAYOUTS:
        raise ValueError(f"this version of Scan does not know transactions of type {type_}")
    layout = _LAYOUTS[type_]
    start, end = list_content(encoded, 1 if type_ else 0)
    items = read_list(encoded, start, end)
    if len(items) != layout.field_count:
        raise ValueError(f"a transaction of type {type_} has {len(items)} fields")
    texts: dict[str, Any] = {
        name: hex(int.from_bytes(items[place])) for name, place in layout.quantities
    }
    if "gasPrice" not in texts:
        most, tip = texts["maxFeePerGas"], texts["maxPriorityFeePerGas"]
        texts["gasPrice"] = hex(min(int(most, 16), prices.base_fee + int(tip, 16)))
    for name, place, read in layout.lists:
        texts[name] = [*map(read, items[place])]
    texts["from"] = to_hex(sender(encoded, start, items))
    recipient = items[layout.to]
    return TransactionJson(
        **texts,
        type=hex(type_),
        hash=to_hex(keccak256(encoded)),
        to=to_hex(recipient) if recipient else None,
        input=to_hex(items[layout.input][:_METHOD_BYTES]),
        blockHash=block_hash,
        transactionIndex=hex(index),
    )


class _Layout(NamedTuple):
    """The places of the fields of a type of transaction."""

    field_count: int
    to: int
    input: int
    quantities: Sequence[tuple[str, int]]
    lists: Sequence[tuple[str, int, Callable[[Any], Any]]]  # with what reads an entry

    @staticmethod
    def of(names: Sequence[str]) -> "_Layout":
        places = {name: place for place, name in enumerate(names)}
        return _Layout(
            len(names),
            places["to"],
            places["input"],
            [(name, place) for name, place in places.items() if name not in _OTHERS],
            [(name, places[name], read) for name, read in _ENTRIES.items() if name in places],
        )


def _receipts(block: Any, receipts: Sequence[RawReceipt], prices: _Prices) -> Iterator[Any]:
    gas = [0, *(int.from_bytes(receipt.cumulative_gas_used) for receipt in receipts)]
    log_index = 0
    for transaction, receipt, (before, after) in zip(
        block.transactions, receipts, pairwise(gas), strict=True
    ):
        if transaction.type != hex(receipt.type) or after < before:
            raise ValueError("a receipt is not of its transaction")
        yield _receipt(transaction, receipt, after - before, log_index, prices)
        log_index += len(receipt.logs)


def _receipt(
    transaction: Any, receipt: RawReceipt, gas_used: int, log_index: int, prices: _Prices
) -> Any:
    has_root = len(receipt.outcome) == _HASH_BYTES  # before Byzantium
    logs = [
        LogJson(
            topics=[*map(to_hex, topics)],
            logIndex=hex(index),
            address=to_hex(address),
            data=to_hex(data),
        )
        for index, (address, topics, data) in enumerate(receipt.logs, start=log_index)
    ]
    return ReceiptJson(
        logs=logs,
        root=to_hex(receipt.outcome) if has_root else None,
        status=None if has_root else _quantity(receipt.outcome),
        type=transaction.type,
        transactionHash=transaction.hash,
        blockHash=transaction.blockHash,
        transactionIndex=transaction.transactionIndex,
        gasUsed=hex(gas_used),
        cumulativeGasUsed=_quantity(receipt.cumulative_gas_used),
        effectiveGasPrice=transaction.gasPrice,
        blobGasPrice=prices.blob,
        contractAddress=_created(transaction) if transaction.to is None else None,
        **{"from": getattr(transaction, "from")},
    )


def _created(transaction: Any) -> str:
    """Return the address of a new contract (Yellow Paper, section 7)."""
    creator = bytes.fromhex(getattr(transaction, "from")[2:])
    nonce = bytes.fromhex(quantity_item(transaction.nonce))
    return to_hex(keccak256(join_list([string_prefix_bytes(len(creator)), creator, nonce]))[12:])


def _named(names: Sequence[str], values: Sequence[bytes]) -> dict[str, str]:
    """Return an entry of a list as an object; all fields but `address` are QUANTITYs."""
    return {
        name: to_hex(value) if name == "address" else _quantity(value)
        for name, value in zip(names, values, strict=True)
    }


def _quantity(value: bytes) -> str:
    return hex(int.from_bytes(value))


_ENTRIES: Mapping[str, Callable[[Any], Any]] = {
    "blobVersionedHashes": to_hex,
    "authorizationList": partial(_named, _AUTHORIZATION),
}
_LAYOUTS = {type_: _Layout.of(names) for type_, names in TRANSACTION_FIELDS.items()}
