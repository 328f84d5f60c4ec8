"""The data of an address's contract tab: its sources, functions and values."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from scan.contracts.abi_decoding import Argument
from scan.contracts.calldata_encoding import constructor_values
from scan.contracts.proxy_contracts import CLONES, Proxy
from scan.errors import HistoryUnavailable, NotFound, Unavailable, UpstreamFailed
from scan.extensions.contract_details import bytecode, contract_values
from scan.extensions.contract_details import claims as claims_of_others
from scan.extensions.contract_details.contract_functions import Functions, functions_of
from scan.extensions.contract_details.contract_values import ContractValues
from scan.extensions.contract_details.source_files import (
    Shown,
    SourceFiles,
    file_of,
    in_order,
    shown_files,
)
from scan.extensions.transaction_details.gas_use import queries as gas_use
from scan.extensions.transaction_details.gas_use.queries import MethodGas
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.formatting import file_anchor
from scan.queries import contracts
from scan.queries.contracts import BUILT_ABI, Contract
from scan.verification.blueprints import preamble_of
from scan.verification.contract_match import RUNTIME
from scan.verification.storage_layouts import unpacked

VIEWS = ("code", "read", "write")
_SOURCE = ("sources", "storage")  # where modifiers are written
COLUMNS = {
    "code": frozenset({"code", "settings", "abi", "sources"}),
    "read": frozenset({"code", "abi", BUILT_ABI, *_SOURCE}),
    "write": frozenset({"code", "abi", BUILT_ABI, *_SOURCE}),
}


class ShownContract(NamedTuple):
    """A contract as one view of its tab shows it: `verified` is None if the code is not verified;
    a blueprint (ERC-5202) has no functions to call; `implementations` are a proxy's. `files` are of
    the view "code", `functions` and `values` of the others, where the latter also name the units of
    amounts. `gas` is what calls of the functions that write took, by selector;
    `replaced` says that the node returned another code. `modifiers` are those in the source by the
    functions' anchors, each with a link to its line."""

    view: str
    has_code: bool
    code_size: int = 0
    is_blueprint: bool = False
    verified: Contract | None = None
    abi: Sequence[Any] = ()
    settings: Any = None
    files: SourceFiles | None = None
    functions: Functions = Functions((), ())
    proxy_kind: str | None = None
    implementations: Sequence[str] = ()
    values: ContractValues | None = None
    constructor: Sequence[Argument] | None = None
    similar_to: str | None = None
    claims: Sequence[Mapping[str, Any]] = ()
    gas: Mapping[str, MethodGas] = {}
    replaced: str | None = None
    modifiers: Mapping[str, Sequence[tuple[str, str]]] = {}

    @property
    def can_match_better(self) -> bool:
        """Return whether another source may match better: not where runtime and creation code match
        fully, and not where the source is of another address with the same code."""
        if self.verified is None or self.verified.match == RUNTIME:
            return self.has_code
        return self.verified.verifier is None and not self.verified.is_full_match

    @property
    def addresses(self) -> Sequence[str | None]:
        """Return the addresses that the page shows by their names."""
        others = (self.verifier, self.similar_to)
        return [*self.implementations, *others, *self.returned_addresses]

    @property
    def returned_addresses(self) -> Sequence[str]:
        """Return the addresses that are values of the contract."""
        return [
            value.result
            for value in (self.values.values if self.values else ())
            if [output.type for output in value.outputs] == ["address"] and value.result
        ]

    def forms(self, called: str) -> Functions:
        """Return the functions that have a form: the one just called, and all whose values are not
        shown."""
        values = self.values.values if self.values else ()
        valued = {v.signature for v in values if v.error is None and v.signature != called}
        own, proxied = (
            [function for function in functions if function.signature not in valued]
            for functions in self.functions
        )
        return Functions(own, proxied)

    @property
    def verifier(self) -> str | None:
        """Return another address with the same code, for which the sources were verified."""
        return (
            to_hex(bytes(self.verified.verifier))
            if self.verified and self.verified.verifier
            else None
        )

    @property
    def constructor_arguments(self) -> str:
        return bytes(self.verified.constructor_arguments or b"").hex() if self.verified else ""


