"""Blocks with their receipts decoded from a node's JSON, checked field by field. Pure."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise, starmap
from operator import mul
from typing import Any

from msgspec.structs import astuple

from scan.ethereum import blocks, column_types
from scan.ethereum.forms import form as forms
from scan.ethereum.forms import matching
from scan.ethereum.transaction_checks import with_signers
from scan.hex import BadHex, data, quantity

FIRST_CANCUN_S = 1_705_473_120  # of Goerli, the first public chain with Cancun


def decode_block(
    block: Any, receipts: Any, number: int, chain_id: int | None = None
) -> blocks.DecodedBlock:
    """Decode block `number` of a chain from eth_getBlockByNumber (with transactions) and its
    receipts.

    Both are of any form that read_json() takes. Receipts may be an iterator: then the logs of each
    are decoded, and its JSON is released, before the next one is taken.
    Raises MalformedBlock when a field is missing or wrong, or the receipts are not this block's.
    """
    block = blocks.read_json(block, blocks.BlockJson, number)
    logs: list[blocks.EventLog] = []
    try:
        if isinstance(receipts, Iterator):
            read = []
            for index, result in enumerate(receipts):
                receipt = blocks.read_json(result, blocks.ReceiptJson, number)
                logs += _logs([receipt.logs], index)
                receipt.logs = ()
                read.append(receipt)
        else:
            read = blocks.read_json(receipts, blocks.ReceiptsJson, number)
            blocks.require(None not in read, number, "a receipt is missing")
            logs = _logs([receipt.logs for receipt in read], 0)
        if len(set(map(type, read))) > 1:  # structs of one type, which has the fields of a form
            read = [blocks.converted(r, blocks.ReceiptJson.of_forms) for r in read]
        return _block(block, read, logs, number, chain_id)
    except (BadHex, KeyError, TypeError, IndexError) as error:
        raise blocks.MalformedBlock(f"block {number}: {type(error).__name__}: {error}") from error


def _block(
    block: Any,
    receipts: Sequence[Any],
    logs: list[blocks.EventLog],
    number: int,
    chain_id: int | None,
) -> blocks.DecodedBlock:
    blocks.require(quantity(block.number) == number, number, "it has another number")
    blocks.require(
        len(receipts) == len(block.transactions), number, "receipts are missing or too many"
    )
    are_in_order = all(a.log_index < b.log_index for a, b in pairwise(logs))
    blocks.require(are_in_order, number, "its logs are not in order")
    sent, received = ({}, {}) if not receipts else map(_fields, (block.transactions, receipts))
    if receipts:  # which name this block, and each other, as transactions do
        # Texts are compared first: nearly all nodes always write a value in the same way.
        hashes = (block.hash,) * len(receipts)
        is_whole = sent["blockHash"] == received["blockHash"] == hashes
        blocks.require(is_whole, number, "a part belongs to another block")
        indexes = range(len(receipts))
        texts = tuple(map(hex, indexes))
        for fields in (sent, received):
            read = fields["transactionIndex"]
            is_right = read == texts or [*map(quantity, read)] == [*indexes]
            blocks.require(is_right, number, "an index is wrong")
        blocks.require(sent["hash"] == received["transactionHash"], number, "a receipt is foreign")
    sent = matching.without_foreign_fields(sent)
    form = matching.match(block, sent, received, chain_id).form
    if form and receipts:  # the structs have the form's fields only where a record showed one
        nothing, form_fields = (None,) * len(receipts), matching.form_fields()
        sent = dict.fromkeys(form_fields.transactions, nothing) | sent
        received = dict.fromkeys(form_fields.receipts, nothing) | received
    transactions = _transactions(block, sent, received, form) if receipts else []
    # Only lists of transactions of type 4 are read: no other hash covers one.
    lists = sent.get("authorizationList", ())
    authorizations = enumerate(zip(lists, transactions, strict=True)) if any(lists) else ()
    return assembled(
        block,
        form,
        transactions,
        logs,
        number,
        chain_fields=form and form.chain_fields_of_block(block, sent, received),
        has_statuses=None not in received.get("status", ()),
        authorization_lists=tuple(
            (index, with_signers(entries or ()), column_types.UNSIGNED.read(sent["chainId"][index]))
            for index, (entries, transaction) in authorizations
            if transaction.type == blocks.SET_CODE
        ),
    )


def assembled(
    block: Any,
    form: forms.Form | None,
    transactions: list[blocks.DecodedTransaction],
    logs: list[blocks.EventLog],
    number: int,
    **others: Any,
) -> blocks.DecodedBlock:
    """Return a block of its own fields, given as a struct, and of its decoded parts. Raises BadHex
    and MalformedBlock."""
    prices = (t.blob_gas_price for t in transactions if t.blob_gas_price is not None)
    # On Ethereum, Amsterdam's headers tell that moving coin logs it (EIP-7708), by the hash of an
    # access list; but where values moved and none has a log, the chain has the headers alone.
    coin_logs = block.blockAccessListHash is not None and form is None
    if coin_logs and not any(log.address == blocks.COIN_EMITTER for log in logs):
        coin_logs = not any(transaction.moved_value for transaction in transactions)
    decoded = blocks.DecodedBlock(
        **{
            name: column_types.read_value(column, getattr(block, column.json_name))
            for name, column in blocks.BLOCK_COLUMNS.items()
            if column.json_name
        },
        transactions=transactions,
        logs=logs,
        withdrawals=_withdrawals(block, number),
        blob_base_fee=next(map(int.from_bytes, prices), None),
        coin_logs=coin_logs,
        keeps_destroyed=keeps_destroyed(form, block.blobGasUsed, quantity(block.timestamp)),
        message_event=form and form.message_event,
        **others,
    )
    settlement = (form.settle if form else forms.settle_by_ethereum)(decoded)
    return decoded._replace(**settlement._asdict())


def keeps_destroyed(form: forms.Form | None, blob_gas: object, time_s: int) -> bool:
    """Return whether contracts of earlier transactions outlive a SELFDESTRUCT (EIP-6780): headers
    tell that Cancun's rules hold, but for those of some forms."""
    if form and form.has_cancun_without_blobs:
        return time_s >= FIRST_CANCUN_S
    return blob_gas is not None


