"""The variables in a contract's storage by their names: at /contracts/:address/storage, and as a
tab of its page. Layouts live as long as the process."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, request

from scan import parameters
from scan.api.hooks import Api
from scan.api.renamed_fields import recording
from scan.errors import ScanError
from scan.extensions.explanations.storage import layout, slots, variable_values
from scan.hex import to_hex
from scan.http.current_request import block_argument, query_arguments, reader
from scan.http.hooks import Service
from scan.http.json_responses import Response, json_value
from scan.http.prerequisites import Prerequisite, requires
from scan.pages import addresses_and_tokens, hooks
from scan.pages.records import names_of

recorded = recording(__file__)
blueprint = Blueprint("storage", __name__)


@blueprint.get("/contracts/<address>/storage")
@requires(Prerequisite.NODE)
def get_storage(address: str) -> Response:
    arguments = query_arguments("block", "variable")
    key = parameters.address(address)
    variable = arguments.get("variable")
    if variable is not None:
        variable = parameters.text(variable, "variable", most=variable_values.MAX_PATH)
    block = block_argument(arguments)
    storage = variable_values.get(reader(), key, block, variable)
    record = recorded("storage", storage)
    return json_value({"address": to_hex(key), **record})


FIELDS = ("variable", "block")


def _read(key: bytes) -> tuple[None, Mapping[str, Any]]:
    fields = {name: request.args.get(name, "").strip() for name in FIELDS}
    values: dict[str, Any] = {
        "fields": fields,
        "most_path": variable_values.MAX_PATH,
        "problem": None,
        "error": None,
    }
    try:
        block = block_argument({"block": fields["block"] or "latest"})
        variable = parameters.text(fields["variable"], "variable", most=variable_values.MAX_PATH)
        storage = variable_values.get(reader(), key, block, variable or None)
    except ScanError as error:
        reader().do_not_cache()
        values |= {"problem": error.message, "names": names_of([], to_hex(key))}
        return None, {**values, "error": error} if any(fields.values()) else values
    addresses = [key, *(layout.address for layout in storage.layouts)]
    pointed_to = [
        variable.value
        for variable in storage.variables
        if slots.is_address(variable.type) and variable.value is not None
    ]
    names = names_of([], *map(to_hex, addresses), *pointed_to)
    return None, {**values, "storage": storage, "names": names}


storage_tab = hooks.AddressTab(
    "storage",
    "Storage",
    120,
    addresses_and_tokens.is_of_contract,
    template="contract_storage.html",
    read=_read,
    group=hooks.CONTRACT,
)
HOOKS = (
    Api(blueprints=(blueprint,)),
    Service(make=lambda core: layout.StorageLayouts(core.reads)),
    hooks.Pages(tabs=(storage_tab,)),
)
