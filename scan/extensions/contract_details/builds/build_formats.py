"""The files of builds, as Foundry, Hardhat, Truffle, Ape and the compilers write them.

Four forms hold what all of them write: a compilation's output, in solc's standard JSON, with or
without its input (build-info of Foundry and Hardhat 2, and of Hardhat 3 in two files); an artifact
of one contract (Foundry, Hardhat, Truffle); Ape's contract types, alone or in a manifest; and
Vyper's combined JSON. Files of strangers: what does not fit its form is no build.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from scan.cached_values import json_decoder
from scan.extensions.contract_details.builds.build_folders import read_json
from scan.verification import bytecode_comparison, settings_search
from scan.verification.languages import language_of_path
from scan.verification.languages.vyper import SUFFIX as VYPER_SUFFIX
from scan.verification.languages.vyper import VYPER, immutable_size

# Where code is linked: 40 characters, which begin with two underscores.
_PLACEHOLDER = re.compile(r"__.{38}")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
OUTPUT_SUFFIX = ".output.json"  # of Hardhat 3, whose input is in the file without it
MAX_CODE_BYTES = 2 * 1024 * 1024  # as of deployed code
MAX_CONTRACTS = 10_000  # in a file
MAX_PLACES = 10_000  # of libraries and of immutables in a code
PLACE_BYTES = 200  # of memory, measured
# What reading values of other types than expected raises.
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, RecursionError)


class NoBuild(ValueError):
    """A file is none of a build, or is malformed; the message says why."""


class Reference(msgspec.Struct):
    start: int
    length: int


Links = dict[str, dict[str, list[Reference]]]  # of libraries' names by their files


class Code(msgspec.Struct, rename="camel"):
    object: str = ""
    link_references: Links | None = None
    immutable_references: dict[str, list[Reference]] | None = None
    source_map: Any = None


class BuiltContract(NamedTuple):
    """A contract of a build. `form` says how its file has it, and `language` and `version` what
    compiled it; the version may be empty. `abi` is JSON. `creation` has no references. `selectors`
    are by signature, where the file has them."""

    file: Path
    form: str
    path: str
    name: str
    language: str
    version: str
    runtime: bytecode_comparison.LinkedCode
    abi: bytes
    creation: Code
    selectors: Mapping[str, str] | None = None

    @property
    def size(self) -> int:
        ranges = (*self.runtime.links.values(), *self.runtime.immutables.values())
        return len(self.abi) + len(self.runtime.code) + PLACE_BYTES * sum(map(len, ranges))


COMPILATION, ARTIFACT, TYPE, COMBINED = "compilation", "artifact", "type", "combined"


class _Evm(msgspec.Struct, rename="camel"):
    bytecode: Code | None = None
    deployed_bytecode: Code | None = None
    method_identifiers: dict[str, str] | None = None


class _Contract(msgspec.Struct):
    """A contract in a compilation's output."""

    abi: msgspec.Raw = msgspec.Raw(b"[]")
    evm: _Evm | None = None
    metadata: str | dict[str, Any] | None = None


_Contracts = dict[str, dict[str, _Contract]]


class _Output(msgspec.Struct):
    contracts: _Contracts = {}


class _ApeCode(msgspec.Struct):
    bytecode: str | None = None


class _ApeType(msgspec.Struct, rename="camel"):
    contract_name: str = ""
    source_id: str | None = None
    abi: msgspec.Raw = msgspec.Raw(b"[]")
    deployment_bytecode: _ApeCode | None = None
    runtime_bytecode: _ApeCode | None = None


class ApeCompiler(msgspec.Struct, rename="camel"):
    version: str = ""
    settings: dict[str, Any] | None = None
    contract_types: list[str] | None = None


class _ApeSource(msgspec.Struct):
    """A file, as text or as lines by their numbers."""

    content: str | dict[int, str] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, dict):
            return "\n".join(self.content[number] for number in sorted(self.content))
        return self.content or ""


