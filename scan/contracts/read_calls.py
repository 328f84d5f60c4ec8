"""Calls of view and pure functions of verified contracts: their encoding, and their results."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.contracts import abi_decoding, abi_json, revert_reasons
from scan.contracts.abi import MAX_VALUES, AbiError, decode, encode, most_bytes_of
from scan.contracts.proxy_contracts import (
    IN_CODE,
    MAX_TARGETS,
    ROUTER,
    Proxy,
    delegating_account,
    facet_of,
    proxy_at,
    stored_delegation,
)
from scan.database.connection import Database
from scan.errors import (
    CallReverted,
    HistoryUnavailable,
    InvalidParameter,
    NotFound,
    Unavailable,
    UpstreamFailed,
)
from scan.ethereum import request_node
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.node_errors import CallFailure, reverted_with
from scan.ethereum.request_node import NodeSession
from scan.ethereum.served_chain import BlockId
from scan.hex import BadHex, data, to_hex


class PreparedCall(NamedTuple):
    function: abi_json.Function
    calldata: bytes


def prepare(
    entries: abi_json.AbiEntries,
    function: str,
    arguments: Sequence[object],
    others: Sequence[str] = (),
    *,
    read_only: bool = True,
) -> PreparedCall:
    """Encode a call of the function that candidates() returns; of several overloads the only one
    that takes the arguments. Raises AbiError."""
    functions = abi_json.candidates(entries, function, len(arguments), others, read_only=read_only)
    if len(functions) == 1:
        return _encoded(functions[0], arguments)
    calls = []
    for overload in functions:
        with suppress(AbiError):
            calls.append(_encoded(overload, arguments))
    if len(calls) != 1:
        raise AbiError(
            f"the function {function} is overloaded; name one of {abi_json.signatures(functions)}"
        )
    return calls[0]


def result(function: abi_json.Function, data: bytes, most_values: int = MAX_VALUES) -> Any:
    """Return the function's outputs as JSON: an array, the bare value if there is one, None if
    there is none. Raises AbiError if the data does not decode."""
    types = function.outputs
    values = decode(types, data, most_values=most_values, most_bytes=most_bytes_of(data))
    rendered = [*map(abi_json.render, types, values)]
    return rendered[0] if len(rendered) == 1 else rendered or None


def _encoded(function: abi_json.Function, arguments: Sequence[object]) -> PreparedCall:
    values = abi_json.coerce_all(function.inputs, arguments)
    return PreparedCall(function, function.selector + encode(function.inputs, values))


GAS = 30_000_000
OTHER_FACET = "the contract passes this function on to another one than its facet that has it"
FACETS_S = 0.5  # the time for looking up a function in a diamond's facets
MAX_RESPONSE_BYTES = 20 * 1024 * 1024 + 1024  # 10 MB in hex, and JSON around it


class CallResult(NamedTuple):
    """The result of a call as JSON. `proxy` is set if the function is in the implementation's
    ABI, with the `evidence` that it passes the call on there."""

    value: Any
    proxy: Proxy | None
    evidence: str | None


class ReadCalls:
    """Calls functions, with ABIs from the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def call(
        self,
        node: NodeSession,
        address: bytes,
        function: str,
        arguments: Sequence[object],
        block: BlockId,
        *,
        or_latest: bool,
    ) -> CallResult:
        """Call a function on the state that execute() reads. Raises NotFound, InvalidParameter,
        CallReverted, HistoryUnavailable, UpstreamFailed, Unavailable."""
        prepared, proxy = self.prepared(node, address, function, arguments, block, read_only=True)
        call = {"to": to_hex(address), "data": to_hex(prepared.calldata), "gas": hex(GAS)}
        abis = abis_of(address, proxy)
        returned = self.execute(node, call, abis, block, or_latest=or_latest)
        evidence = proxy and proxy.evidence_of(prepared.function.selector)
        return CallResult(value_of(prepared.function, returned), proxy, evidence)

    def prepared(
        self,
        node: NodeSession,
        address: bytes,
        function: str,
        arguments: Sequence[object],
        block: BlockId,
        *,
        read_only: bool,
    ) -> tuple[PreparedCall, Proxy | None]:
        """Encode the call by the contract's own ABI, or else by that of an implementation after
        `block`, which is then in the returned proxy."""
        failure: AbiError | None = None
        for entries, proxy in self._entries(node, address, function, block):
            functions, others = entries["functions"], entries["others"]
            try:
                call = prepare(functions, function, arguments, others, read_only=read_only)
                if proxy is not None:
                    selector = call.function.selector
                    facet = proxy.routes.get(selector)
                    if facet is None and proxy.kind == "eip2535":
                        facet = _facet_of(node, address, selector, block)
                    is_unknown = facet is None and proxy.kind != ROUTER
                    if not is_unknown and facet != proxy.implementation:
                        raise abi_json.NoSuchFunction(OTHER_FACET)
            except AbiError as error:  # an implementation may have it, or another overload
                if failure is None or isinstance(failure, abi_json.NoSuchFunction):
                    failure = error
            else:
                return call, proxy
        if failure is not None:
            raise _bad_request(failure)
        raise NotFound("The contract at this address is not verified.", field="address")

    def _entries(
        self, node: NodeSession, address: bytes, function: str, block: BlockId
    ) -> Iterator[tuple[dict[str, Any], Proxy | None]]:
        """The function's entries in the ABI of the contract after a block, and then of each
        implementation, as far as they are verified and read within FACETS_S."""
        if (entries := self._function(address, function, block.number)) is not None:
            yield entries, None
        for proxy in self.proxies(node, address, block):
            ends_at = time.monotonic() + FACETS_S
            for implementation in proxy.implementations:
                delegated = self._function(implementation, function, block.number)
                if delegated is not None:
                    yield delegated, proxy._replace(implementation=implementation, others=())
                    if time.monotonic() > ends_at:
                        return

    def proxies(self, node: NodeSession, address: bytes, block: BlockId) -> Iterator[Proxy]:
        """Yield the proxy at an address after a block, and that which its implementation's code is
        where it runs there, and so on."""
        code_address, is_clone = address, True
        for _ in range(MAX_TARGETS):
            proxy = self._proxy_at(node, address, code_address, block, has_claims=is_clone)
            if proxy is None or proxy.implementation == code_address:
                return
            yield proxy
            if proxy.others:
                return
            code_address, is_clone = proxy.implementation, proxy.kind in IN_CODE

    def _proxy_at(
        self,
        node: NodeSession,
        address: bytes,
        code_address: bytes,
        block: BlockId,
        *,
        has_claims: bool,
    ) -> Proxy | None:
        """Return the proxy that the code of an address is at another one. Unless it `has_claims`,
        one whose code is not known is none: what it runs for may say the same."""
        at = {"address": code_address, "block_number": block.number}
        row = self._database.row("contracts/codes_get_delegation", **at)
        if row is None:
            return delegating_account(node, code_address, block)
        delegation = stored_delegation(*row)
        if code_address != address:  # what it passed on itself
            delegation = delegation._replace(calls=())
        if not (has_claims or delegation.way):
            return None
        return proxy_at(node, address, delegation, block)

    def _function(self, address: bytes, function: str, block: int) -> dict[str, Any] | None:
        """Return the ABI's entries of the function as `functions`, and the names of all functions
        as `others`; None if the contract after the block is not verified."""
        entries: dict[str, Any] | None = self._database.value(
            "contracts/verified_contracts_list_functions",
            address=address,
            block_number=block,
            function_name=abi_json.name_of(function),
        )
        return entries

    def execute(
        self,
        node: NodeSession,
        call: dict[str, str],
        abis: Sequence[bytes],
        block: BlockId,
        *,
        or_latest: bool,
    ) -> bytes:
        """Return the data that the call returned after a block; `or_latest`: on the node's latest
        state where it keeps none of the block, as while old ones are indexed. Errors are decoded by
        the ABIs of the contracts at the addresses `abis` after the block."""
        try:
            eth_call = Call("eth_call", (call, block))
            try:
                [returned] = request_node.read(node, block, [eth_call], MAX_RESPONSE_BYTES)
            except HistoryUnavailable:
                if not or_latest:
                    raise
                [returned] = node.results([Call("eth_call", (call, "latest"))], MAX_RESPONSE_BYTES)
            if isinstance(returned, RpcError):
                raise returned
            return data(returned)
        except AnswerTooLarge:
            raise CallReverted("The function returned more than 10 MB.") from None
        except RpcError as error:
            raise self._failed(error, abis, block) from None
        except BadHex:
            raise UpstreamFailed("The node's response to the call is not valid.") from None

    def _failed(
        self, error: RpcError, abis: Sequence[bytes], block: BlockId
    ) -> CallReverted | UpstreamFailed:
        """Return the error of a failed call: CallReverted where the contract failed, UpstreamFailed
        where the node may be at fault. Nodes differ in their codes and in where the data is."""
        failure = reverted_with(error.data)
        if failure is not None:
            statement = "contracts/verified_contracts_get_errors"
            columns = [{"address": a, "block_number": block.number} for a in abis]
            errors = (self._database.value(statement, **column) for column in columns)
            return reverted(failure, [abi_decoding.index_abi(error or ()) for error in errors])
        reason = shown_reason(error)
        if error.is_refusal:
            return CallReverted(f"The call failed in the contract: {reason}")
        return UpstreamFailed(f"The node rejected the call: {reason}")


