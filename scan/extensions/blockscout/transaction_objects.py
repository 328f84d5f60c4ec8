"""Fields of transactions that Blockscout shows on chains of some forms alone.

Transactions and internal transactions as Blockscout shows them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.extensions.blockscout import decoded_objects, lists
from scan.extensions.blockscout.address_and_token_objects import AddressObjects
from scan.extensions.blockscout.routing import NAMES, Object, renamed
from scan.extensions.internal_transfers.traces import is_creation
from scan.extensions.transaction_details.decoding import add_methods, contexts, inputs
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.queries import blocks, tokens, transactions

OF_OP_STACK = NAMES["op_stack"]


def chain_fields(record: Mapping[str, Any], context: Mapping[str, Any]) -> Object:
    has_blobs = bool(record["blobVersionedHashes"])
    of_blobs = renamed("fields_of_blobs", {**record, **context}) if has_blobs else {}
    return of_blobs | _of_op_stack(record)


def _of_op_stack(record: Mapping[str, Any]) -> Object:
    chain_fields, fee_parts = record.get("chainFields", {}), record.get("feeParts", {})
    if fee_parts.get("l1") is None:
        return {}
    operator = {} if fee_parts["operator"] is None else {"operator_fee": fee_parts["operator"]}
    shown = {
        name: chain_fields[field] for field, name in OF_OP_STACK.items() if field in chain_fields
    }
    return {"l1_fee": fee_parts["l1"], **shown, **operator}


# Bytes in lists: anybody can send transactions that would fill a page with megabytes.
LONGEST_INPUT = 16_384
BLOB_TYPE, DELEGATING_TYPE = 3, 4
# Of transactions that name one price, Blockscout says no parts of the fee.
NO_FEE_PARTS = {"priority_fee": None, "transaction_burnt_fee": None}
AUTHORIZATION_FAULTS = NAMES["authorization_faults"]


def transaction_objects(records: Sequence[lists.Record]) -> list[Object]:
    """Return the objects of a list; inputs are null where they are long, or the node does not give
    them."""
    context_of = contexts(reader(), (record["hash"] for record in records))
    contents = {
        transaction_hash: content
        for transaction_hash, content in inputs(reader(), records).items()
        if len(content) <= LONGEST_INPUT
    }
    objects = AddressObjects(address for record in records for address in _parties(record))
    name_methods(records, objects)
    kinds = _kinds(records, objects)
    failed = decoded_objects.failures(records)
    newest = blocks.newest_number(reader())
    return [
        transaction_object(
            record,
            context_of[record["hash"]],
            objects,
            kinds=kinds[record["hash"]],
            confirmations=blocks.confirmations(record["blockNumber"], newest),
            content=contents.get(record["hash"]),
        )
        | failed.get(record["hash"], {})
        for record in records
    ]


def transaction_position(record: lists.Record) -> lists.Position:
    return renamed("transaction_position", record)


def transaction_addresses(record: lists.Record) -> AddressObjects:
    return AddressObjects(_parties(record))


def _parties(record: lists.Record) -> tuple[str | None, ...]:
    return record["fromAddress"], record["toAddress"], record["contractAddress"]


def name_methods(records: Sequence[lists.Record], objects: AddressObjects) -> None:
    """Set `method` of the transactions that called a contract; `objects` are of the recipients."""
    add_methods(reader(), [record for record in records if _is_call(record, objects)])


def _is_call(record: lists.Record, objects: AddressObjects) -> bool:
    """Return whether a transaction called a contract: data sent to other accounts is a text."""
    return record["toAddress"] is not None and objects.is_contract(record["toAddress"])


def transaction_object(
    record: lists.Record,
    context: lists.Record,
    objects: AddressObjects,
    *,
    kinds: Sequence[str],
    confirmations: int,
    content: bytes | None,
) -> Object:
    """Return the object of a transaction that succeeded, as lists show it: without decoded input
    and transfers of tokens."""
    return {
        **renamed("transaction", context | record, address=objects.of_optional),
        **renamed("outcome", record | {"confirmations": confirmations}),
        "fee": {"type": "actual", "value": record["fee"]},
        "raw_input": None if content is None else to_hex(content),
        "method": record.get("method"),
        "transaction_types": kinds,
        "authorization_list": [],
        "fhe_operations_count": 0,
        **chain_fields(record, context),
        **({} if record["maxFeePerGas"] is not None else NO_FEE_PARTS),
    }


def kinds_of(records: Sequence[lists.Record]) -> dict[str, list[str]]:
    """Return what transactions did, in Blockscout's words, by their hashes."""
    return _kinds(records, AddressObjects(record["toAddress"] for record in records))


