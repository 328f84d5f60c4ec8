"""Sourcify's form: the parameters `fields` and `omit`, which select a contract's fields; its
bytecode, errors, and chains in paths and lists.

A transformation replaces bytes of the compiled code, or appends some to it: the constructor's
arguments, or Vyper's immutables. Its value is in transformationValues. What is not known is null:
source maps, and what depends on positions of metadata where embedded contracts have some, too.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from scan.errors import InvalidParameter, LimitReached, NotFound, ScanError
from scan.hex import data, to_hex
from scan.http.interfaces import Interface
from scan.queries.contracts import Contract
from scan.server.responses import WsgiResponse, json_response
from scan.verification.bytecode_comparison import ADDRESS_BYTES
from scan.verification.contract_match import FULL
from scan.verification.languages import language_of_path, vyper

ALWAYS = ("match", "creationMatch", "runtimeMatch", "chainId", "address")
USUAL = ("verifiedAt", "matchId")  # unless omitted
_OF_CODE = ("onchainBytecode", "recompiledBytecode", "sourceMap", "linkReferences", "cborAuxdata")
_COMPARED = ("transformations", "transformationValues")
FIELDS: Mapping[str, tuple[str, ...]] = {
    "creationBytecode": (*_OF_CODE, *_COMPARED),
    "runtimeBytecode": (*_OF_CODE, "immutableReferences", *_COMPARED),
    "deployment": ("transactionHash", "blockNumber", "transactionIndex", "deployer"),
    "compilation": tuple(
        "language compiler compilerVersion compilerSettings name fullyQualifiedName".split()
    ),
    "signatures": ("function", "event", "error"),
    "proxyResolution": ("isProxy", "proxyType", "implementations"),
    **dict.fromkeys(
        """
        sources abi metadata storageLayout transientStorageLayout sourceIds additionalInput userdoc
        devdoc stdJsonInput stdJsonOutput
        """.split(),
        (),
    ),
}

Selection = Mapping[str, tuple[str, ...]]  # selected members by field; () where it has none
ALL: Selection = {**FIELDS, **dict.fromkeys(USUAL, ())}


def selected(arguments: Mapping[str, str]) -> Selection:
    """Return the selected fields; raises InvalidParameter for an unknown field."""
    fields, omit = arguments.get("fields", ""), arguments.get("omit", "")
    if fields and omit:
        raise InvalidParameter("Cannot specify both fields and omit")
    if omit:
        return _all_fields_but(omit.split(","))
    if fields == "all":
        return ALL
    return _selected_fields(fields.split(",") if fields else [])


def _selected_fields(names: list[str]) -> Selection:
    selection: dict[str, tuple[str, ...]] = dict.fromkeys(USUAL, ())
    for name in names:
        if name == "all":
            raise InvalidParameter("Cannot specify 'all' with other fields")
        top, member = _field_and_member(name)
        if top in FIELDS:
            selection[top] = (*selection.get(top, ()), member) if member else FIELDS[top]
    return selection


def _all_fields_but(names: list[str]) -> Selection:
    selection = {**ALL}
    for name in names:
        top, member = _field_and_member(name)
        if member and top in selection:
            selection[top] = tuple(kept for kept in selection[top] if kept != member)
        if not member or not selection.get(top):
            selection.pop(top, None)
    return selection


def _field_and_member(name: str) -> tuple[str, str]:
    top, _, member = name.partition(".")
    if "." in member:
        message = "Field selector cannot have more than one level subselectors"
        raise InvalidParameter(f"{message}: {name[:100]}")
    members = FIELDS.get(top, () if top in (*ALWAYS, *USUAL) else None)
    if members is None or (member and member not in members) or name.endswith("."):
        raise InvalidParameter(f"Field selector {name[:100]} is not a valid field")
    return top, member


CREATION, RUNTIME = "creation", "runtime"
# The values of transformations, by their reason, that have an id.
_GROUPS = {"library": "libraries", "immutable": "immutables", "cborAuxdata": "cborAuxdata"}
_OF_CREATION_CODE = {"onchainBytecode", "recompiledBytecode", *_COMPARED}


def reads_creation(members: Sequence[str]) -> bool:
    """Return whether these members of creationBytecode need the code that created the contract."""
    return not _OF_CREATION_CODE.isdisjoint(members)


def runtime_bytecode(stored: Contract) -> dict[str, Any]:
    code = None if stored.code is None else bytes(stored.code)
    return _bytecode(stored, RUNTIME, code, b"", is_same=stored.has_source)


def creation_bytecode(stored: Contract, creation: bytes | None) -> dict[str, Any]:
    """Return the bytecode; `creation` is that of the chain with the constructor's arguments, None
    where it is not known."""
    arguments = bytes(stored.constructor_arguments or b"")
    is_same = stored.creation_match is not None
    return _bytecode(stored, CREATION, creation, arguments, is_same=is_same)


Layout = Mapping[str, Any]


def _bytecode(
    stored: Contract, kind: str, code: bytes | None, arguments: bytes, *, is_same: bool
) -> dict[str, Any]:
    layout: Layout = orjson.loads(stored.layouts or "{}").get(kind, {})
    is_equal = stored.match == FULL or layout.get("isEqual", False)  # not kept before
    is_known = layout.get("cborAuxdata") is not None or is_equal
    has_immutables_after = language_of_path(stored.path) is vyper.VYPER
    bytecode: dict[str, Any] = {
        name: layout.get(name)
        for name in ("linkReferences", "cborAuxdata", "immutableReferences")
        if kind == RUNTIME or name != "immutableReferences"
    }
    bytecode["onchainBytecode"] = None if code is None else to_hex(code)
    if layout and is_known and is_same and code is not None:
        deployed = code.removesuffix(arguments)
        recompiled = bytearray(deployed)
        transformations: list[dict[str, Any]] = []
        values: dict[str, Any] = {}
        for reason, id_, offset, compiled in _replacements(layout):
            present = deployed[offset : offset + len(compiled)]
            if reason == "cborAuxdata" and present == compiled:
                continue
            transformation = {"type": "replace", "reason": reason, "offset": offset}
            if reason == "immutable" and has_immutables_after:
                transformation["type"], compiled = "insert", b""
            recompiled[offset : offset + len(present)] = compiled
            transformations.append({**transformation, "id": id_} if id_ else transformation)
            if id_:
                values.setdefault(_GROUPS[reason], {})[id_] = to_hex(present)
            else:
                values[reason] = to_hex(present)
        if arguments:
            inserted = {"type": "insert", "reason": "constructorArguments", "offset": len(deployed)}
            transformations.append(inserted)
            values["constructorArguments"] = to_hex(arguments)
        bytecode["recompiledBytecode"] = to_hex(bytes(recompiled))
        bytecode["transformations"] = transformations
        bytecode["transformationValues"] = values
    return bytecode


def _replacements(layout: Layout) -> Iterator[tuple[str, str, int, bytes]]:
    """Yield what may replace bytes of the compiled code: reason, id, offset and these bytes. The
    reason is library, immutable, callProtection or cborAuxdata; the id says which of them."""
    for path, libraries in layout["linkReferences"].items():
        for name, references in libraries.items():
            for reference in references:
                yield "library", f"{path}:{name}", reference["start"], bytes(reference["length"])
    for name, references in layout["immutableReferences"].items():
        for reference in references:
            yield "immutable", name, reference["start"], bytes(reference["length"])
    if layout["isCallGuarded"]:
        yield "callProtection", "", 1, bytes(ADDRESS_BYTES)
    for number, auxdata in (layout["cborAuxdata"] or {}).items():
        yield "cborAuxdata", number, auxdata["offset"], data(auxdata["value"])


_CUSTOM_CODES = {
    "not_found": "route_not_found",
    "rate_limited": "too_many_requests",
    "too_large": "invalid_parameter",
    "unsupported_media_type": "invalid_parameter",
}


class UnsupportedChain(NotFound):
    code = "unsupported_chain"

    def __init__(self, chain_id: str) -> None:
        super().__init__(f"The chain with chainId {chain_id} is not supported")


class JobNotFound(NotFound):
    code = "job_not_found"


class ContractNotDeployed(NotFound):
    code = "contract_not_deployed"


class AlreadyVerified(LimitReached):
    code = "already_verified"


def error_value(code: str, message: str) -> dict[str, str]:
    return {"customCode": code, "message": message, "errorId": str(uuid.uuid4())}


def refuse(error: ScanError) -> WsgiResponse:
    message = "Not found." if error.code == NotFound.code else error.message
    value = error_value(_CUSTOM_CODES.get(error.code, error.code), message)
    return json_response(error.status, value, list(error.headers.items()))


SOURCIFY = Interface(
    refuse,
    paths=frozenset({"/server", "/server/check-all-by-addresses"}),
    prefixes=(
        *("/v2/contract/", "/v2/contracts/", "/v2/verify/", "/chains/"),
        *("/server/v2/", "/server/chains/"),
    ),
    catalogued="/v2",
)


_CHAIN_ID = re.compile(r"[0-9]{1,20}", re.ASCII)


def canonical_id(text: str) -> str:
    """Return a chain id without leading zeros; raises InvalidParameter where it is no number."""
    if not _CHAIN_ID.fullmatch(text):
        raise InvalidParameter("chainId must be a number of at most 20 digits.", field="chainId")
    return text.lstrip("0")