class BuildFile(_ApeType, rename="camel"):
    """All fields that are read of a build's file, of whatever form. Ape's are a type alone,
    or have several."""

    solc_long_version: str = ""
    solc_version: str = ""
    input: dict[str, Any] | None = None
    output: _Output | None = None
    contracts: _Contracts | None = None
    compiler: str | dict[str, Any] | None = None
    source_name: str | None = None
    source_path: str | None = None
    bytecode: str | Code | None = None
    deployed_bytecode: str | Code | None = None
    link_references: Links | None = None
    deployed_link_references: Links | None = None
    immutable_references: dict[str, list[Reference]] | None = None
    method_identifiers: dict[str, str] | None = None
    metadata: str | dict[str, Any] | None = None
    raw_metadata: str | None = None
    contract_types: dict[str, _ApeType] | None = None
    sources: msgspec.Raw = msgspec.Raw(b"{}")
    compilers: list[ApeCompiler] | None = None


class _Combined(msgspec.Struct):
    """A contract in Vyper's combined JSON."""

    bytecode: str = ""
    bytecode_runtime: str = ""
    abi: msgspec.Raw = msgspec.Raw(b"[]")
    settings_dict: dict[str, Any] | None = None


_decode_file = json_decoder(BuildFile).decode


def read_file(file: Path) -> BuildFile:
    """Return the fields of a build's file. Raises NoBuild, OSError."""
    return _decoded(read_json(file))


def _decoded(content: bytes) -> BuildFile:
    try:
        return _decode_file(content)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise NoBuild(str(error)) from None


def contracts_of(file: Path) -> list[BuiltContract]:
    """Return the contracts in a build's file that have code. Raises NoBuild, OSError."""
    content = read_json(file)
    decoded = _decoded(content)
    try:
        contracts = [*islice(_contracts(file, decoded, content), MAX_CONTRACTS + 1)]
    except MALFORMED as error:
        raise NoBuild(str(error)) from None
    if len(contracts) > MAX_CONTRACTS:
        raise NoBuild(f"it has more than {MAX_CONTRACTS} contracts")
    return contracts


def _contracts(file: Path, decoded: BuildFile, content: bytes) -> Iterator[BuiltContract]:
    outputs = decoded.output.contracts if decoded.output else decoded.contracts
    if outputs is not None:
        yield from _compiled(file, decoded, outputs)
    elif decoded.deployed_bytecode is not None:
        yield from _artifact_contracts(file, decoded)
    elif decoded.contract_types is not None or decoded.runtime_bytecode is not None:
        yield from _typed_contracts(file, decoded)
    elif b'"bytecode_runtime"' in content:
        yield from _combined_contracts(file, content)


def _compiled(file: Path, decoded: BuildFile, outputs: _Contracts) -> Iterator[BuiltContract]:
    language = str((decoded.input or {}).get("language") or "")
    stated = decoded.solc_long_version or decoded.solc_version
    if isinstance(decoded.compiler, str):  # "vyper-0.4.3", of Vyper's standard JSON
        stated = stated or decoded.compiler.partition("-")[2]
    stated = stated or str((decoded.input or {}).get("version") or "")
    for path, contracts in outputs.items():
        language_name = language or language_of_path(path).name
        for name, contract in contracts.items():
            code = contract.evm.deployed_bytecode if contract.evm else None
            if contract.evm is None or code is None or not code.object:
                continue
            compiler = metadata_of(contract.metadata).get("compiler", {})
            version = stated or str(compiler.get("version") or "")
            creation = contract.evm.bytecode or Code()
            runtime = _runtime(language_name, creation.object, code, version)
            at = file, COMPILATION, path, name, language_name, version
            selectors = contract.evm.method_identifiers
            yield BuiltContract(*at, runtime, bytes(contract.abi), creation, selectors)