def _kinds(records: Sequence[lists.Record], objects: AddressObjects) -> dict[str, list[str]]:
    created = [record["contractAddress"] for record in records if record["contractAddress"]]
    token_addresses = tokens.records_of(reader(), [data(address) for address in created])
    [moved] = reader().row(
        "queries/transactions_list_with_transfers",
        numbers=[record["blockNumber"] for record in records],
        indexes=[record["transactionIndex"] for record in records],
    )
    kinds = {}
    for place, record in enumerate(records, 1):
        applies = {
            "token_transfer": place in moved,
            "coin_transfer": record["value"] != "0",
            "contract_call": _is_call(record, objects),
            "contract_creation": transactions.creates_contract(record),
            "token_creation": record["contractAddress"] in token_addresses,
            "blob_transaction": record["type"] == BLOB_TYPE,
            "set_code_transaction": record["type"] == DELEGATING_TYPE,
        }
        kinds[record["hash"]] = [kind for kind, is_given in applies.items() if is_given]
    return kinds


def move_kinds(records: Sequence[lists.Record]) -> list[list[str]]:
    """Return the kinds that advanced filters have for moves of the coin, of transactions or of
    internal ones."""
    called = [None if _creates(record) else record["toAddress"] for record in records]
    objects = AddressObjects(called)
    kinds = []
    for record, address in zip(records, called, strict=True):
        applies = {
            "coin_transfer": record["value"] != "0",
            "contract_interaction": address is not None and objects.is_contract(address),
            "contract_creation": address is None,
        }
        kinds.append([kind for kind, is_given in applies.items() if is_given])
    return kinds


def _creates(record: lists.Record) -> bool:
    """Return whether an internal transaction creates a contract."""
    return "transferIndex" in record and is_creation(record["type"].upper())


def internal_objects(records: Sequence[lists.Record]) -> list[Object]:
    context_of = lists.contexts_of(records)
    objects = AddressObjects(r[side] for r in records for side in ("fromAddress", "toAddress"))
    return [
        _internal(record, context_of[record["transactionHash"]]["transactionIndex"], objects)
        for record in records
    ]


def internal_position(record: lists.Record) -> lists.Position:
    [context] = lists.contexts_of([record]).values()
    return renamed("internal_position", context | record)


def shown_type(record: lists.Record) -> str:
    """Return the type of an internal transaction: what a log alone shows was a call."""
    return "call" if record["source"] == "log" else str(record["type"])


def parties_of(record: lists.Record) -> tuple[str | None, str | None]:
    """Return whom an internal transaction calls, and the contract that it creates."""
    to = record["toAddress"]
    return (None, to) if is_creation(record["type"].upper()) else (to, None)


def _internal(record: lists.Record, transaction_index: int, objects: AddressObjects) -> Object:
    to, created = parties_of(record)
    return {
        **renamed("internal_transaction", record, address=objects.of_optional),
        "type": shown_type(record),
        "transaction_index": transaction_index,
        "to": objects.of_optional(to),
        "created_contract": objects.of_optional(created),
    }


def authorization_object(record: Mapping[str, Any]) -> Object:
    """Return an authorization; its status is null where Blockscout has no word for it."""
    return {
        **renamed("authorization", record),
        "r": str(int(record["r"], 16)),
        "s": str(int(record["s"], 16)),
        "status": "ok" if record["valid"] else AUTHORIZATION_FAULTS.get(record["invalidReason"]),
    }
