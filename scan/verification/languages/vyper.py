"""Vyper's adapter: its wheels, its settings, and its standard JSON in the form of solc's.

Compilers are wheels of PyPI, by pip in a folder a version, run by vyper_script.py. Every wheel is
checked against a digest that is pinned here: the compiler's in vyper_digests.json, its
dependencies' in vyper_dependencies.txt, one list for all releases. The publisher's binaries serve,
too, where an operator puts them: `vyper-0.3.10/vyper-0.3.10`, executable.

Facts of its releases, by compiling with them: values of immutables follow the runtime code. From
0.3.10 their size is in metadata at the creation code's end, a CBOR array; before, only in the
intermediate representation. From 0.4.1 the array begins with a hash of the sources, the only proof
of comments and names; before, nothing proves them, so no match is full. 0.3.4 to 0.3.7 order parts
of the code by the addresses of Python's objects: a run gives one of several codes.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from scan.errors import InvalidParameter
from scan.json_bodies import BYTE_ORDER_MARK
from scan.verification import bytecode_comparison, bytecode_metadata, compiler_run, compiler_store
from scan.verification.languages import solidity
from scan.verification.settings_search import SolcVersion, dotted

TIMEOUT_S = 240.0
JUMP, PUSH0, PUSH32 = 0x56, 0x5F, 0x7F

_DIGESTS = Path(__file__).with_name("vyper_digests.json")
_DEPENDENCIES = Path(__file__).with_name("vyper_dependencies.txt")
_SCRIPT = Path(__file__).with_name("vyper_script.py")
_VERSION = re.compile(
    r"(?:vyper:)?v?([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{1,3})(\+commit\.[0-9a-f]{6,40})?"
)
_FIRST_RELEASE = (0, 2, 8)
_PIP_OPTIONS = """
    --quiet --disable-pip-version-check --no-input --retries=1 --no-deps --require-hashes
    --only-binary=:all: --ignore-requires-python
""".split()


def parse_version(version: object) -> SolcVersion:
    """Return (0, 3, 10) for `0.3.10`, `v0.3.10+commit.9136169` or `vyper:0.3.10`. Raises
    InvalidParameter."""
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if not match:
        message = "compilerVersion must look like 0.3.10, v0.3.10 or vyper:0.3.10."
        raise InvalidParameter(message, field="compilerVersion")
    parsed = (int(match[1]), int(match[2]), int(match[3]))
    if not _FIRST_RELEASE <= parsed < (1, 0, 0):
        message = f"compilerVersion must be {dotted(_FIRST_RELEASE)} or newer."
        raise InvalidParameter(message, field="compilerVersion")
    return parsed


def known_releases() -> list[SolcVersion]:
    return sorted(map(parse_version, json.loads(_DIGESTS.read_text())))


def _fetch(version: SolcVersion, staging: Path, path: str) -> tuple[str, Path]:
    """Install a release and return its source's name and its folder. pip would refuse most: old
    releases exclude Python 3.11, on which they run."""
    digest = json.loads(_DIGESTS.read_text()).get(dotted(version))
    if digest is None:
        raise compiler_store.NotPublished("no digest of it is pinned")
    if find_spec("pip") is None:
        raise compiler_store.NotFetched("pip is not installed")
    folder = staging / f"vyper-{dotted(version)}"
    folder.mkdir()
    requirements = staging / "requirements.txt"
    requirement = f"vyper=={dotted(version)} --hash=sha256:{digest}\n"
    requirements.write_text(_DEPENDENCIES.read_text() + requirement)
    places = (f"--target={folder / 'packages'}", f"--requirement={requirements}")
    install = [sys.executable, "-m", "pip", "install", *_PIP_OPTIONS, *places]
    compiler_store.finish(install, staging, TIMEOUT_S)
    # The executable begins with the Python that has the compiler's packages: their binary parts
    # are of its version.
    shutil.rmtree(folder / "packages" / "bin", ignore_errors=True)
    executable = folder / folder.name
    executable.write_text(f"#!{sys.executable} -IBS\n{_SCRIPT.read_text()}")
    executable.chmod(0o755)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    compiler_store.record_digest(folder, *(str(file.relative_to(folder)) for file in files))
    compiler_store.check_version(version, folder, path)
    return "PyPI", folder


VYPER_COMPILER = compiler_store.CompilerKind(
    "vyper",
    "Vyper",
    parse_version,
    known_releases,
    _fetch,
    "packages/vyper/vyper_git_commithash.txt",
)


SUFFIX = ".vy"
IMMUTABLES_FROM = (0, 3, 1)
SIZES_IN_METADATA_FROM = (0, 3, 10)
# What `optimize` takes beside the default, in the order of search.
_OPTIMIZATIONS: tuple[tuple[SolcVersion, tuple[str | bool, ...]], ...] = (
    ((0, 3, 10), ("codesize", "none")),
    ((0, 3, 1), (False,)),
    ((0, 2, 0), ()),
)
SELECTION_FROM = (0, 4, 0)  # of some of the sources; releases before compile all of them
_VARYING = ((0, 3, 4), (0, 3, 8))  # from, and before
HASH_SEEDS = 12
STORAGE_LAYOUTS = "storage_layout_overrides"  # by the contract's file
# A setting of ours: the seed of Python's hashes in this run.
_SEED = "hashSeed"
_OLDER_EVM_VERSIONS: tuple[tuple[SolcVersion, tuple[str, ...]], ...] = (
    ((0, 4, 0), ("shanghai", "paris", "cancun")),
    ((0, 3, 8), ("paris", "london")),
    ((0, 2, 0), ("istanbul", "byzantium")),
)
# All that releases take, oldest first.
EVM_VERSIONS = """
    byzantium constantinople petersburg istanbul berlin london paris shanghai cancun prague