def _artifact_contracts(file: Path, decoded: BuildFile) -> Iterator[BuiltContract]:
    code, creation = decoded.deployed_bytecode, decoded.bytecode
    if not isinstance(code, Code):
        code = Code(code or "", decoded.deployed_link_references, decoded.immutable_references)
    if not isinstance(creation, Code):
        creation = Code(creation or "", decoded.link_references)
    metadata = metadata_of(decoded.raw_metadata or decoded.metadata)
    target = metadata.get("settings", {}).get("compilationTarget", {})
    stated = decoded.source_name or decoded.source_path or file.parent.name
    path, name = next(iter(target.items()), (stated, decoded.contract_name or file.stem))
    path, name = str(path), str(name)
    version = str(metadata.get("compiler", {}).get("version") or "")
    language = str(metadata.get("language") or language_of_path(path).name)
    if code.object.removeprefix("0x"):
        runtime, abi = linked(code), bytes(decoded.abi)
        at = file, ARTIFACT, path, name, language, version
        yield BuiltContract(*at, runtime, abi, creation, decoded.method_identifiers)


def _typed_contracts(file: Path, decoded: BuildFile) -> Iterator[BuiltContract]:
    types = dict(decoded.contract_types or {})
    if decoded.runtime_bytecode is not None:
        types[decoded.contract_name] = decoded
    for name, type_ in types.items():
        text = _text(type_.runtime_bytecode)
        if not text.removeprefix("0x"):
            continue
        compiler = ape_compiler_of(decoded, name)
        version = compiler.version if compiler else ""
        path = type_.source_id or name
        language = language_of_path(path).name
        abi = bytes(type_.abi)
        creation = _text(type_.deployment_bytecode)
        runtime = _runtime(language, creation, Code(text), version)
        yield BuiltContract(file, TYPE, path, name, language, version, runtime, abi, Code(creation))


def _text(code: _ApeCode | None) -> str:
    return (code.bytecode if code else None) or ""


def _combined_contracts(file: Path, content: bytes) -> Iterator[BuiltContract]:
    members = json_decoder(dict[str, msgspec.Raw]).decode(content)
    version = json_decoder(str).decode(members.pop("version", b'""'))
    for path, member in members.items():
        if path.endswith(VYPER_SUFFIX):
            contract = json_decoder(_Combined).decode(member)
            if contract.bytecode_runtime.removeprefix("0x"):
                name, abi = PurePosixPath(path).stem, bytes(contract.abi)
                creation, code = Code(contract.bytecode), Code(contract.bytecode_runtime)
                runtime = _runtime(VYPER.name, creation.object, code, version)
                at = file, COMBINED, path, name, VYPER.name, version
                yield BuiltContract(*at, runtime, abi, creation)


def combined_settings(built: BuiltContract) -> dict[str, Any]:
    """Return the settings of a contract in combined JSON as standard JSON has them; none of a
    release that does not give them. Raises OSError, and what MALFORMED lists."""
    members = json_decoder(dict[str, msgspec.Raw]).decode(read_json(built.file))
    contract = json_decoder(_Combined).decode(members.get(built.path, b"{}"))
    settings = contract.settings_dict or {}
    names = {"evm_version": "evmVersion", "experimental_codegen": "experimentalCodegen"}
    return {names.get(name, name): value for name, value in settings.items()}