def _transactions(
    block: Any, sent: dict[str, Any], received: dict[str, Any], form: forms.Form | None
) -> list[blocks.DecodedTransaction]:
    # Which transactions succeeded (EIP-658). Receipts before Byzantium have a state root instead
    # and do not record failure; a block with a base fee (London) is later.
    outcomes = zip(received["status"], received["root"], sent["type"], strict=True)
    if block.baseFeePerGas is not None and any(
        status is None and not root and type_ in matching.ETHEREUM_TYPES
        for status, root, type_ in outcomes
    ):
        raise BadHex("a receipt has no status")
    statuses = [status in ("0x1", None) or quantity(status) != 0 for status in received["status"]]
    outcomes = zip(received["contractAddress"], sent["to"], statuses, strict=True)
    creations = [address if to is None and status else None for address, to, status in outcomes]
    # A type is one byte (EIP-2718); nodes from before EIP-2718 give none.
    types = [a or b or "0x0" for a, b in zip(sent["type"], received["type"], strict=True)]
    prices = [a or b for a, b in zip(received["effectiveGasPrice"], sent["gasPrice"], strict=True)]
    if None in prices:
        prices = list(map(_price, prices, types))
    # Nodes give a block's price of blobs to transactions without any, too.
    blob_prices = [
        None if hashes is None else price
        for hashes, price in zip(sent["blobVersionedHashes"], received["blobGasPrice"], strict=True)
    ]
    derived = {
        "contract_address": creations,
        "gas_price": prices,
        "type": types,
        # Types that no form knows may lack these.
        "from_address": [a or b for a, b in zip(sent["from"], received["from"], strict=True)],
        "value": list(map(_price, sent["value"], types)) if None in sent["value"] else None,
        "method": [(input_ or "0x")[: blocks.METHOD_CHARACTERS] for input_ in sent["input"]],
        "blob_gas_price": blob_prices,
        "l1_fee": form.l1_fees(block, sent, received) if form else (None,) * len(types),
        "mint": form.mints(block, sent, received) if form else (None,) * len(types),
    }
    columns = {
        name: column_types.read_values(
            column, derived.get(name) or (received if column.of_receipt else sent)[column.json_name]
        )
        for name, column in blocks.TRANSACTION_COLUMNS.items()
        if name not in _MADE
    }
    if any(len(type_) > 1 for type_ in columns["type"]):
        raise BadHex("a transaction's type is more than a byte")
    # Of fields that only some of Ethereum's types have, others have nothing: neither their hashes
    # nor roots cover such a field there.
    columns |= {
        name: [
            value if type_ in its_types or type_ > forms.NEWEST_TYPE else None
            for type_, value in zip(columns["type"], columns[name], strict=True)
        ]
        for name, its_types in _OF_TYPES.items()
        if columns[name].count(None) < len(types) and not its_types.issuperset(columns["type"])
    }
    columns |= {"transaction_index": list(range(len(types))), "status": statuses}
    columns["traced"] = [None] * len(types)
    columns["method"] = [method or None for method in columns["method"]]
    columns |= _fees(columns, form, block, sent, received)
    rows = zip(*(columns[name] for name in blocks.TRANSACTION_COLUMNS), strict=True)
    return list(starmap(blocks.DecodedTransaction, rows))


