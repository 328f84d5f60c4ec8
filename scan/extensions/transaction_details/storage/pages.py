"""The tab of a contract's page with its variables, read from the node."""

from collections.abc import Iterator, Mapping
from typing import Any

from flask import request

from scan import parameters
from scan.errors import ScanError
from scan.extensions.transaction_details.storage import contract_storage
from scan.extensions.transaction_details.storage.contract_storage import ContractStorage
from scan.extensions.transaction_details.storage.values import is_address
from scan.extensions.transaction_details.storage.variable_paths import MAX_PATH
from scan.hex import to_hex
from scan.http.requests import block_argument, reader
from scan.pages.address_head import of_contract
from scan.pages.hooks import CONTRACT, AddressTab, Pages
from scan.pages.records import names_of

FIELDS = ("variable", "block")


def _read(key: bytes) -> tuple[None, Mapping[str, Any]]:
    fields = {name: request.args.get(name, "").strip() for name in FIELDS}
    values: dict[str, Any] = {
        "fields": fields,
        "most_path": MAX_PATH,
        "problem": None,
        "error": None,
    }
    try:
        storage = _storage(key, fields)
    except ScanError as error:
        reader().do_not_cache()
        values |= {"problem": error.message, "names": names_of([], to_hex(key))}
        return None, {**values, "error": error} if any(fields.values()) else values
    return None, {**values, "storage": storage, "names": names_of([], *_addresses(key, storage))}


def _storage(key: bytes, fields: Mapping[str, str]) -> ContractStorage:
    block = block_argument({"block": fields["block"] or "latest"})
    variable = parameters.text(fields["variable"], "variable", most=MAX_PATH)
    return contract_storage.get(reader(), key, block, variable or None)


def _addresses(key: bytes, storage: ContractStorage) -> Iterator[str]:
    yield to_hex(key)
    yield from (to_hex(known.address) for known in storage.layouts)
    for variable in storage.variables:
        if is_address(variable.type) and variable.value is not None:
            yield variable.value


HOOKS = Pages(
    tabs=(
        AddressTab(
            "storage",
            "Storage",
            120,
            of_contract,
            template="contract_storage.html",
            read=_read,
            group=CONTRACT,
        ),
    ),
)