def metadata_of(metadata: str | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the compiler's metadata, which some tools write as text; none for Yul and Vyper."""
    if isinstance(metadata, str):
        return json_decoder(dict[str, Any]).decode(metadata) if metadata else {}
    return metadata or {}


def ape_compiler_of(decoded: BuildFile, name: str) -> ApeCompiler | None:
    compilers = decoded.compilers or ()
    return next((c for c in compilers if name in (c.contract_types or ())), None)


def ape_sources_of(decoded: BuildFile) -> dict[str, str]:
    """Return the files in a manifest. Raises NoBuild."""
    try:
        sources = json_decoder(dict[str, _ApeSource]).decode(decoded.sources)
    except msgspec.MsgspecError as error:
        raise NoBuild(str(error)) from None
    return {path: source.text for path, source in sources.items() if source.text}


def linked(code: Code) -> bytecode_comparison.LinkedCode:
    """Return code with zeros where libraries are linked. A build that does not say where immutables
    are, as Ape's, has them where solc reserves their places. Raises ValueError where it is not hex,
    above the bounds, or has links and immutables where solc has none: they are the operands of
    PUSH20 and PUSH32, and a place of any other form would be equal to any code.

    Before 0.5 a placeholder is the library's name, cut to 36 characters: which library it stands
    for only the references say, and without them each place is a library of its own."""
    text, immutables = code.object.removeprefix("0x"), code.immutable_references
    names = {
        reference.start: f"{file}:{name}"
        for file, libraries in (code.link_references or {}).items()
        for name, references in libraries.items()
        for reference in references
    }
    if len(text) > 2 * MAX_CODE_BYTES:
        raise ValueError("the code is longer than that of any chain")
    placeholders = [*islice(_PLACEHOLDER.finditer(text), MAX_PLACES + 1)]
    if len(placeholders) + sum(map(len, (immutables or {}).values())) > MAX_PLACES:
        raise ValueError(f"the code has more than {MAX_PLACES} links and immutables")
    links: defaultdict[str, list[bytecode_comparison.ByteRange]] = defaultdict(list)
    for placeholder in placeholders:
        start, half = divmod(placeholder.start(), 2)
        if half or text[2 * start - 2 : 2 * start] != f"{bytecode_comparison.PUSH20:02x}":
            raise ValueError("a link is no operand of PUSH20")
        is_hash = placeholder[0].startswith("__$")
        name = names.get(start) or (placeholder[0] if is_hash else f"{placeholder[0]}{start}")
        links[name].append(
            bytecode_comparison.ByteRange(start, start + bytecode_comparison.ADDRESS_BYTES)
        )
    linked_code = bytes.fromhex(_PLACEHOLDER.sub("00" * bytecode_comparison.ADDRESS_BYTES, text))
    ranges = {
        name: tuple(bytecode_comparison.ByteRange(r.start, r.start + r.length) for r in references)
        for name, references in (immutables or {}).items()
    }
    if immutables is None:
        reserved = islice(_reserved(linked_code), MAX_PLACES)
        ranges = {str(place.start): (place,) for place in reserved}
    for start, end in (place for places in ranges.values() for place in places):
        if not 0 < start <= end <= len(linked_code):
            raise ValueError("an immutable is outside of the code")
        if linked_code[start - 1 : end] != bytes([bytecode_comparison.PUSH32, *bytes(32)]):
            raise ValueError("an immutable is no operand of PUSH32")
    library_places = {name: tuple(places) for name, places in links.items()}
    return bytecode_comparison.LinkedCode(linked_code, library_places, ranges)


def _reserved(code: bytes) -> Iterator[bytecode_comparison.ByteRange]:
    """Yield the places in which solc has an immutable's value written at deployment: a PUSH32 of
    zeros, where it would write a zero itself in a byte or two."""
    offset = 0
    while offset < len(code):
        end = offset + 1 + bytecode_comparison.operand_size(code, offset)
        if code[offset] == bytecode_comparison.PUSH32 and code[offset + 1 : end] == bytes(32):
            yield bytecode_comparison.ByteRange(offset + 1, end)
        offset = end


def _runtime(
    language: str, creation: str, code: Code, version: str
) -> bytecode_comparison.LinkedCode:
    """Return runtime code, that of Vyper with a range for the immutables that follow it. Raises
    ValueError as linked() does, and where these are longer than the code, which would be equal to
    any code that begins like it."""
    if language != VYPER.name:
        return linked(code)
    linked_code = linked(Code(code.object, immutable_references={}))
    end = len(linked_code.code)
    size = immutable_size(creation.removeprefix("0x"), None, _numbers(version))
    if not 0 <= size <= end:
        raise ValueError("the immutables are longer than the code")
    places = {"0": (bytecode_comparison.ByteRange(end, end + size),)} if size else {}
    return linked_code._replace(code=linked_code.code + bytes(size), immutables=places)


def _numbers(version: str) -> settings_search.SolcVersion:
    numbers = _VERSION.search(version)
    major, minor, patch = map(int, numbers[0].split(".")) if numbers else (0, 0, 0)
    return major, minor, patch