""".split()
_OUTPUTS = """
    abi evm.bytecode.object evm.deployedBytecode.object evm.deployedBytecode.sourceMap
""".split()
CREATION_MAP_FROM = (0, 4, 0)
DECIMALS_SWITCH_FROM = (0, 4, 1)  # in standard JSON
METADATA_FROM = (0, 4, 1)  # in which functions have their files
LAYOUT_FROM = (0, 4, 1)  # older releases refuse to give the layout of the storage, or leave it out
_RESOURCE_ERRORS = ("MemoryError", "RecursionError")
_IMPORTED = re.compile(r"^(?:from[ ]+[\w.]+[ ]+)?import[ ]+(?:[\w.]*\.)?(\w+)", re.MULTILINE)
_DECIMAL = re.compile(r"\bdecimal\b")
# The end of the intermediate representation of 0.3.1 as text: the size of what is returned.
_RETURNED = re.compile(r"\[return, [0-9]+, \[add, ([0-9]{1,6}), _lllsz\]+\Z")

_SETTINGS: Mapping[str, type | tuple[type, ...]] = {
    "evmVersion": str,
    "optimize": (bool, str),
    "experimentalCodegen": bool,
    "venomExperimental": bool,
    "bytecodeMetadata": bool,
    "enable_decimals": bool,
    "debug": bool,
    "search_paths": list,
    STORAGE_LAYOUTS: dict,
}


def _is_reproducible(version: SolcVersion) -> bool:
    return not _VARYING[0] <= version < _VARYING[1]


def _required(sources: solidity.Sources, version: SolcVersion) -> solidity.Settings:
    """Return the switch that decimals need since 0.4. It changes no code without decimals."""
    has_decimals = any(_DECIMAL.search(text) for text in sources.values())
    return {"enable_decimals": True} if version >= DECIMALS_SWITCH_FROM and has_decimals else {}


def _candidates(
    requested: Mapping[str, Any], version: SolcVersion, _deployed: bytes
) -> Iterator[solidity.Settings]:
    """Yield the given settings, then other optimisations and EVM versions where none are given.
    Where a run gives one of several codes, each is tried with several seeds."""
    optimizations: list[solidity.Settings] = [{}]
    if "optimize" not in requested:
        others = next(levels for since, levels in _OPTIMIZATIONS if since <= version)
        optimizations += [{"optimize": level} for level in others]
    evm_versions: list[solidity.Settings] = [{}]
    if "evmVersion" not in requested:
        older = next(names for since, names in _OLDER_EVM_VERSIONS if since <= version)
        evm_versions += [{"evmVersion": name} for name in older]
    seeds = [{}] if _is_reproducible(version) else [{_SEED: seed} for seed in range(HASH_SEEDS)]
    for optimization, evm_version, seed in product(optimizations, evm_versions, seeds):
        yield {**requested, **evm_version, **optimization, **seed}


def _take(
    sources: solidity.Sources,
    settings: solidity.Settings,
    selection: solidity.Selection,
    version: SolcVersion,
) -> solidity.CompilerInput:
    """Return the input for all files of contracts, or those of the selection. Interfaces have a
    place of their own, as have files that releases before SELECTION_FROM are not to compile."""
    other_names = (_SEED, STORAGE_LAYOUTS)
    passed = {name: value for name, value in settings.items() if name not in other_names}
    layouts = {STORAGE_LAYOUTS: settings[STORAGE_LAYOUTS]} if STORAGE_LAYOUTS in settings else {}
    seed = ["--hash-seed", str(settings[_SEED])] if _SEED in settings else []
    selected = _selected(sources, selection)
    if version < SELECTION_FROM:  # files that others import may be stubs, which are no contracts
        imported = _imported(sources)
        others = [path for path in selected if PurePosixPath(path).stem not in imported]
        selected = others or selected
    compiled = sources if version >= SELECTION_FROM else selected
    files = {path: text for path, text in sources.items() if path in compiled and _is_code(path)}
    has_sizes = version >= SIZES_IN_METADATA_FROM and settings.get("bytecodeMetadata", True)
    outputs = [
        *_OUTPUTS,
        *(["layout"] if version >= LAYOUT_FROM else []),
        *(["metadata"] if version >= METADATA_FROM else []),
        *(["evm.bytecode.sourceMap"] if version >= CREATION_MAP_FROM else []),
        *([] if has_sizes else ["ir"]),
    ]
    if "" in selection.get("*", {}):  # what solc has of files
        outputs = ["ast"]
    standard = {
        "language": "Vyper",
        "sources": {path: {"content": text} for path, text in files.items()},
        "interfaces": {
            path: {"content": text} if _is_code(path) else _interface(text, version)
            for path, text in sources.items()
            if path not in files
        },
        "settings": {**passed, "outputSelection": dict.fromkeys(selected, outputs)},
    }
    return solidity.CompilerInput(standard | layouts, seed)


def _interface(text: str, version: SolcVersion) -> dict[str, Any]:
    """Return an ABI, whole where its text is part of the hash of the sources."""
    if version >= METADATA_FROM and not text.startswith(BYTE_ORDER_MARK):
        return {"content": text}
    abi = orjson.loads(text.removeprefix(BYTE_ORDER_MARK))
    return {"abi": abi["abi"] if isinstance(abi, dict) and "abi" in abi else abi}


def _selected(sources: solidity.Sources, selection: solidity.Selection) -> list[str]:
    def is_selected(path: str) -> bool:
        names = selection.get(path, selection.get("*", {}))
        return "*" in names or PurePosixPath(path).stem in names

    return [path for path in sources if path.endswith(SUFFIX) and is_selected(path)]


def _imported(sources: solidity.Sources) -> set[str]:
    return {name for text in sources.values() for name in _IMPORTED.findall(text)}


def _one_by_one(
    sources: solidity.Sources, selection: solidity.Selection
) -> Iterator[solidity.Selection]:
    """Yield selections of a file each, those last that others import. Modules that use state of
    others are no contracts, and the compiler ends at the first error."""
    selected, imported = _selected(sources, selection), _imported(sources)
    if len(selected) > 1:
        for path in sorted(selected, key=lambda path: PurePosixPath(path).stem in imported):
            yield {path: selection.get(path, selection.get("*", {}))}


def _is_code(path: str) -> bool:
    return not path.endswith(".json")


def _give(output: dict[str, Any], version: SolcVersion, given: solidity.Sources) -> dict[str, Any]:
    for error in output.get("errors") or ():
        if error.get("type") in _RESOURCE_ERRORS:
            raise compiler_run.OutOfLimits("The compiler exceeded a limit on memory or nesting.")
    sources = dict(output.get("sources") or {})  # of the compiled files alone
    by_file = (output.get("contracts") or {}).values()
    for contract in chain.from_iterable(of_file.values() for of_file in by_file):
        functions = (contract.get("metadata") or {}).get("function_info") or {}
        for function in functions.values():
            if function.get("source_id", -1) >= 0:  # a file of the input's
                sources.setdefault(function["module_path"], {"id": function["source_id"]})
        if SELECTION_FROM <= version < METADATA_FROM:
            numbered = _numbered(contract, given)
            sources |= {path: {"id": n} for path, n in numbered.items() if path not in sources}
    return {**solidity.in_form(output, partial(_contract, version)), "sources": sources}


def _numbered(contract: Mapping[str, Any], sources: solidity.Sources) -> dict[str, int]:
    """Return the numbers of files by their paths, of those that a map has places of where one
    source alone has all of these: the map has a place both as line and column and as offset."""
    evm = contract.get("evm") or {}
    map_ = (evm.get("deployedBytecode") or {}).get("sourceMap")
    if not isinstance(map_, dict):
        return {}
    entries = map_["pc_pos_map_compressed"].split(";")
    places: dict[int, set[tuple[int, int, int]]] = {}
    for offset, (line, column, end_line, end_column) in map_["pc_pos_map"].items():
        start, length, number, *_ = map(int, entries[int(offset)].split(":")[:3])
        places.setdefault(number, set()).update(
            ((start, line, column), (start + length, end_line, end_column))
        )
    starts = {
        path: [0, *(end.end() for end in re.finditer("\n", text))]
        for path, text in sources.items()
        if path.endswith(SUFFIX)
    }
    numbered: dict[str, int] = {}
    for number, at in places.items():
        agreeing = [
            path
            for path, lines in starts.items()
            if all(line <= len(lines) and lines[line - 1] + c == start for start, line, c in at)
        ]
        if len(agreeing) == 1 and number >= 0:
            numbered[agreeing[0]] = number
    return numbered


def _contract(version: SolcVersion, contract: Mapping[str, Any]) -> dict[str, Any]:
    """Return a contract in solc's form, with zeros for the values of immutables."""
    if "evm" not in contract:
        return {}
    layout = (contract.get("layout") or {}).get("storage_layout")
    bytecode = contract["evm"]["bytecode"]
    deployed = contract["evm"]["deployedBytecode"]
    creation = bytecode["object"].removeprefix("0x")
    runtime, runtime_map = deployed["object"].removeprefix("0x"), deployed.get("sourceMap")
    if SELECTION_FROM <= version < METADATA_FROM and runtime not in creation:
        runtime, runtime_map = _embedded_runtime(creation) or runtime, None
    size = immutable_size(creation, contract.get("ir"), version)
    references = {"0": [{"start": len(runtime) // 2, "length": size}]} if size else {}
    return {
        "abi": contract["abi"],
        "metadata": "{}",
        "storageLayout": layout,
        "evm": {
            "bytecode": {
                "object": creation,
                "sourceMap": source_map(bytecode.get("sourceMap"), creation),
            },
            "deployedBytecode": {
                "object": runtime + "00" * size if runtime else "",
                "immutableReferences": references,
                "sourceMap": source_map(runtime_map, runtime),
            },
        },
    }


def _embedded_runtime(creation: str) -> str | None:
    """Return the runtime code in creation code, which says its size. Venom of 0.4.0 changes what it
    compiles: the runtime code that it gives beside creation code is not the one in it."""
    code = bytes.fromhex(creation)
    metadata = bytecode_metadata.read_metadata(code)
    if metadata is None or bytecode_metadata.RUNTIME_SIZE not in metadata.values:
        return None
    size = int(metadata.values[bytecode_metadata.RUNTIME_SIZE])
    return code[max(0, metadata.start - size) : metadata.start].hex()


def source_map(given: object, code_hex: str) -> str:
    """Return the map in solc's form. Releases from 0.4 on have an entry a byte, others one an
    instruction."""
    if isinstance(given, str):
        return given
    text = given.get("pc_pos_map_compressed") if isinstance(given, dict) else None
    if not isinstance(text, str):
        return ""
    of_bytes, code = text.split(";"), bytes.fromhex(code_hex)
    entries, offset, is_pushed = [], 0, False
    while offset < min(len(code), len(of_bytes)):
        place, jump = ":".join(of_bytes[offset].split(":")[:3]), of_bytes[offset].split(":")[3:]
        is_call = jump == ["i"]
        # A jump to the end of a function is "o" here, and what returns from there is not.
        is_return = code[offset] == JUMP and not is_call and not is_pushed
        is_pushed = PUSH0 <= code[offset] <= PUSH32
        entries.append(f"{place}:{'i' if is_call else 'o' if is_return else '-'}")
        offset += 1 + bytecode_comparison.operand_size(code, offset)
    return ";".join(entries)


def immutable_size(creation: str, representation: object, version: SolcVersion) -> int:
    """Return the bytes of immutables that follow the runtime code. Raises ValueError where the
    compiler's creation code is not hex."""
    if version < IMMUTABLES_FROM:
        return 0
    metadata = bytecode_metadata.read_metadata(bytes.fromhex(creation))
    if metadata is not None and bytecode_metadata.IMMUTABLE_SIZE in metadata.values:
        return int(metadata.values[bytecode_metadata.IMMUTABLE_SIZE])
    if isinstance(representation, str):
        returned = _RETURNED.search(representation)
        return int(returned[1]) if returned else 0
    return _deployed_size(representation)


def _deployed_size(representation: object) -> int:
    """Return the last operand of `deploy` in the representation's outermost sequences."""
    waiting = [representation]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            operands = node.get("deploy")
            if isinstance(operands, list) and isinstance(operands[-1], int):
                return operands[-1]
            waiting.extend(node.values())
    return 0


VYPER = solidity.Language(
    name="Vyper",
    kind=VYPER_COMPILER,
    suffixes=(SUFFIX, ".vyi"),
    unnamed_path=f"contract{SUFFIX}",
    settings=_SETTINGS,
    candidates=_candidates,
    take=_take,
    give=_give,
    is_reproducible=_is_reproducible,
    required=_required,
    one_by_one=_one_by_one,
)
