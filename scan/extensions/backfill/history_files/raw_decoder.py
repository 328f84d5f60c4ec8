"""A proven block of a file, decoded from its bytes to what the indexer decodes from a node's JSON.

What a node adds to the bytes follows from them: hashes, senders, prices, gas of each transaction,
addresses of contracts. The block's own fields, its fees and credits are made as a node's are.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from scan.ethereum import block_decoder, block_encoding, blocks, column_types, rlp_and_tries
from scan.ethereum.encoded_parts import AUTHORIZATION, RawReceipt, named, read_transaction
from scan.ethereum.fork_schedule import blob_price
from scan.ethereum.forms.form import BLOB_GAS, Form
from scan.ethereum.forms.matching import FORM_OF_CHAIN, match
from scan.ethereum.token_metadata import MAX_MEMO_BYTES, text_inputs
from scan.ethereum.transaction_checks import signer
from scan.extensions.backfill.history_files import e2store, raw_block
from scan.hex import to_hex

_METHOD_BYTES, _HASH_BYTES = 4, 32
_WITHDRAWAL = ("index", "validatorIndex", "address", "amount")
_BLOBS = 3  # the type of transactions with blobs


class DecodedParts(NamedTuple):
    """A block, but for its uncles and rewards, and its header and uncles as structs."""

    block: blocks.DecodedBlock
    header: Any
    uncles: Sequence[Any]


class _Prices(NamedTuple):
    """The prices of a block, in wei; 0 before London, None without blobs."""

    base_fee: int
    blob: int | None


def decode(raw: raw_block.RawBlock, chain_id: int) -> DecodedParts:
    """Decode a proven block. Raises BadFile."""
    number = int.from_bytes(raw.header["number"])
    try:
        header = _header(blocks.BlockJson, raw.header, transactions=[])
        header.hash, header.size, header.source = to_hex(raw.hash), hex(raw.size), {}
        header.uncles = [to_hex(rlp_and_tries.keccak256(uncle)) for uncle in raw.uncles]
        if raw.withdrawals is not None:
            header.withdrawals = [named(_WITHDRAWAL, entry) for entry in raw.withdrawals]
        uncles = [_header(blocks.UncleJson, raw_block.read_header(uncle)) for uncle in raw.uncles]
        return DecodedParts(_block(raw, header, number, chain_id), header, uncles)
    except blocks.MalformedBlock as error:
        raise e2store.BadFile(str(error)) from None
    except (ValueError, IndexError, TypeError, KeyError, OverflowError) as error:
        raise e2store.BadFile(f"block {number} cannot be decoded: {error}"[:200]) from None


def _block(raw: raw_block.RawBlock, header: Any, number: int, chain_id: int) -> blocks.DecodedBlock:
    form = _form(header, chain_id)
    prices = _prices(header, raw.transactions, chain_id)
    transactions: list[blocks.DecodedTransaction] = []
    logs: list[blocks.EventLog] = []
    authorizations: list[blocks.AuthorizationList] = []
    texts: list[str] = []  # of inputs, as hex
    totals = [0, *(int.from_bytes(receipt.cumulative_gas_used) for receipt in raw.receipts)]
    for index, (encoded, receipt, (before, after)) in enumerate(
        zip(raw.transactions, raw.receipts, pairwise(totals), strict=True)
    ):
        type_, fields = read_transaction(encoded)
        if receipt.type != type_:
            raise ValueError("a receipt is not of its transaction")
        transactions.append(_transaction(encoded, index, fields, receipt, after - before, prices))
        texts.append(to_hex(fields["input"][:MAX_MEMO_BYTES]))
        logs += [
            blocks.EventLog(index, log_index, *log)
            for log_index, log in enumerate(receipt.logs, len(logs))
        ]
        if "authorizationList" in fields:
            entries = [named(AUTHORIZATION, entry) for entry in fields["authorizationList"]]
            authorizations.append((index, entries, fields["chainId"].lstrip(b"\0")))
    return block_decoder.assembled(
        header,
        form,
        transactions,
        logs,
        number,
        chain_fields=form and form.chain_fields_of_block(header, {}, {}),
        has_statuses=not any(len(receipt.outcome) == _HASH_BYTES for receipt in raw.receipts),
        authorization_lists=tuple(authorizations),
        text_inputs=text_inputs([t.to_address for t in transactions], texts),
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


def _header(type_: Any, fields: Mapping[str, bytes], **others: Any) -> Any:
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
    receipt: RawReceipt,
    gas_used: int,
    prices: _Prices,
) -> blocks.DecodedTransaction:
    if gas_used < 0:
        raise ValueError("cumulative gas falls")
    from_address = signer(encoded, *map(int.from_bytes, [*fields.values()][-3:]))
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
        index,
        rlp_and_tries.keccak256(encoded),
        from_address,
        to_address,
        _created(from_address, nonce) if creates else None,
        int.from_bytes(fields["value"]),
        price,
        gas_used,
        status,
        fee,
        encoded[:1] if encoded[0] < rlp_and_tries.LISTS else b"",
        nonce,
        _unsigned(fields, "gas"),
        _unsigned(fields, "maxFeePerGas"),
        _unsigned(fields, "maxPriorityFeePerGas"),
        _unsigned(fields, "maxFeePerBlobGas"),
        receipt.cumulative_gas_used.lstrip(b"\0"),
        fields["input"][:_METHOD_BYTES] or None,
        blobs,
        blob_gas_price,
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
    nonce_item = bytes.fromhex(rlp_and_tries.quantity_item(_quantity(nonce)))
    return rlp_and_tries.keccak256(
        rlp_and_tries.join_list(
            [rlp_and_tries.string_prefix_bytes(len(creator)), creator, nonce_item]
        )
    )[12:]


def _quantity(value: bytes) -> str:
    return hex(int.from_bytes(value))
