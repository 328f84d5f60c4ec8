"""Read-only calls of verified contracts through the node."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError
from scan.contracts.function_calls import (
    NoSuchFunction,
    NotReadOnly,
    PreparedCall,
    name_of,
    prepare,
    result,
    revert_data,
    revert_reason,
)
from scan.contracts.proxy_contracts import Proxy, proxy_at
from scan.database.connection import Database
from scan.errors import CallReverted, InvalidParameter, NotFound, UpstreamFailed
from scan.ethereum import past_state
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.gateway import NodeSession
from scan.hex import BadHex, data, to_hex

GAS = 30_000_000
MAX_ANSWER_BYTES = 20 * 1024 * 1024 + 1024  # 10 MB in hex, and JSON around it

_STOPPED = re.compile(
    r"revert|out of gas|gas required|invalid (opcode|jump|instruction)|bad (instruction|jump)"
    r"|stack (under|over)flow|evm error|execution (error|failed|aborted)",
    re.I,
)


class CallResult(NamedTuple):
    """`proxy` is set where it is the implementation's ABI that has the function."""

    value: Any
    proxy: Proxy | None


class ReadCalls:
    """Calls through the node, by ABIs of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def call(
        self,
        node: NodeSession,
        address: bytes,
        function: str,
        arguments: Sequence[object],
        block: BlockId | None = None,
    ) -> CallResult:
        """After a block, or at the node's newest. Raises NotFound, InvalidParameter, CallReverted,
        HistoryUnavailable, UpstreamFailed, Unavailable.
        """
        try:
            prepared, proxy = self._prepared(node, address, function, arguments)
        except AbiError as error:
            raise _bad_request(error) from None
        abis = (address, proxy.implementation) if proxy else (address,)
        return CallResult(
            _decoded(prepared, self._ask(node, address, prepared, abis, block)), proxy
        )

    def _prepared(
        self, node: NodeSession, address: bytes, function: str, arguments: Sequence[object]
    ) -> tuple[PreparedCall, Proxy | None]:
        """By the contract's own ABI first, then by its implementation's."""
        own = self._function(address, function)
        with suppress(NoSuchFunction):
            if own is not None:
                return _prepare(own, function, arguments), None
        row = self._database.row("contracts/contracts_get_code", address=address)
        proxy = proxy_at(node, address, bytes(row[1])) if row else None
        lent = self._function(proxy.implementation, function) if proxy else None
        if lent is not None:
            return _prepare(lent, function, arguments), proxy
        if own is not None:
            return _prepare(own, function, arguments), None
        raise NotFound("The contract at this address is not verified.", field="address")

    def _function(self, address: bytes, function: str) -> dict[str, Any] | None:
        """What the statement gives; None where the contract is not verified."""
        found: dict[str, Any] | None = self._database.value(
            "contracts/verified_contracts_get_function",
            address=address,
            function_name=name_of(function),
        )
        return found

    def _ask(
        self,
        node: NodeSession,
        address: bytes,
        prepared: PreparedCall,
        abis: Sequence[bytes],
        block: BlockId | None,
    ) -> bytes:
        """What the node returns; errors are decoded by the ABIs of the addresses `abis`."""
        call = {"to": to_hex(address), "data": to_hex(prepared.calldata), "gas": hex(GAS)}
        try:
            if block is None:
                returned = node.call("eth_call", call, "latest", most_bytes=MAX_ANSWER_BYTES)
            else:
                called = Call("eth_call", (call, block))
                [returned] = past_state.read(node, block, [called], MAX_ANSWER_BYTES)
                if isinstance(returned, RpcError):
                    raise returned
            return data(returned)
        except AnswerTooLarge:
            raise CallReverted("The function returned more than 10 MB.") from None
        except RpcError as error:
            raise self._refused(error, abis) from None
        except BadHex:
            raise UpstreamFailed("The node did not answer the call.") from None

    def _refused(self, error: RpcError, abis: Sequence[bytes]) -> CallReverted | UpstreamFailed:
        """Nodes differ in the code and place of the data; what has none may be their own fault."""
        returned = revert_data(error.data)
        if returned is None:
            return _failed(error)
        statement = "contracts/verified_contracts_get_errors"
        found = [self._database.value(statement, address=each) or [] for each in abis]
        return CallReverted(revert_reason(returned, found))


def _prepare(found: dict[str, Any], function: str, arguments: Sequence[object]) -> PreparedCall:
    return prepare(found["functions"], function, arguments, found["others"])


def _bad_request(error: AbiError) -> InvalidParameter:
    text = str(error)[:2000]  # it may name overloads, whose types may be of any length
    sentence = f"{text}." if text.startswith("args") else f"{text[:1].upper()}{text[1:]}."
    names_function = isinstance(error, NoSuchFunction | NotReadOnly)
    return InvalidParameter(sentence, field="functionName" if names_function else "args")


def stopped_in_contract(error: RpcError) -> bool:
    """Whether the contract failed, not the node: nodes differ in code and words."""
    return error.is_revert or bool(_STOPPED.search(error.message[:1000]))


def _failed(error: RpcError) -> CallReverted | UpstreamFailed:
    message = error.message[:1000]
    reason = message[:200] if "://" not in message else "no reason that can be shown"
    if stopped_in_contract(error):
        return CallReverted(f"The call failed in the contract: {reason}")
    return UpstreamFailed(f"The node refused the call: {reason}")


def _decoded(prepared: PreparedCall, returned: bytes) -> Any:
    if prepared.function.outputs and not returned:
        raise CallReverted("The call returned no data: there is no code for it.")
    try:
        return result(prepared.function, returned)
    except AbiError as error:
        raise CallReverted(f"What the function returned cannot be decoded: {error}.") from None