def _fees(
    columns: dict[str, list[Any]], form: forms.Form | None, block: Any, sent: Any, received: Any
) -> dict[str, Any]:
    """Return the columns of fees: what the sender of each transaction paid for gas, for blobs and
    for parts of the chain's form."""
    fees = list(map(mul, columns["gas_price"], columns["gas_used"]))
    nothing: Sequence[Any] = (None,) * len(fees)
    in_tokens: Sequence[int | None] = nothing
    if form and form.pays_in_tokens:
        paid = [*zip(fees, form.pays_in_tokens(sent), strict=True)]
        in_tokens = [fee if t else None for fee, t in paid]
        fees = [0 if t else fee for fee, t in paid]
    if form and form.is_free:
        fees = [0 if free else fee for fee, free in zip(fees, form.is_free(sent), strict=True)]
    for index, price in enumerate(columns["blob_gas_price"]):
        if price is not None:
            blobs = len(columns["blob_versioned_hashes"][index])
            fees[index] += forms.BLOB_GAS * blobs * int.from_bytes(price)
    if form is None:
        types = columns["type"]
        if max(types) <= forms.NEWEST_TYPE:
            return {"fee": fees, "operator_fee": nothing, "chain_fields": nothing}
        payers = forms.other_payers(types, columns["from_address"], received["payer"])
        with_payers = [*zip(fees, payers, strict=True)]
        others = {
            "payer": payers,
            "payerFee": [str(fee) if payer else None for fee, payer in with_payers],
        }
        texts = forms.UNKNOWN_TYPES.chain_fields_of_transactions(types, {}, others, nothing)
        fees = [0 if payer else fee for fee, payer in with_payers]
        return {"fee": fees, "operator_fee": nothing, "chain_fields": texts}
    operator = form.operator_fees(block, sent, received)
    for index, (l1, operator_fee) in enumerate(zip(columns["l1_fee"], operator, strict=True)):
        fees[index] += int.from_bytes(l1 or b"") + (operator_fee or 0)
    return {
        "fee": fees,
        "operator_fee": [fee and column_types.as_unsigned(fee) for fee in operator],
        "chain_fields": form.chain_fields_of_transactions(
            columns["type"], sent, received, in_tokens
        ),
    }


