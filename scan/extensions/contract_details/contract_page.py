"""The contract tab of an address and of a token: sources, functions and values in the tabs Code,
Read and Write, claims of other explorers where nothing is verified here; and what the head of the
page says of a proxy: where its calls go.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson
from flask import Response, request

from scan import parameters
from scan.contracts.abi_decoding import CLAIM, Argument, constructor_values
from scan.contracts.proxy_contracts import CLONES, Proxy
from scan.errors import HistoryUnavailable, NotFound, Unavailable, UpstreamFailed
from scan.extensions.compiled_sources import compiler_layouts
from scan.extensions.contract_details import bytecode, contract_values, source_files
from scan.extensions.contract_details.contract_functions import (
    AmountUnits,
    Functions,
    amount_units,
    functions_of,
    token_units,
)
from scan.extensions.contract_details.contract_values import ContractValues
from scan.extensions.explanations.gas_use import gas_of_calls
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.http.services import services
from scan.pages import addresses_and_tokens, formatting, records
from scan.pages.hooks import Shown
from scan.pages.site import page, site
from scan.queries import contracts
from scan.queries.addresses import Address
from scan.queries.reader import Reader
from scan.verification import creation_comparison
from scan.verification.languages import standard_input
from scan.verification.languages.vyper import VYPER
from scan.verification.settings_search import dotted

CLAIMED = "claimed"  # the outcome of what is kept as a claim
MAX_TEXT = 300
MAX_REQUESTED = 100
EXPORTED = ("filePath", "settings", "sources")  # of a claim in SQL


class RequestedClaims:
    """Contracts whose exported sources somebody looked at: they are compiled before others."""

    def __init__(self) -> None:
        self._addresses: dict[bytes, None] = {}

    def add(self, address: bytes) -> None:
        if len(self._addresses) < MAX_REQUESTED:
            self._addresses[address] = None

    def next(self) -> bytes | None:
        """Return the one that was looked at first, and forget it."""
        with suppress(StopIteration, KeyError, RuntimeError):  # another thread adds
            address = next(iter(self._addresses))
            del self._addresses[address]
            return address
        return None


def stored_claims(reader: Reader, address: bytes) -> list[dict[str, Any]]:
    """Return the claims about the code at an address; none where it is verified. Exported sources
    among them are compiled next."""
    (data,) = reader.row("queries/contract_claims_list", address=address)
    claims: list[dict[str, Any]] = orjson.loads(data)
    for claim in claims:
        path, settings, sources = (claim.pop(name) for name in EXPORTED)
        claim["standardInput"] = sources and standard_input(path, sources, settings)
        if sources:
            reader.do_not_cache()  # they are large, and soon verified
            reader.sources.get(RequestedClaims).add(address)
    return claims


def clean(text: str | None) -> str | None:
    """Return at most MAX_TEXT characters, with spaces for those that are not printable: a source's
    names and versions may be any text."""
    if text is None:
        return None
    return "".join(c if c.isprintable() else " " for c in text[:MAX_TEXT]).strip()


VIEWS = ("code", "read", "write")
COLUMNS = {
    "code": frozenset({"code", "settings", "abi", "sources"}),
    "read": frozenset({"code", *contract_values.FUNCTIONS, "sources"}),
    "write": frozenset({"code", *contract_values.FUNCTIONS, "sources"}),
}


class ShownContract(NamedTuple):
    """A contract as one view of its tab shows it: `verified` is None if the code is not verified;
    a blueprint (ERC-5202) has no functions to call. `files` are of the view "code", `functions` and
    `values` of the others, where the latter also name the units of amounts. `gas` is what calls of
    the functions that write took, by selector; `replaced` says that the node returned another code.
    `modifiers` are those in the source by the functions' anchors, each with a link to its line."""

    view: str
    code_size: int = 0
    is_blueprint: bool = False
    verified: contracts.Contract | None = None
    abi: Sequence[Any] = ()
    settings: Any = None
    files: source_files.SourceFiles | None = None
    functions: Functions = Functions((), ())
    proxy: Proxy | None = None
    values: ContractValues | None = None
    constructor: Sequence[Argument] | None = None
    similar_to: str | None = None
    claims: Sequence[Mapping[str, Any]] = ()
    gas: Mapping[str, gas_of_calls.MethodGas] = {}
    replaced: str | None = None
    modifiers: Mapping[str, Sequence[tuple[str, str]]] = {}

    @property
    def can_match_better(self) -> bool:
        """Return whether another source may match better: not where runtime and creation code match
        fully, and not where the source is of another address with the same code."""
        if self.verified is None or not self.verified.is_verified:
            return self.code_size > 0
        return self.verified.verifier is None and not self.verified.is_full_match

    @property
    def exported(self) -> Mapping[str, Any] | None:
        """Return the claim that has sources."""
        return next((claim for claim in self.claims if claim["standardInput"]), None)

    @property
    def implementations(self) -> Sequence[str]:
        return [*map(to_hex, self.proxy.implementations)] if self.proxy else []

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
        direct, proxied = (
            [function for function in functions if function.signature not in valued]
            for functions in (self.functions.own, self.functions.proxied)
        )
        return Functions(direct, proxied)

    @property
    def verifier(self) -> str | None:
        """Return another address with the same code, for which the sources were verified."""
        verifier = self.verified and self.verified.verifier
        return to_hex(bytes(verifier)) if verifier else None

    @property
    def constructor_arguments(self) -> str:
        return bytes(self.verified.constructor_arguments or b"").hex() if self.verified else ""