def read_contract(address: bytes, view: str, *, shown: Shown | None = None) -> ShownContract:
    """Return the contract as a view of the tab shows it; raises NotFound for an unknown file."""
    contract, lookup = contracts.get_with_proxy(reader(), address, COLUMNS[view])
    if not contract.code:
        return ShownContract(view, has_code=False)
    proxy = lookup.proxy
    abi = json.loads(contract.abi or "[]")
    implementation_abi: list[Any] = []
    functions = Functions((), ())
    is_blueprint = preamble_of(bytes(contract.code)) is not None
    can_be_called = view != "code" and not is_blueprint
    if can_be_called:
        abis = contract_values.implementation_abis(reader(), proxy)
        implementation_abi = [entry for entries in abis for entry in entries]
        functions = functions_of([abi, implementation_abi], read_only=view == "read")
    arguments, similar = contract.constructor_arguments, None
    claims: Sequence[Mapping[str, Any]] = ()
    if not contract.is_verified:
        similar = bytecode.similar_to(reader(), bytes(contract.code))
        claims = claims_of_others.of(reader(), address)
    return ShownContract(
        view,
        has_code=True,
        code_size=len(contract.code),
        is_blueprint=is_blueprint,
        verified=contract if contract.is_verified else None,
        abi=abi,
        settings=json.loads(contract.settings or "{}"),
        files=shown_files(contract.sources, contract.path, shown) if view == "code" else None,
        functions=functions,
        proxy_kind=proxy.kind if proxy else None,
        implementations=[*map(to_hex, proxy.implementations)] if proxy else [],
        values=_values(address, [abi, implementation_abi], proxy) if can_be_called else None,
        constructor=None if arguments is None else constructor_values(abi, bytes(arguments)),
        similar_to=to_hex(similar) if similar else None,
        claims=claims,
        gas=_gas(address) if view == "write" and can_be_called else {},
        modifiers=_modifiers(address, contract, proxy) if can_be_called else {},
        replaced=None if contract.replaced_at is None else contract.not_verified,
    )


def _modifiers(
    address: bytes, contract: Contract, proxy: Proxy | None
) -> dict[str, list[tuple[str, str]]]:
    """Return the modifiers of a contract's functions, and of its implementations', as they are
    written."""
    others = () if proxy is None or proxy.kind in CLONES else proxy.implementations
    sources = [("", address, contract)]
    sources += [("proxy-", at, contracts.get(reader(), at, _SOURCE)) for at in others]
    modifiers: dict[str, list[tuple[str, str]]] = {}
    for prefix, at, of in sources:
        layout = json.loads(unpacked(bytes(of.storage)) if of.storage else "{}")
        paths = in_order(json.loads(of.sources or "{}"), of.path)
        for selector, (path, written) in (layout.get("modifiers") or {}).items():
            file = f"/address/{to_hex(at)}?tab=contract&file={quote(path)}"
            anchor = file_anchor(paths.index(path)) if path in paths else ""
            links = [(text, f"{file}#{anchor}L{line}") for text, line in written]
            modifiers.setdefault(f"{prefix}0x{selector}", links)
    return modifiers


def _gas(address: bytes) -> Mapping[str, MethodGas]:
    return {of.method_id: of for of in gas_use.of_contract(reader(), address) if of.method_id}


def _values(address: bytes, abis: Sequence[Any], proxy: Proxy | None) -> ContractValues | None:
    """Return the values of functions without arguments, None where the node does not answer: each
    function can still be called by its form."""
    try:
        return contract_values.of(reader(), address, abis, proxy)
    except (UpstreamFailed, Unavailable, HistoryUnavailable, NotFound):
        reader().do_not_cache()
        return None


def read_source_file(address: bytes, path: str) -> str:
    """Return a complete source file; raises NotFound."""
    reader().do_not_cache()  # large files would evict everything else
    contract, _ = contracts.get_with_proxy(reader(), address, {"sources"})
    return file_of(json.loads(contract.sources or "{}"), path)
