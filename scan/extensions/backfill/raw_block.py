"""A block of a history file as bytes: its parts and their items (RLP, Yellow Paper, appendix B),
the proof that it is whole, by what its header's roots say of them, the same parts made of a node's
JSON, and the block that the indexer decodes from this JSON, decoded from the bytes: hashes,
senders, prices, gas of each transaction and addresses of contracts follow from them. Pure.

All lengths are hostile until the items end where their list does, and raise ValueError. That the
header itself is of the chain is proven by the hash of the block after it, and at last by one that
the node has.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from scan.ethereum import block_decoder, block_encoding, blocks, column_types, encoded_parts
from scan.ethereum.fork_schedule import blob_price
from scan.ethereum.forms.form import BLOB_GAS, Form
from scan.ethereum.forms.matching import FORM_OF_CHAIN, match
from scan.ethereum.rlp_and_tries import (
    LISTS,
    Item,
    items_of,
    join_list,
    keccak256,
    list_content,
    list_prefix_bytes,
    list_root,
    quantity_item,
    read_list,
    string_prefix_bytes,
    whole_list,
)
from scan.ethereum.stored_blocks import slim_receipt, transaction_item
from scan.ethereum.transaction_checks import signer, with_signers
from scan.extensions.backfill.e2store import BadFile, Parts
from scan.hex import to_hex

_LEAST_ITEMS = 15  # of a header
_METHOD_BYTES, _HASH_BYTES = 4, 32
_WITHDRAWAL = ("index", "validatorIndex", "address", "amount")
_BLOBS = 3  # the type of transactions with blobs


class RawBlock(NamedTuple):
    """A block whose transactions, receipts, uncles and withdrawals agree with its header."""

    hash: bytes
    header: dict[str, bytes]
    transactions: Sequence[bytes]  # as consensus encodes them (EIP-2718)
    receipts: Sequence[encoded_parts.RawReceipt]
    uncles: Sequence[bytes]  # headers
    withdrawals: Sequence[list[bytes]] | None
    size: int  # of the whole block in bytes


def read_block(parts: Parts, number: int) -> RawBlock:
    """Return a block of a file. Raises BadFile where it is not the block `number`, or where its
    parts do not agree with its header."""
    try:
        return _read(parts, number)
    except (ValueError, IndexError, TypeError) as error:
        raise BadFile(f"block {number} is malformed: {error}"[:200]) from None


def _read(parts: Parts, number: int) -> RawBlock:
    header = _header(parts.header)
    _require(int.from_bytes(header["number"]) == number, number, "has another number")
    body = parts.body
    start, end = list_content(body)
    lists = items_of(body, start, end)
    if len(lists) == 3 and body[lists[2][0]] < LISTS:  # an empty string, for no list at all
        del lists[2]
    transactions = [_typed(body, *item) for item in items_of(body, *lists[0][1:])]
    _require_root(transactions, header["transactionsRoot"], number, "transactions")
    receipts = read_receipts(parts)
    leaves = [receipt.encoded for receipt in receipts]
    _require_root(leaves, header["receiptsRoot"], number, "receipts")
    _require(len(receipts) == len(transactions), number, "has another number of receipts")
    uncles_start, uncles_first, uncles_end = lists[1]
    has_uncles = keccak256(body[uncles_start:uncles_end]) == header["sha3Uncles"]
    _require(has_uncles, number, "has other uncles than its header says")
    uncles = [body[at:stop] for at, _, stop in items_of(body, uncles_first, uncles_end)]
    withdrawals = _withdrawals(body, lists[2:], header.get("withdrawalsRoot"), number)
    content = len(parts.header) + end - start
    size = len(list_prefix_bytes(content)) + content
    block_hash = keccak256(parts.header)
    return RawBlock(block_hash, header, transactions, receipts, uncles, withdrawals, size)


def _header(encoded: bytes) -> dict[str, bytes]:
    """Return the fields of a header by name. Fields after those that are known are left out: the
    block's hash, which is one of the bytes, covers them, too."""
    items = whole_list(encoded)
    if len(items) < _LEAST_ITEMS or not all(isinstance(item, bytes) for item in items):
        raise ValueError("its header has another form")
    return dict(zip(block_encoding.ETHEREUM_HEADER, items, strict=False))


def _typed(data: bytes, start: int, content: int, end: int) -> bytes:
    """Return a transaction or receipt of a list: a legacy one is a list, or, as some writers have
    it, the string of one; another one is a string."""
    return data[start:end] if data[start] >= LISTS else data[content:end]


def read_receipts(parts: Parts) -> list[encoded_parts.RawReceipt]:
    """Return a block's receipts, encoded as consensus does, with their blooms."""
    data = parts.receipts
    items = items_of(data, *list_content(data))
    if parts.are_slim:
        return [_slim_receipt(data, *item[1:]) for item in items]
    return [_full_receipt(_typed(data, *item)) for item in items]