def read_contract(
    address: bytes, view: str, *, shown: source_files.Shown | None = None
) -> ShownContract:
    """Return the contract as a view of the tab shows it; raises NotFound for an unknown file."""
    contract, (proxy, _) = contracts.get_with_proxy(reader(), address, COLUMNS[view])
    if not contract.code:
        return ShownContract(view)
    code, arguments = bytes(contract.code), contract.constructor_arguments
    abi = json.loads(contract.interface or contract.abi or "[]")
    similar = None if contract.has_source else bytecode.similar_to(reader(), code)
    shown_contract = ShownContract(
        view,
        code_size=len(code),
        is_blueprint=creation_comparison.preamble_of(code) is not None,
        verified=contract if contract.has_source else None,
        abi=abi,
        settings=json.loads(contract.settings or "{}"),
        proxy=proxy,
        constructor=None if arguments is None else constructor_values(abi, bytes(arguments)),
        similar_to=to_hex(similar) if similar else None,
        claims=[] if contract.is_verified else stored_claims(reader(), address),
        replaced=None if contract.replaced_at is None else contract.not_verified,
    )
    if view == "code":
        sources, path = contract.sources, contract.path
        if sources is None and (claim := shown_contract.exported):
            standard, path = claim["standardInput"], claim["contractName"].rpartition(":")[0]
            sources = json.dumps(standard["sources"])
            shown_contract = shown_contract._replace(settings=standard["settings"])
        files = source_files.shown_files(sources, path, shown)
        return shown_contract._replace(files=files)
    if shown_contract.is_blueprint:
        return shown_contract
    lent = contract_values.implementation_abis(reader(), proxy)
    abis = [abi, [entry for entries in lent for entry in entries]]
    gas = gas_of_calls.contract_gas(reader(), address) if view == "write" else ()
    return shown_contract._replace(
        functions=functions_of(abis, read_only=view == "read"),
        values=_values(address, abis, proxy),
        gas={of.method_id: of for of in gas if of.method_id},
        modifiers=_modifiers(address, contract, proxy),
    )


def _modifiers(
    address: bytes, contract: contracts.Contract, proxy: Proxy | None
) -> dict[str, list[tuple[str, str]]]:
    """Return the modifiers of a contract's functions, and of its implementations', as they are
    written."""
    others = () if proxy is None or proxy.kind in CLONES else proxy.implementations
    sources = [("", address, contract)]
    sources += [("proxy-", at, contracts.get(reader(), at, ["sources"])) for at in others]
    modifiers: dict[str, list[tuple[str, str]]] = {}
    for prefix, at, of in sources:
        _, functions = compiler_layouts.findings_of(reader().sources.database, at, of.verifier)
        paths = source_files.in_order(json.loads(of.sources or "{}"), of.path)
        for selector, (path, written) in (functions.get("modifiers") or {}).items():
            file = f"/address/{to_hex(at)}?tab=contract&file={quote(path)}"
            anchor = formatting.file_anchor(paths.index(path)) if path in paths else ""
            links = [(text, f"{file}#{anchor}L{line}") for text, line in written]
            modifiers.setdefault(f"{prefix}0x{selector}", links)
    return modifiers


