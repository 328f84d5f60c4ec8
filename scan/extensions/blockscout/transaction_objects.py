"""Transactions and internal transactions as Blockscout shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.lists import Position, Record, contexts_of
from scan.extensions.blockscout.objects import Object, renamed
from scan.extensions.internal_transfers.traces import is_creation
from scan.extensions.transaction_details.method_names import add_methods
from scan.extensions.transaction_details.transaction_contexts import contexts, inputs
from scan.hex import to_hex
from scan.http.requests import reader
from scan.queries import blocks
from scan.queries.transactions import creates_contract

# Bytes in lists: anybody can send transactions that would fill a page with megabytes.
LONGEST_INPUT = 16_384
BLOB_TYPE, DELEGATING_TYPE = 3, 4
AUTHORIZATION_FAULTS = {
    "wrong_chain": "invalid_chain_id",
    "wrong_nonce": "invalid_nonce",
    "nonce_limit": "invalid_nonce",
    "invalid_signature": "invalid_signature",
}


def transaction_objects(records: Sequence[Record]) -> list[Object]:
    """Return the objects of a list; inputs are null where they are long, or the node does not give
    them."""
    context_of = contexts(reader(), (record["hash"] for record in records))
    contents = {
        transaction_hash: content
        for transaction_hash, content in inputs(reader(), records).items()
        if len(content) <= LONGEST_INPUT
    }
    add_methods(reader(), records)
    objects = AddressObjects(address for record in records for address in _parties(record))
    newest = blocks.newest_number(reader())
    return [
        transaction_object(
            record,
            context_of[record["hash"]],
            objects,
            confirmations=blocks.confirmations(record["blockNumber"], newest),
            content=contents.get(record["hash"]),
        )
        for record in records
    ]


def transaction_position(record: Record) -> Position:
    return {"block_number": record["blockNumber"], "index": record["transactionIndex"]}


def transaction_addresses(record: Record) -> AddressObjects:
    return AddressObjects(_parties(record))


def _parties(record: Record) -> tuple[str | None, ...]:
    return record["fromAddress"], record["toAddress"], record["contractAddress"]


def transaction_object(
    record: Record,
    context: Record,
    objects: AddressObjects,
    *,
    confirmations: int,
    content: bytes | None,
) -> Object:
    """Return the object as lists show it: without decoded input and transfers of tokens."""
    return {
        **renamed("transaction", context | record, address=objects.of_optional),
        "result": "success" if record["status"] else "error",
        "status": "ok" if record["status"] else "error",
        "confirmations": confirmations,
        "confirmation_duration": [],
        "fee": {"type": "actual", "value": record["fee"]},
        "raw_input": None if content is None else to_hex(content),
        "method": record.get("method"),
        "transaction_types": _kinds(record, context),
        "authorization_list": [],
        "fhe_operations_count": 0,
    }


def _kinds(record: Record, context: Mapping[str, Any]) -> list[str]:
    kinds = {
        "token_transfer": context["hasTokenTransfers"],
        "coin_transfer": record["value"] != "0",
        "contract_call": record["methodId"] is not None,
        "contract_creation": creates_contract(record),
        "blob_transaction": record["type"] == BLOB_TYPE,
        "set_code_transaction": record["type"] == DELEGATING_TYPE,
    }
    return [kind for kind, is_given in kinds.items() if is_given]


def internal_objects(records: Sequence[Record]) -> tuple[list[Object], Position | None]:
    """Return the objects of internal transactions, and the position of the last one."""
    context_of = contexts_of(records)
    objects = AddressObjects(r[side] for r in records for side in ("fromAddress", "toAddress"))
    items = [
        _internal(record, context_of[record["transactionHash"]]["transactionIndex"], objects)
        for record in records
    ]
    names = ("block_number", "transaction_index", "index")
    return items, {name: items[-1][name] for name in names} if items else None


def _internal(record: Record, transaction_index: int, objects: AddressObjects) -> Object:
    creates = is_creation(record["type"].upper())
    to = objects.of(record["toAddress"])
    return {
        **renamed("internal_transaction", record, address=objects.of_optional),
        "type": "call" if record["source"] == "log" else record["type"],
        "transaction_index": transaction_index,
        "to": None if creates else to,
        "created_contract": to if creates else None,
    }


def authorization_object(record: Mapping[str, Any]) -> Object:
    """Return an authorization; its status is null where Blockscout has no word for it."""
    return {
        **renamed("authorization", record),
        "r": str(int(record["r"], 16)),
        "s": str(int(record["s"], 16)),
        "status": "ok" if record["valid"] else AUTHORIZATION_FAULTS.get(record["invalidReason"]),
    }