def _full_receipt(encoded: bytes) -> encoded_parts.RawReceipt:
    type_ = 0 if encoded[0] >= LISTS else encoded[0]
    items = items_of(encoded, *list_content(encoded, 1 if type_ else 0))
    outcome, gas, bloom, logs = items
    if bloom[2] - bloom[1] != encoded_parts.BLOOM_BYTES:
        raise ValueError("a receipt has another form")
    return encoded_parts.raw_receipt(type_, encoded, outcome, gas, logs)._replace(encoded=encoded)


def _slim_receipt(data: bytes, start: int, end: int) -> encoded_parts.RawReceipt:
    """Return a receipt of an ere file, encoded with the bloom that follows from its logs."""
    type_item, outcome, gas, logs = items_of(data, start, end)
    type_ = int.from_bytes(data[type_item[1] : type_item[2]])
    receipt = encoded_parts.raw_receipt(type_, data, outcome, gas, logs)
    bloom = encoded_parts.BLOOM_PREFIX + encoded_parts.logs_bloom(receipt.logs)
    encoded = join_list((data[outcome[0] : gas[2]], bloom, data[logs[0] : end]))
    return receipt._replace(encoded=type_.to_bytes(1) + encoded if type_ else encoded)


def _withdrawals(
    body: bytes, lists: Sequence[Item], root: bytes | None, number: int
) -> list[list[bytes]] | None:
    _require(len(lists) == (root is not None), number, "has another form of body than its header")
    if root is None:
        return None
    items = items_of(body, *lists[0][1:])
    _require_root([body[at:end] for at, _, end in items], root, number, "withdrawals")
    return [read_list(body, start, end) for _, start, end in items]


def _require_root(items: Sequence[bytes], root: bytes, number: int, name: str) -> None:
    _require(list_root(items) == root, number, f"has other {name} than its header says")


def _require(holds: bool, number: int, reason: str) -> None:
    if not holds:
        raise BadFile(f"block {number} {reason}")


def parts_of(header: Any, receipts: Sequence[Any], uncles: Sequence[Any]) -> Parts:
    """Return the parts of a block, given as structs; its receipts are slim.

    Raises Unencodable, ValueError or TypeError for what cannot be encoded. That the parts agree
    with the header's roots is not checked here.
    """
    sent = map(transaction_item, block_encoding.encode_transactions(header.transactions))
    lists = [join_list([*sent]), join_list([*map(block_encoding.encode_header, uncles)])]
    if header.withdrawalsRoot is not None:
        lists.append(join_list(block_encoding.encode_withdrawals(header.withdrawals or ())))
    slim = join_list([*map(slim_receipt, block_encoding.encode_receipts(receipts))])
    return Parts(block_encoding.encode_header(header), join_list(lists), slim, are_slim=True)


class DecodedParts(NamedTuple):
    """A block, but for its uncles and rewards, and its header and uncles as structs."""

    block: blocks.DecodedBlock
    header: Any
    uncles: Sequence[Any]


class _Prices(NamedTuple):
    """The prices of a block, in wei; 0 before London, None without blobs."""

    base_fee: int
    blob: int | None


def decode(raw: RawBlock, chain_id: int) -> DecodedParts:
    """Decode a proven block. Raises BadFile."""
    number = int.from_bytes(raw.header["number"])
    try:
        header = _header_json(blocks.BlockJson.plain, raw.header, transactions=[])
        header.hash, header.size, header.source = to_hex(raw.hash), hex(raw.size), {}
        header.uncles = [to_hex(keccak256(uncle)) for uncle in raw.uncles]
        if raw.withdrawals is not None:
            header.withdrawals = [
                encoded_parts.entry_object(_WITHDRAWAL, entry) for entry in raw.withdrawals
            ]
        uncles = [_header_json(blocks.UncleJson.plain, _header(uncle)) for uncle in raw.uncles]
        return DecodedParts(_block(raw, header, number, chain_id), header, uncles)
    except blocks.MalformedBlock as error:
        raise BadFile(str(error)) from None
    except (ValueError, IndexError, TypeError, KeyError, OverflowError) as error:
        raise BadFile(f"block {number} cannot be decoded: {error}"[:200]) from None


def _block(raw: RawBlock, header: Any, number: int, chain_id: int) -> blocks.DecodedBlock:
    form = _form(header, chain_id)
    prices = _prices(header, raw.transactions, chain_id)
    transactions: list[blocks.DecodedTransaction] = []
    logs: list[blocks.EventLog] = []
    authorizations: list[blocks.AuthorizationList] = []
    totals = [0, *(int.from_bytes(receipt.cumulative_gas_used) for receipt in raw.receipts)]
    for index, (encoded, receipt, (before, after)) in enumerate(
        zip(raw.transactions, raw.receipts, pairwise(totals), strict=True)
    ):
        type_, fields = encoded_parts.read_transaction(encoded)
        if receipt.type != type_:
            raise ValueError("a receipt is not of its transaction")
        transactions.append(_transaction(encoded, index, fields, receipt, after - before, prices))
        logs += [
            blocks.EventLog(index, log_index, *log)
            for log_index, log in enumerate(receipt.logs, len(logs))
        ]
        if "authorizationList" in fields:
            entries = [
                encoded_parts.entry_object(block_encoding.AUTHORIZATION, entry)
                for entry in fields["authorizationList"]
            ]
            authorizations.append((index, with_signers(entries), fields["chainId"].lstrip(b"\0")))
    return block_decoder.assembled(
        header,
        form,
        transactions,
        logs,
        number,
        chain_fields=form and form.chain_fields_of_block(header, {}, {}),
        has_statuses=not any(len(receipt.outcome) == _HASH_BYTES for receipt in raw.receipts),
        authorization_lists=tuple(authorizations),
    )