def _facet_of(node: NodeSession, address: bytes, selector: bytes, block: BlockId) -> bytes | None:
    """Return the facet that a diamond names for a function; None where it or the node does not."""
    with suppress(UpstreamFailed, Unavailable, BadHex):
        return facet_of(node.within(FACETS_S), address, selector, block)
    return None


def abis_of(address: bytes, proxy: Proxy | None) -> tuple[bytes, ...]:
    return (address, proxy.implementation) if proxy else (address,)


def _bad_request(error: AbiError) -> InvalidParameter:
    text = str(error)[:2000]  # it may list overloads, whose types may have any length
    sentence = f"{text}." if text.startswith("args") else f"{text[:1].upper()}{text[1:]}."
    names_function = isinstance(error, abi_json.NoSuchFunction | abi_json.NotReadOnly)
    return InvalidParameter(sentence, field="functionName" if names_function else "args")


def reverted(failure: CallFailure, abis: Sequence[abi_decoding.AbiIndex]) -> CallReverted:
    """Return the error of a reverted call, by the ABIs of errors, or with the start of the data
    where none of them decodes it."""
    reason = revert_reasons.decode_reason(failure, abis, {}, abi_decoding.DecodingBudget())
    if reason.kind == revert_reasons.UNKNOWN_DATA:
        data_text = f"{to_hex(reason.data[:256])}{'…' if reason.data_size > 256 else ''}"
        return CallReverted(f"The call reverted with data {data_text}")
    if reason.decoded is None:
        return CallReverted(reason.sentence)
    record = reason.decoded.record()
    del record["source"]
    return CallReverted(reason.sentence, record)


def shown_reason(error: RpcError) -> str:
    """Return the start of a node's words, unless they may have its URL, often with a key."""
    message = error.message[:1000]
    return message[:200] if "://" not in message else "the node's reason is not shown"


def value_of(function: abi_json.Function, returned: bytes, most_values: int = MAX_VALUES) -> Any:
    """Return the function's result as JSON. Raises CallReverted where the data does not decode."""
    if function.outputs and not returned:
        raise CallReverted("The call returned no data.")
    try:
        return result(function, returned, most_values)
    except AbiError as error:
        raise CallReverted(f"The function's return data cannot be decoded: {error}.") from None