def _fields(records: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each field of the structs, by the field's name."""
    values = zip(*map(astuple, records), strict=True)
    return dict(zip(records[0].__struct_fields__, values, strict=True))


def _price(price: Any, type_: Any) -> Any:
    """Return a gas price or value, 0x0 where a type beyond Ethereum's own has none."""
    is_own = column_types.UNSIGNED.read(type_) > forms.NEWEST_TYPE
    return "0x0" if price is None and is_own else price


def _withdrawals(block: Any, number: int) -> list[blocks.Withdrawal] | None:
    """Return the withdrawals of block `number`, given as a struct; None where it cannot have any,
    also where its node gives an empty list. Raises BadHex, MalformedBlock."""
    entries = block.withdrawals
    if entries is None or not (entries or block.withdrawalsRoot):
        return None
    withdrawals = [
        blocks.Withdrawal(
            withdrawal_index=quantity(entry["index"]),
            validator_index=quantity(entry["validatorIndex"]),
            address=data(entry["address"], 20),
            amount_wei=quantity(entry["amount"]) * blocks.WEI_PER_GWEI,
        )
        for entry in entries
    ]
    for withdrawal in withdrawals:
        largest = max(withdrawal.withdrawal_index, withdrawal.validator_index)
        blocks.require(largest < 2**63, number, "a withdrawal's index is beyond 63 bits")
        is_bounded = withdrawal.amount_wei < 2**64 * blocks.WEI_PER_GWEI
        blocks.require(is_bounded, number, "a withdrawal is beyond 64 bits")
    follow = all(a.withdrawal_index < b.withdrawal_index for a, b in pairwise(withdrawals))
    blocks.require(follow, number, "its withdrawals are not in order")
    return withdrawals


def _logs(lists: Sequence[Sequence[Any]], first_index: int) -> list[blocks.EventLog]:
    """Return the logs of consecutive transactions, of which the first is at `first_index`."""
    records = list(chain.from_iterable(lists))
    if not records:
        return []
    topic_lists = [log.topics for log in records]
    counts = list(map(len, topic_lists))
    if max(counts) > blocks.MAX_TOPICS:
        raise BadHex("a log has more than four topics")
    topics = iter(column_types.read_values(_TOPIC, list(chain.from_iterable(topic_lists))))
    return list(
        map(
            blocks.EventLog,
            [index for index, logs in enumerate(lists, start=first_index) for _ in logs],
            column_types.read_values(_LOG_INDEX, [log.logIndex for log in records]),
            column_types.read_values(_ADDRESS, [log.address for log in records]),
            [tuple(islice(topics, count)) for count in counts],
            column_types.read_values(_DATA, [log.data for log in records]),
        )
    )


_WITH_TIPS, _WITH_BLOBS = frozenset((b"\2", b"\3", blocks.SET_CODE)), frozenset((b"\3",))
_OF_TYPES = {
    **dict.fromkeys(("max_fee_per_gas", "max_priority_fee_per_gas"), _WITH_TIPS),
    **dict.fromkeys(
        ("max_fee_per_blob_gas", "blob_versioned_hashes", "blob_gas_price"), _WITH_BLOBS
    ),
}
# Columns that are computed, not read from a field of JSON.
_MADE = ("transaction_index", "status", "fee", "operator_fee", "chain_fields", "traced")
_TOPIC = column_types.Column(column_types.HASH, column_types.PROVEN, "topics")
_LOG_INDEX = column_types.Column(column_types.INTEGER, column_types.PROVEN, "logIndex")
_ADDRESS = column_types.Column(column_types.ADDRESS, column_types.PROVEN, "address")
_DATA = column_types.Column(column_types.BYTES, column_types.PROVEN, "data")
