"""The files of builds, as Foundry, Hardhat and the compilers write them.

Two forms hold what they write: a compilation's output, in standard JSON of solc or Vyper, with or
without its input (build-info of Foundry and Hardhat 2, and of Hardhat 3 in two files), and
Foundry's artifact of one contract. Hardhat's artifacts have nothing that its build-info lacks, and
are left out. Files of strangers: what does not fit its form is no build.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from scan.cached_values import json_decoder
from scan.extensions.contract_details.builds.build_folders import read_json
from scan.verification import bytecode_comparison, settings_search
from scan.verification.languages import language_of_path
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
    """A contract of a build. `language` and `version` say what compiled it; the version may be
    empty. `abi` is JSON. `selectors` are by signature, where the file has them."""

    file: Path
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


class _Evm(msgspec.Struct, rename="camel"):
    bytecode: Code | None = None
    deployed_bytecode: Code | None = None
    method_identifiers: dict[str, str] | None = None


class _Contract(msgspec.Struct):
    """A contract in a compilation's output."""

    abi: msgspec.Raw = msgspec.Raw(b"[]")
    evm: _Evm | None = None
    metadata: str | dict[str, Any] | None = None


Contracts = dict[str, dict[str, _Contract]]


class _Output(msgspec.Struct):
    """What a compiler returned. `compiler` is Vyper's, "vyper-0.4.3"."""

    contracts: Contracts | None = None
    compiler: Any = None


class BuildFile(_Output, rename="camel"):
    """All fields that are read of a build's file, of whatever form."""

    abi: msgspec.Raw = msgspec.Raw(b"[]")
    solc_long_version: str = ""
    solc_version: str = ""
    input: dict[str, Any] | None = None
    output: _Output | None = None
    bytecode: Code | None = None
    deployed_bytecode: Code | None = None
    method_identifiers: dict[str, str] | None = None
    metadata: str | dict[str, Any] | None = None
    raw_metadata: str | None = None

    @property
    def compiled(self) -> _Output:
        """A compilation's output, which has no contracts in an artifact."""
        return self.output or self


_decode_file = json_decoder(BuildFile).decode


def read_file(file: Path) -> BuildFile:
    """Return the fields of a build's file. Raises NoBuild, OSError."""
    try:
        return _decode_file(read_json(file))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise NoBuild(str(error)) from None


def contracts_of(file: Path) -> list[BuiltContract]:
    """Return the contracts in a build's file that have code. Raises NoBuild, OSError."""
    decoded = read_file(file)
    of_form = _compiled if decoded.compiled.contracts is not None else _artifact_contracts
    try:
        contracts = [*islice(of_form(file, decoded), MAX_CONTRACTS + 1)]
    except MALFORMED as error:
        raise NoBuild(str(error)) from None
    if len(contracts) > MAX_CONTRACTS:
        raise NoBuild(f"it has more than {MAX_CONTRACTS} contracts")
    return contracts


def _compiled(file: Path, decoded: BuildFile) -> Iterator[BuiltContract]:
    language = str((decoded.input or {}).get("language") or "")
    stated = decoded.solc_long_version or decoded.solc_version
    if isinstance(decoded.compiled.compiler, str):
        stated = stated or decoded.compiled.compiler.partition("-")[2]
    stated = stated or str((decoded.input or {}).get("version") or "")
    for path, contracts in (decoded.compiled.contracts or {}).items():
        language_name = language or language_of_path(path).name
        for name, contract in contracts.items():
            code = contract.evm.deployed_bytecode if contract.evm else None
            if contract.evm is None or code is None or not code.object:
                continue
            compiler = metadata_of(contract.metadata).get("compiler", {})
            version = stated or str(compiler.get("version") or "")
            creation = contract.evm.bytecode or Code()
            runtime = _runtime(language_name, creation.object, code, version)
            at = file, path, name, language_name, version
            selectors = contract.evm.method_identifiers
            yield BuiltContract(*at, runtime, bytes(contract.abi), creation, selectors)


def _artifact_contracts(file: Path, decoded: BuildFile) -> Iterator[BuiltContract]:
    code = decoded.deployed_bytecode or Code()
    metadata = metadata_of(decoded.raw_metadata or decoded.metadata)
    target = metadata.get("settings", {}).get("compilationTarget", {})
    path, name = map(str, next(iter(target.items()), (file.parent.name, file.stem)))
    version = str(metadata.get("compiler", {}).get("version") or "")
    language = str(metadata.get("language") or language_of_path(path).name)
    if code.object.removeprefix("0x"):
        at = file, path, name, language, version
        creation, selectors = decoded.bytecode or Code(), decoded.method_identifiers
        yield BuiltContract(*at, linked(code), bytes(decoded.abi), creation, selectors)


def metadata_of(metadata: str | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the compiler's metadata, which some tools write as text; none for Yul and Vyper."""
    if isinstance(metadata, str):
        return json_decoder(dict[str, Any]).decode(metadata) if metadata else {}
    return metadata or {}


def linked(code: Code) -> bytecode_comparison.LinkedCode:
    """Return code with zeros where libraries are linked. Raises ValueError where it is not hex,
    above the bounds, or has links and immutables where solc has none: they are the operands of
    PUSH20 and PUSH32, and a place of any other form would be equal to any code.

    Before 0.5 a placeholder is the library's name, cut to 36 characters: which library it stands
    for only the references say."""
    text, immutables = code.object.removeprefix("0x"), code.immutable_references or {}
    names = {
        reference.start: f"{file}:{name}"
        for file, libraries in (code.link_references or {}).items()
        for name, references in libraries.items()
        for reference in references
    }
    if len(text) > 2 * MAX_CODE_BYTES:
        raise ValueError("the code is longer than that of any chain")
    placeholders = [*islice(_PLACEHOLDER.finditer(text), MAX_PLACES + 1)]
    if len(placeholders) + sum(map(len, immutables.values())) > MAX_PLACES:
        raise ValueError(f"the code has more than {MAX_PLACES} links and immutables")
    links: defaultdict[str, list[bytecode_comparison.ByteRange]] = defaultdict(list)
    for placeholder in placeholders:
        start, half = divmod(placeholder.start(), 2)
        if half or text[2 * start - 2 : 2 * start] != f"{bytecode_comparison.PUSH20:02x}":
            raise ValueError("a link is no operand of PUSH20")
        links[names.get(start, placeholder[0])].append(
            bytecode_comparison.ByteRange(start, start + bytecode_comparison.ADDRESS_BYTES)
        )
    linked_code = bytes.fromhex(_PLACEHOLDER.sub("00" * bytecode_comparison.ADDRESS_BYTES, text))
    ranges = {
        name: tuple(bytecode_comparison.ByteRange(r.start, r.start + r.length) for r in references)
        for name, references in immutables.items()
    }
    for start, end in (place for places in ranges.values() for place in places):
        if not 0 < start <= end <= len(linked_code):
            raise ValueError("an immutable is outside of the code")
        if linked_code[start - 1 : end] != bytes([bytecode_comparison.PUSH32, *bytes(32)]):
            raise ValueError("an immutable is no operand of PUSH32")
    library_places = {name: tuple(places) for name, places in links.items()}
    return bytecode_comparison.LinkedCode(linked_code, library_places, ranges)


def _runtime(
    language: str, creation: str, code: Code, version: str
) -> bytecode_comparison.LinkedCode:
    """Return runtime code, that of Vyper with a range for the immutables that follow it. Raises
    ValueError as linked() does, and where these are longer than the code, which would be equal to
    any code that begins like it."""
    if language != VYPER.name:
        return linked(code)
    linked_code = linked(Code(code.object))
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