def _values(address: bytes, abis: Sequence[Any], proxy: Proxy | None) -> ContractValues | None:
    """Return the values of functions without arguments, None where the node does not answer: each
    function can still be called by its form."""
    try:
        return contract_values.read(reader(), address, abis, proxy)
    except (UpstreamFailed, Unavailable, HistoryUnavailable, NotFound):
        reader().do_not_cache()
        return None


def read_source_file(address: bytes, path: str) -> str:
    """Return a complete source file; raises NotFound."""
    reader().do_not_cache()  # large files would evict everything else
    contract, _ = contracts.get_with_proxy(reader(), address, {"sources"})
    return source_files.file_of(json.loads(contract.sources or "{}"), path)


BLOCKSCOUT_VIEWS = {"read_contract": "read", "write_contract": "write"}


def read_contract_view(key: bytes) -> ShownContract:
    """Return the contract as the requested view shows it; raises InvalidParameter, NotFound."""
    default = BLOCKSCOUT_VIEWS.get(request.args.get("tab", ""), VIEWS[0])
    view = parameters.one_of(request.args.get("view", default), "view", VIEWS)
    shown = source_files.Shown(request.args.get("file", ""), request.args.get("find", ""))
    return read_contract(key, view, shown=shown)


def units_of(key: bytes, contract: ShownContract, names: records.Names) -> AmountUnits:
    """Return the units in which a contract's page takes amounts: of the coin, of the contract if it
    is a token, and of tokens whose addresses the contract returns."""
    addresses = dict.fromkeys([to_hex(key), *contract.returned_addresses])
    tokens = [token_units((names.get(address) or {}).get("token")) for address in addresses]
    return amount_units(site().chain().symbol, [token for token in tokens if token])


def contract_page(key: bytes, contract: ShownContract, status: int = 200, **more: Any) -> Response:
    """Return the contract tab of an address; `more` are the values of a form."""
    head = addresses_and_tokens.address_head(key, "contract")
    values = _function_values(key, contract, "/address", **more)
    return page("contract.html", status, **{**head, **values})


def token_tab(key: bytes) -> tuple[None, Mapping[str, Any]]:
    """Return the values of the contract tab of a token."""
    values = _function_values(key, read_contract_view(key), "/token")
    del values["token"]  # the page has the token's record
    return None, {"address": to_hex(key), **values}


def _function_values(
    key: bytes, contract: ShownContract, pages: str, **more: Any
) -> dict[str, Any]:
    """Return the values of contract_body.html on the page of `key` below the path `pages`."""
    address = to_hex(key)
    names = records.names_of([], address, *contract.addresses)
    token = token_units((names.get(address) or {}).get("token"))
    shows_form = contract.view == "code" and contract.can_match_better
    compilers = services().verifier.compilers
    solidity = compilers.releases() if shows_form else {}
    vyper = compilers.of(VYPER.kind).releases() if shows_form else {}
    return {
        "contract": contract,
        "contract_path": f"{pages}/{address}",
        "names": names,
        "token": token,
        "token_results": records.ERC20_RESULTS if token else (),
        "units": units_of(key, contract, names),
        "compilers": [*map(dotted, solidity), *(f"vyper:{dotted(v)}" for v in vyper)],
        "form": {},
        "error": None,
        "call": None,
        **more,
    }


MOST_IN_HEAD = 3  # of the implementations of a diamond


def proxy_head(key: bytes, account: Address) -> Shown:
    """Return the values of proxy_head.html: what the code passes calls on to, as far as it is known
    now."""
    is_contract = account.balance.is_contract
    proxy = reader().once(contracts.ProxyAt(key)) if is_contract else None
    addresses = [*map(to_hex, proxy.implementations)] if proxy else []
    values = {
        "is_proxy": bool(proxy or (is_contract and contracts.proxies_among(reader(), [key]))),
        "is_claimed": proxy is not None and proxy.evidence == CLAIM,
        "implementations": addresses,
    }
    return Shown(values, addresses[:MOST_IN_HEAD])
