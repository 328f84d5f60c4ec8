"""Verified contracts: their list, one, and their counts."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from scan import parameters
from scan.contracts.read_calls import constructor_values
from scan.errors import NotFound
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.signatures import checksummed
from scan.extensions.blockscout import address_and_token_objects, lists
from scan.extensions.blockscout.addresses import creation_status
from scan.extensions.blockscout.decoded_objects import shown
from scan.extensions.blockscout.routing import renamed, routes, text, timestamp
from scan.extensions.search import views as search
from scan.hex import data, to_hex
from scan.http.requests import Response, json_value, reader
from scan.queries import addresses, blocks, contracts, network
from scan.verification.creation_comparison import preamble_of

DAY_S = 86_400
LANGUAGES = ("solidity", "vyper", "yul", "geas")
# Of a minimal proxy with its implementation's source: nothing of its own is verified.
OF_IMPLEMENTATION = {
    "is_verified": False,
    "is_fully_verified": False,
    "is_partially_verified": False,
    "verified_twin_address_hash": None,
}
NO_PROXY: lists.Record = {"proxy_type": None, "implementations": []}
NOT_CREATED = dict.fromkeys(("creation_bytecode", "creation_status", "conflicting_implementations"))
LICENSES = {
    "Unlicense": "unlicense",
    "MIT": "mit",
    "GPL-2.0": "gnu_gpl_v2",
    "GPL-3.0": "gnu_gpl_v3",
    "LGPL-2.1": "gnu_lgpl_v2_1",
    "LGPL-3.0": "gnu_lgpl_v3",
    "BSD-2-Clause": "bsd_2_clause",
    "BSD-3-Clause": "bsd_3_clause",
    "MPL-2.0": "mpl_2_0",
    "OSL-3.0": "osl_3_0",
    "Apache-2.0": "apache_2_0",
    "AGPL-3.0": "gnu_agpl_v3",
    "BUSL-1.1": "bsl_1_1",
}

blueprint = routes("contracts")


@blueprint.path("/smart-contracts")
def list_contracts() -> Response:
    """Return verified contracts, or those that match the text `q`, on one page."""
    query, language, window = text("q"), lists.one_of("filter", LANGUAGES), lists.first_window()
    for name in ("sort", "order"):
        text(name)  # by balances and counts, which have no index: the order stays
    if query is None:
        page = contracts.verified_page(reader(), window._replace(cursor=text("cursor")))
        listed = [record["address"] for record in orjson.loads(page.data)]
        following = None if page.next is None else {"cursor": page.next}
    else:
        listed, following = _named(query)[: window.limit], None
    rows = [(a, contracts.get(reader(), data(a), {"settings"})) for a in listed]
    objects = address_and_token_objects.AddressObjects(listed)
    shown = [
        {
            "address": objects.of(address),
            **_compiler_fields(contract),
            "transactions_count": addresses.counts(reader(), data(address), 0)["transactions"],
            "market_cap": None,
            "coin_balance": None,
        }
        for address, contract in rows
        if language in (None, contracts.language_of(contract).lower())
    ]
    return lists.list_response(shown, following)


def _named(query: str) -> list[str]:
    results = orjson.loads(search.search(reader(), query))
    return [result["value"] for result in results if result["verified"]]


@blueprint.path("/smart-contracts/counters")
def get_counters() -> Response:
    """Return counts; contracts created by contracts count as far as their blocks have traces."""
    totals = network.totals(reader())
    return json_value(
        {
            "smart_contracts": str(totals["contracts"] or 0),
            "new_smart_contracts_24h": str(_created_within(DAY_S)),
            "verified_smart_contracts": str(totals["verifiedContracts"]),
            "new_verified_smart_contracts_24h": str(totals["newVerifiedContracts"]),
        }
    )


def _created_within(seconds: int) -> int:
    """Return how many contracts were created within a time before the newest block."""
    newest = orjson.loads(blocks.get(reader(), None) or "null")
    if newest is None:
        return 0
    time_s = parameters.time_s(newest["timestamp"], "timestamp")
    first = blocks.nearest(reader(), max(time_s - seconds, 0)).after
    [count] = reader().row("queries/contract_creations_count_since", block_number=first)
    return int(count)


@blueprint.path("/smart-contracts/<address_hash>")
def get_contract(address_hash: str) -> Response:
    key = lists.path_address(address_hash)
    columns = {"code", "settings", "abi", "sources"}
    contract, lookup = contracts.get_with_proxy(reader(), key, columns)
    delegate = addresses.parties(reader(), [key])[to_hex(key)].get("delegate")
    if delegate:  # which runs in place of the account's own code (EIP-7702)
        code = to_hex(DELEGATION + data(delegate))
        fields = _proxy_fields("eip7702", [data(delegate)])
        return json_value({**NOT_CREATED, "deployed_bytecode": code, **fields})
    status = creation_status(contracts.indexed(reader(), key), contract.code_hash is not None)
    if status is None:
        raise NotFound("No contract is indexed at this address.")
    proxy = lookup.proxy
    shown = {
        **NOT_CREATED,
        "deployed_bytecode": None if contract.code is None else to_hex(bytes(contract.code)),
        "creation_status": status,
        **(_proxy_fields(proxy.kind, proxy.implementations) if proxy else NO_PROXY),
    }
    if not contract.is_verified:
        return json_value(shown)
    is_blueprint = preamble_of(bytes(contract.code or b"")) is not None
    fields = {**_source_fields(contract), "is_blueprint": is_blueprint}
    is_minimal = proxy is not None and proxy.kind in address_and_token_objects.MINIMAL
    if is_minimal and not contracts.get(reader(), key, ()).is_verified:
        fields |= OF_IMPLEMENTATION  # the source is not that of the contract's own code
    return json_value({**shown, **fields})


def _proxy_fields(kind: str, implementations: Sequence[bytes]) -> lists.Record:
    fields = address_and_token_objects.proxy_fields(kind, implementations)
    return {name: fields[name] for name in NO_PROXY}


def _compiler_fields(contract: contracts.Contract) -> lists.Record:
    settings = orjson.loads(contract.settings or "{}")
    return {
        "compiler_version": f"v{contract.compiler_version}",
        "optimization_enabled": bool(settings.get("optimizer", {}).get("enabled")),
        "language": contracts.language_of(contract).lower(),
        "verified_at": contract.verified_at and timestamp(contract.verified_at),
        "has_constructor_args": bool(contract.constructor_arguments),
        "license_type": LICENSES.get(contract.license or ""),
        "certified": False,
        "reputation": None,
    }


def _source_fields(contract: contracts.Contract) -> lists.Record:
    settings = orjson.loads(contract.settings or "{}")
    sources = orjson.loads(contract.sources or "{}")
    abi = orjson.loads(contract.abi or "[]")
    arguments = bytes(contract.constructor_arguments or b"")
    is_full = contract.match == "full"
    return {
        **_compiler_fields(contract),
        **renamed("verified_contract", {}),
        "name": contract.name,
        "file_path": contract.path,
        "source_code": _content(sources.get(contract.path)),
        "additional_sources": [
            {"file_path": path, "source_code": _content(source)}
            for path, source in sources.items()
            if path != contract.path
        ],
        "compiler_settings": settings,
        "optimization_runs": settings.get("optimizer", {}).get("runs"),
        "evm_version": settings.get("evmVersion"),
        "abi": abi,
        "constructor_args": to_hex(arguments) if arguments else None,
        "decoded_constructor_args": _arguments(abi, arguments),
        "external_libraries": [
            {"name": name.rpartition(":")[2], "address_hash": checksummed(str(library).lower())}
            for name, library in settings.get("libraries", {}).items()
        ],
        "is_fully_verified": is_full,
        "is_partially_verified": not is_full,
        "verified_twin_address_hash": contract.verifier
        and checksummed(to_hex(bytes(contract.verifier))),
    }


def _content(source: Mapping[str, Any] | None) -> str | None:
    return None if source is None else str(source["content"])


def _arguments(abi: list[Any], arguments: bytes) -> list[list[Any]] | None:
    values = constructor_values(abi, arguments) if arguments else None
    if values is None:
        return None
    return [
        [shown(value.value, value.type), {"name": value.name, "type": value.type}]
        for value in values
    ]