def _form(header: Any, chain_id: int) -> Form | None:
    """Return the form of the block's chain; None where it is Ethereum's. Raises ValueError for one
    whose transactions have more than their bytes."""
    if chain_id in FORM_OF_CHAIN:
        form = FORM_OF_CHAIN[chain_id]
    else:
        form = match(header, {}, {}, chain_id).form
    if form and (form.transaction_fields or form.receipt_fields or form.encodings or form.is_free):
        raise ValueError(f"files of {form.name} are not read")
    return form


def _header_json(type_: Any, fields: Mapping[str, bytes], **others: Any) -> Any:
    texts = {
        name: _quantity(value) if name in block_encoding.HEADER_QUANTITIES else to_hex(value)
        for name, value in fields.items()
    }
    return type_(**texts, **others)


def _prices(header: Any, transactions: Sequence[bytes], chain_id: int) -> _Prices:
    base_fee, price = int(header.baseFeePerGas or "0x0", 16), None
    if header.excessBlobGas is not None and any(encoded[0] == _BLOBS for encoded in transactions):
        excess, time_s = int(header.excessBlobGas, 16), int(header.timestamp, 16)
        price = blob_price(chain_id, time_s, excess)
    return _Prices(base_fee, price)


def _transaction(
    encoded: bytes,
    index: int,
    fields: dict[str, Any],
    receipt: encoded_parts.RawReceipt,
    gas_used: int,
    prices: _Prices,
) -> blocks.DecodedTransaction:
    if gas_used < 0:
        raise ValueError("cumulative gas falls")
    v, r, s = [*fields.values()][-3:]
    from_address = signer(encoded, int.from_bytes(v), r, s)
    if from_address is None:
        raise ValueError("a transaction's signature is invalid")
    to_address = fields["to"] or None
    nonce = _unsigned(fields, "nonce")
    status = _status(receipt.outcome, prices)
    price = int.from_bytes(fields.get("gasPrice") or fields.get("maxFeePerGas", b""))
    if "maxPriorityFeePerGas" in fields:
        price = min(price, prices.base_fee + int.from_bytes(fields["maxPriorityFeePerGas"]))
    blobs = tuple(fields["blobVersionedHashes"]) if "blobVersionedHashes" in fields else None
    fee, blob_gas_price = price * gas_used, None
    if blobs is not None and prices.blob is not None:
        if {*map(len, blobs)} - {_HASH_BYTES}:
            raise ValueError("a hash of a blob has another size")
        fee += BLOB_GAS * len(blobs) * prices.blob
        blob_gas_price = column_types.as_unsigned(prices.blob)
    creates = to_address is None and status
    return blocks.DecodedTransaction(
        transaction_index=index,
        hash=keccak256(encoded),
        from_address=from_address,
        to_address=to_address,
        contract_address=_created(from_address, nonce) if creates else None,
        value=int.from_bytes(fields["value"]),
        gas_price=price,
        gas_used=gas_used,
        status=status,
        fee=fee,
        type=encoded[:1] if encoded[0] < LISTS else b"",
        nonce=nonce,
        gas_limit=_unsigned(fields, "gas"),
        max_fee_per_gas=_unsigned(fields, "maxFeePerGas"),
        max_priority_fee_per_gas=_unsigned(fields, "maxPriorityFeePerGas"),
        max_fee_per_blob_gas=_unsigned(fields, "maxFeePerBlobGas"),
        cumulative_gas_used=receipt.cumulative_gas_used.lstrip(b"\0"),
        method=fields["input"][:_METHOD_BYTES] or None,
        blob_versioned_hashes=blobs,
        blob_gas_price=blob_gas_price,
    )


def _unsigned(fields: dict[str, Any], name: str) -> Any:
    """Return a number as a column of the type UNSIGNED has it; None where there is none."""
    return fields[name].lstrip(b"\0") if name in fields else None


def _status(outcome: bytes, prices: _Prices) -> bool:
    """Return whether a transaction succeeded; True where a root of the state stands in place of the
    status (before Byzantium), which does not tell."""
    if len(outcome) != _HASH_BYTES:
        return int.from_bytes(outcome) != 0
    if prices.base_fee:
        raise ValueError("a receipt has no status")
    return True


def _created(creator: bytes, nonce: bytes) -> bytes:
    """Return the address of a new contract (Yellow Paper, section 7)."""
    nonce_item = bytes.fromhex(quantity_item(_quantity(nonce)))
    return keccak256(join_list([string_prefix_bytes(len(creator)), creator, nonce_item]))[12:]


def _quantity(value: bytes) -> str:
    return hex(int.from_bytes(value))
