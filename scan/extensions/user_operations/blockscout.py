"""User operations (ERC-4337), which Blockscout serves by a service of its own."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from scan import parameters
from scan.errors import NotFound
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout import hooks, paths
from scan.extensions.blockscout.address_and_token_objects import AddressObjects
from scan.extensions.blockscout.decoded_objects import call_object
from scan.extensions.user_operations import queries as user_operations
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

FILTERS = ("sender", "paymaster", "bundler", "entry_point")
PATH = "/proxy/account-abstraction"
UNPACKED = "0.6"  # since which two fields of an operation share a word
renamed = paths.renaming(Path(__file__).with_suffix(".toml"))

blueprint = paths.Routes("user_operations")


@blueprint.path(f"{PATH}/operations")
def list_operations() -> Response:
    sizes = [paths.number(name, least=1) for name in ("items_count", "page_size")]
    size = min(sizes[0] or sizes[1] or paths.ROWS, paths.MOST_ROWS)
    window = Window(size, 0, cursor=paths.text("page_token"))
    page = _page(window)
    records = orjson.loads(page.data)
    objects = AddressObjects(r[name] for r in records for name in ("sender", "entryPoint"))
    items = [
        {
            **renamed("listed", record, address=objects.of),
            "entry_point_version": f"v{user_operations.version(record)}",
        }
        for record in records
    ]
    following = {"page_size": size, "page_token": page.next} if page.next else None
    return paths.list_response(items, following)


def _page(window: Window) -> Page:
    key = paths.parsed("transaction_hash", parameters.hash32)
    if key is not None:
        page = user_operations.transaction_page(reader(), key, window._replace(direction="asc"))
        return page or Page("[]", 0, 0)
    block = paths.number("block_number")
    if block is not None:
        window = window._replace(block_from=block, block_to=block)
    filters = {name: paths.address(name) for name in FILTERS}
    return user_operations.page(reader(), window, **filters)


@blueprint.path(f"{PATH}/status")
def get_status() -> Response:
    return json_value({"finished_past_indexing": True})


@blueprint.path(f"{PATH}/accounts/<address_hash>")
def get_account(address_hash: str) -> Response:
    """Return an account, whose first operation deploys it, unless something else did."""
    account = _party(address_hash, "sender")
    window = Window(1, 0, direction="asc")
    page = user_operations.page(reader(), window, sender=paths.path_address(address_hash))
    [first] = orjson.loads(page.data)
    created = first if first["factory"] else defaultdict(lambda: None)
    factory = AddressObjects([created["factory"]]).of_optional(created["factory"])
    return json_value({**account, **renamed("creation", created), "factory": factory})


@blueprint.path(f"{PATH}/paymasters/<address_hash>")
def get_paymaster(address_hash: str) -> Response:
    return json_value(_party(address_hash, "paymaster"))


def _party(address_hash: str, side: str) -> dict[str, Any]:
    """Return who took part in operations, and how many there are; raises NotFound."""
    key = paths.path_address(address_hash)
    count = user_operations.page(reader(), Window(1, 0), **{side: key}).total
    if not count:
        raise NotFound("No user operation of this address is indexed.")
    return {"address": AddressObjects([to_hex(key)]).of(to_hex(key)), "total_ops": count}


@blueprint.path(f"{PATH}/operations/<operation_hash>")
def get_operation(operation_hash: str) -> Response:
    """Return an operation; details of its bundle are null where they are not known."""
    record = _indexed(operation_hash)
    return json_value(_operation(record, user_operations.details(reader(), record)))


@blueprint.path(f"{PATH}/operations/<operation_hash>/summary")
def get_summary(operation_hash: str) -> Response:
    """Return no sentence: they are made of transactions."""
    _indexed(operation_hash)
    return json_value({"success": True, "data": {"summaries": []}})


def _indexed(operation_hash: str) -> paths.Record:
    key = parameters.hash32(operation_hash, "operation_hash_param")
    records = user_operations.operations_with_hash(reader(), key)
    if not records:
        raise NotFound("No user operation with this hash is indexed.")
    return records[0]


def _operation(
    record: paths.Record, details: user_operations.UserOperationDetails
) -> dict[str, Any]:
    signed = defaultdict(lambda: None, details.record()["operation"] or {})
    call, function = details.calls[0] if details.call_count == 1 else (None, None)
    if call is not None and details.operation and call.input == details.operation.call_data:
        call = None  # the account's own, by a function that is not known
    target = None if call is None else to_hex(call.to)
    names = ("sender", "entryPoint", "bundler", "factory", "paymaster")
    objects = AddressObjects(filter(None, [*(record[name] for name in names), target]))
    [context] = paths.contexts_of([record]).values()
    bundle_index, index = details.place or (None, None)
    return {
        **renamed("operation", record, address=objects.of_optional),
        **renamed("signed", signed),
        "block_hash": context["blockHash"],
        "bundle_index": bundle_index,
        "index": index,
        "gas": user_operations.gas_limit(details.operation),
        "gas_price": user_operations.gas_price(record),
        "raw": None if details.operation is None else _raw(record, signed),
        "user_logs_count": user_operations.log_count(record),
        "nonce": f"0x{int(record['nonce']):064x}",
        "entry_point_version": f"v{user_operations.version(record)}",
        "sponsor_type": "paymaster_sponsor" if record["paymaster"] else "wallet_deposit",
        "execute_target": objects.of_optional(target),
        "execute_call_data": None if call is None else to_hex(call.input),
        "decoded_execute_call_data": call and call_object(function, call.input[:4]),
    }


def _raw(record: paths.Record, signed: Mapping[str, str]) -> dict[str, str]:
    """Return the operation as it was signed, in the form of its version of the entry point."""
    operation = {
        **renamed("raw", signed),
        "nonce": record["nonce"],
        "sender": checksummed(record["sender"]),
    }
    if user_operations.version(record) == UNPACKED:
        return {**operation, **renamed("unpacked", signed)}

    def word(high: str, low: str) -> str:
        return f"0x{int(signed[high]):032x}{int(signed[low]):032x}"

    limits = word("verificationGasLimit", "callGasLimit")
    fees = word("maxPriorityFeePerGas", "maxFeePerGas")
    return {**operation, "account_gas_limits": limits, "gas_fees": fees}


def search_result(reader: Reader, operation_hash: bytes) -> dict[str, Any] | None:
    records = user_operations.operations_with_hash(reader, operation_hash)
    return {"type": "user_operation", **renamed("searched", records[0])} if records else None


HOOKS = hooks.Blockscout(blueprint=blueprint, search_result=search_result)
