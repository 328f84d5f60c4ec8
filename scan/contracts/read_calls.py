"""Read-only calls of verified contracts through the node."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError
from scan.contracts.function_calls import (
    Abi,
    NoSuchFunction,
    NotReadOnly,
    PreparedCall,
    prepare,
    result,
    revert_data,
    revert_reason,
)
from scan.contracts.proxy_contracts import Proxy, proxy_at
from scan.database.connection import Database
from scan.errors import CallReverted, InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum.client import AnswerTooLarge, Node, NodeError, RpcError
from scan.hex import BadHex, data, to_hex

GAS = 30_000_000
TIMEOUT_S = 10.0
MAX_ANSWER_BYTES = 20 * 1024 * 1024 + 1024  # 10 MB in hex, and JSON around it
AT_ONCE = 4

_STOPPED = re.compile(
    r"revert|out of gas|gas required|invalid (opcode|jump|instruction)|bad (instruction|jump)"
    r"|stack (under|over)flow|evm error|execution (error|failed|aborted)",
    re.I,
)


class Answer(NamedTuple):
    """`proxy` is set where the implementation's ABI was the one that knew the function."""

    value: Any
    proxy: Proxy | None


class ReadCalls:
    """Calls through the node, few at once: each may hold a server thread for TIMEOUT_S."""

    def __init__(self, database: Database, node: Node) -> None:
        self._database = database
        self._node = node
        self._places = BoundedSemaphore(AT_ONCE)

    def call(self, address: bytes, function: str, arguments: Sequence[object]) -> Answer:
        """Raises NotFound, InvalidParameter, CallReverted, UpstreamFailed, Unavailable."""
        own = self._database.value("contracts/verified_contracts_get_abi", address=address)
        with self._place():
            prepared = _prepared(own, function, arguments) if own else None
            proxy = None if prepared else self._proxy(address)
            abi = self._implementation_abi(proxy)
            if prepared is None and abi is not None:
                prepared = _prepare(abi, function, arguments)
            if prepared is None and own:
                prepared = _prepare(own, function, arguments)
            if prepared is None:
                raise NotFound("The contract at this address is not verified.", field="address")
            returned = self._ask(address, prepared, [each for each in (own, abi) if each])
        return Answer(_decoded(prepared, returned), proxy if abi else None)

    def proxy(self, address: bytes, code: bytes) -> Proxy | None:
        """None also when there is no place to ask the node from."""
        if not self._places.acquire(blocking=False):
            return None
        try:
            return proxy_at(self._node, address, code)
        finally:
            self._places.release()

    def _proxy(self, address: bytes) -> Proxy | None:
        row = self._database.row("contracts/contracts_get_code", address=address)
        return proxy_at(self._node, address, bytes(row[1])) if row else None

    @contextmanager
    def _place(self) -> Iterator[None]:
        if not self._places.acquire(timeout=TIMEOUT_S / 10):
            raise Unavailable("Too many contract calls at once; try again shortly.")
        try:
            yield
        finally:
            self._places.release()

    def _implementation_abi(self, proxy: Proxy | None) -> Abi | None:
        if proxy is None:
            return None
        abi: Abi | None = self._database.value(
            "contracts/verified_contracts_get_abi", address=proxy.implementation
        )
        return abi

    def _ask(self, address: bytes, prepared: PreparedCall, abis: Sequence[Abi]) -> bytes:
        call = {"to": to_hex(address), "data": to_hex(prepared.calldata), "gas": hex(GAS)}
        try:
            answer = self._node.call(
                "eth_call", call, "latest", timeout_s=TIMEOUT_S, most_bytes=MAX_ANSWER_BYTES
            )
            return data(answer)
        except RpcError as error:
            raise _refused(error, abis) from None
        except (NodeError, BadHex):
            raise UpstreamFailed("The node did not answer the call.") from None
        except AnswerTooLarge:
            raise CallReverted("The function returned more than 10 MB.") from None


def _prepared(abi: Abi, function: str, arguments: Sequence[object]) -> PreparedCall | None:
    """None where the ABI does not know the function, so that another may."""
    try:
        return _prepare(abi, function, arguments)
    except _UnknownHere:
        return None


class _UnknownHere(InvalidParameter):
    pass


def _prepare(abi: Abi, function: str, arguments: Sequence[object]) -> PreparedCall:
    try:
        return prepare(abi, function, arguments)
    except NoSuchFunction as error:
        raise _UnknownHere(_sentence(error), field="functionName") from None
    except AbiError as error:
        field = "functionName" if isinstance(error, NotReadOnly) else "args"
        raise InvalidParameter(_sentence(error), field=field) from None


def _sentence(error: AbiError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}." if not text.startswith("args") else f"{text}."


def _refused(error: RpcError, abis: Sequence[Abi]) -> CallReverted | UpstreamFailed:
    """Nodes differ in code and place of the data; what the contract did not do, the node did."""
    returned = revert_data(error.data)
    if returned is not None:
        return CallReverted(revert_reason(returned, abis))
    reason = error.message[:200] if "://" not in error.message else "no reason that can be shown"
    if error.is_revert or _STOPPED.search(error.message):
        return CallReverted(f"The call failed in the contract: {reason}")
    return UpstreamFailed(f"The node refused the call: {reason}")


def _decoded(prepared: PreparedCall, returned: bytes) -> Any:
    if prepared.function.outputs and not returned:
        raise CallReverted("The call returned no data: there is no code for it.")
    try:
        return result(prepared.function, returned)
    except AbiError as error:
        raise CallReverted(f"What the function returned cannot be decoded: {error}.") from None
