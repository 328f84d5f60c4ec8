"""Names of functions in rows of transactions, such as `bid(uint256 _id)`, by verified ABIs."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import orjson

from scan.contracts.abi import AbiError, parse_types, selector, signature
from scan.contracts.proxy_contracts import by_code
from scan.ethereum.sized_cache import SizedCache
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.http.services import services

MOST_FUNCTIONS = 2000
LONGEST = 1000
_CACHE_BYTES = 16 * 1024 * 1024
_ENTRY_BYTES = 150  # per name in the cache, besides its text


class KnownFunctionNames:
    """The names of verified contracts' functions that were read before, by contract."""

    def __init__(self) -> None:
        self.cache: SizedCache[Mapping[str, str]] = SizedCache(_CACHE_BYTES)


class FunctionNames:
    """Names of functions, from the verified ABIs of contracts or of clones' implementations."""

    def __init__(self, called: Iterable[str]) -> None:
        self._names: dict[str, Mapping[str, str]] = {}
        contracts = _contracts({bytes.fromhex(address[2:]) for address in called if address})
        proxies = {row["address"]: by_code(data(row["code"])) for row in contracts if row["code"]}
        clones = {address: proxy.implementation for address, proxy in proxies.items() if proxy}
        implementations = {*clones.values()}
        for contract in (*contracts, *_contracts(implementations)):
            if contract["codeHash"]:
                self._names[contract["address"]] = _names_of(contract)
        for clone, implementation in clones.items():
            self._names[clone] = self._names.get(to_hex(implementation), {})

    def name(self, address: str, method_id: str) -> str:
        return self._names.get(address, {}).get(method_id, "")


def _contracts(addresses: Collection[bytes]) -> list[dict[str, str]]:
    """Return the rows of verified_contracts_find."""
    if not addresses:
        return []
    [records] = reader().row("queries/verified_contracts_find", addresses=sorted(addresses))
    contracts: list[dict[str, str]] = orjson.loads(records)
    return contracts


def _names_of(verification: Mapping[str, str]) -> Mapping[str, str]:
    key = tuple(verification[name] for name in ("codeHash", "verifiedAddress", "verifiedAt"))
    cache = reader().sources.get(KnownFunctionNames).cache
    names = cache.get(key)
    if names is None:
        names = _signatures(
            services().reads.value(
                "queries/verified_contracts_list_functions",
                code_hash=data(verification["codeHash"]),
                address=data(verification["verifiedAddress"]),
            )
        )
        size = sum(_ENTRY_BYTES + len(name) for name in names.values())
        cache.store(key, names, _ENTRY_BYTES + size)
    return names


def _signatures(functions: Any) -> Mapping[str, str]:
    """Return the signatures of an ABI's functions by selector in hex, without malformed entries."""
    names: dict[str, str] = {}
    for entry in (functions if isinstance(functions, list) else [])[:MOST_FUNCTIONS]:
        try:
            name, inputs = entry["name"], entry.get("inputs", [])
            key = "0x" + selector(signature(name, parse_types(inputs))).hex()
        except (AbiError, KeyError, TypeError, AttributeError):
            continue
        arguments = (f"{item['type']} {item.get('name') or ''}".strip() for item in inputs)
        text = f"{name}({', '.join(arguments)})"
        if len(text) <= LONGEST:
            names.setdefault(key, text)
    return names
