"""Values of a verified contract's view functions without arguments, at the newest block."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError
from scan.contracts.abi_json import MAX_NAME, READ_ONLY, AbiEntries, Function, function_of
from scan.contracts.proxy_contracts import CLONES, ROUTER, Proxy
from scan.contracts.read_calls import value_of
from scan.errors import NotFound, ScanError
from scan.ethereum import client, request_node
from scan.ethereum.served_chain import BlockId
from scan.hex import BadHex, data, to_hex
from scan.queries import blocks, contracts
from scan.queries.reader import Reader

FUNCTIONS = frozenset({"interface", contracts.BUILT_ABI})  # the columns that have them
MOST_FUNCTIONS = 40
TOTAL_GAS = 60_000_000  # of all calls together: a contract can have it burnt at every request
TIMEOUT_S = 2.0
MOST_VALUES = 1000  # of one function
MAX_FACETS_CHARACTERS = 1024 * 1024  # of all ABIs together; a single one may have as many
MAX_RESPONSE_BYTES = 256 * 1024  # of all calls together

ROLE_ADMIN = "getRoleAdmin"  # of AccessControl, of the roles that constants name

TOO_MUCH = "It returned more than is read at once; call it by itself."
FAILED = "The call failed or ran out of gas here; call the function on its own."


class Output(NamedTuple):
    name: str
    type: str


class Value(NamedTuple):
    """The value of one function: `result` as JSON, or else an `error`."""

    signature: str
    outputs: Sequence[Output]
    result: Any = None
    error: str | None = None


class ContractValues(NamedTuple):
    """`values` include the functions of a proxy's `implementation`; `is_complete` is False where
    functions were left out beyond MOST_FUNCTIONS."""

    block: int
    values: Sequence[Value]
    implementation: bytes | None
    is_complete: bool


class _Getter(NamedTuple):
    function: Function
    outputs: Sequence[Output]


def get(reader: Reader, address: bytes) -> ContractValues:
    """Return a contract's values; raises NotFound if it is not verified, and as read() does."""
    contract, _ = contracts.get_with_proxy(reader, address, FUNCTIONS)
    own_abis = [] if contract.interface is None else [json.loads(contract.interface)]
    block = blocks.or_newest(reader, None)
    proxies = [*reader.sources.read_calls.proxies(reader.node, address, block)]
    if proxies:
        reader.do_not_cache()
    abis = [*own_abis, *(abi for proxy in proxies for abi in implementation_abis(reader, proxy))]
    if not abis:
        raise NotFound("The contract at this address is not verified.")
    return read(reader, address, abis, proxies[-1] if proxies else None)


def implementation_abis(reader: Reader, proxy: Proxy | None) -> list[AbiEntries]:
    """Return the ABIs of a proxy's verified implementations, up to MAX_FACETS_CHARACTERS; none for
    a clone, which has its implementation's ABI as its own."""
    if proxy is None or proxy.kind in CLONES:
        return []
    abis: list[AbiEntries] = []
    characters_left = MAX_FACETS_CHARACTERS
    for address in proxy.implementations:
        text = contracts.get(reader, address, FUNCTIONS).interface
        characters_left -= len(text or "")
        if abis and characters_left < 0:
            break
        if text is not None:
            entries = json.loads(text)
            if proxy.others:
                known = (address,) if proxy.kind == ROUTER else (address, None)
                entries = [e for e in entries if _route(proxy, e) in known]
            abis.append(entries)
    return abis


def _route(proxy: Proxy, entry: dict[str, Any]) -> bytes | None:
    """Return the contract that runs an ABI's function for the proxy, by traces; None where it is
    not known."""
    try:
        is_function = entry.get("type") == "function"
        return proxy.routes.get(function_of(entry).selector) if is_function else None
    except AbiError:
        return None


def read(
    reader: Reader, address: bytes, abis: Sequence[AbiEntries], proxy: Proxy | None
) -> ContractValues:
    """Return the values in the order of the ABIs. Raises NotFound before the first block,
    UpstreamFailed, Unavailable, HistoryUnavailable."""
    block = blocks.or_newest(reader, None)
    getters = list(islice(_getters(abis), MOST_FUNCTIONS + 1))
    called = [getter.function.selector for getter in getters[:MOST_FUNCTIONS]]
    returned = _call_all(reader, address, called, block)
    values = [_value(getter, result) for getter, result in zip(getters, returned, strict=False)]
    entries = [entry for abi in abis for entry in abi]
    return ContractValues(
        block.number,
        [*values, *_role_admins(reader, address, entries, values, block)],
        (proxy and proxy.implementation) or None,
        len(getters) <= MOST_FUNCTIONS,
    )


def _getters(abis: Sequence[AbiEntries]) -> Iterator[_Getter]:
    """Return view functions without arguments; of equal signatures the first ABI's alone."""
    signatures = set()
    for entry in (entry for abi in abis for entry in abi):
        if entry.get("type") != "function" or entry.get("inputs") or not entry.get("outputs"):
            continue
        try:
            function = function_of(entry)
        except AbiError:
            continue
        if function.mutability in READ_ONLY and function.signature not in signatures:
            signatures.add(function.signature)
            names = (str(output.get("name") or "")[:MAX_NAME] for output in entry["outputs"])
            types = (output.name for output in function.outputs)
            yield _Getter(function, [*map(Output, names, types)])


def _role_admins(
    reader: Reader, address: bytes, entries: AbiEntries, values: Sequence[Value], block: BlockId
) -> Iterator[Value]:
    """Yield what getRoleAdmin(bytes32) returns of the roles among a contract's values."""
    admin = next((e for e in entries if e.get("name") == ROLE_ADMIN), None)
    function = admin and function_of(admin)
    if not function or function.signature != f"{ROLE_ADMIN}(bytes32)":
        return
    role_values = (v for v in values if v.signature.endswith("_ROLE()") and v.result)
    roles = {v.signature: data(v.result) for v in role_values if v.outputs[0].type == "bytes32"}
    called = [function.selector + role for role in roles.values()]
    results = _call_all(reader, address, called, block)
    for signature, result in zip(roles, results, strict=True):
        getter = _Getter(function, [Output("", "bytes32")])
        yield _value(getter, result)._replace(signature=f"{ROLE_ADMIN}({signature[:-2]})")


def _call_all(
    reader: Reader, address: bytes, calldata: Sequence[bytes], block: BlockId
) -> list[Any]:
    gas = hex(TOTAL_GAS // max(len(calldata), 10))
    calls = [
        client.Call("eth_call", ({"to": to_hex(address), "data": to_hex(sent), "gas": gas}, block))
        for sent in calldata
    ]
    return request_node.read(reader.node.within(TIMEOUT_S), block, calls, MAX_RESPONSE_BYTES)


def _value(getter: _Getter, returned: Any) -> Value:
    value = Value(getter.function.signature, getter.outputs)
    if isinstance(returned, client.AnswerTooLarge):
        return value._replace(error=TOO_MUCH)
    if isinstance(returned, client.RpcError):
        reason = FAILED if returned.is_refusal else "The node refused the call."
        return value._replace(error=reason)
    try:
        return value._replace(result=value_of(getter.function, data(returned), MOST_VALUES))
    except ScanError as error:
        return value._replace(error=error.message)
    except BadHex:
        return value._replace(error="The node's response is not valid.")
