"""Finds the contract and the compiler settings that give deployed code, by compiling."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from scan.errors import Unavailable, VerificationFailed
from scan.verification.bytecode_comparison import (
    Comparison,
    LinkedCode,
    Span,
    assembly_auxdata,
    compare_runtime,
    linked_code,
    moved_auxdata,
)
from scan.verification.bytecode_metadata import compiler_release, metadata_tail
from scan.verification.compiler import Compilers, OutOfLimits
from scan.verification.compiler_releases import VIA_IR_FROM, dotted
from scan.verification.metadata_search import likely_paths, spelling_of
from scan.verification.request import Submission
from scan.verification.settings_search import Settings, candidates, traits

MOST_TRIES = 24
TRIES_OF_OTHER_RELEASE = 4
TRIES_AFTER_ALMOST = 2  # once the code is as long and nearly equal, the source is what differs
MOST_SOURCE_ERRORS = 3
INLINER_FROM = (0, 8, 2)

_OUTPUTS = [
    "abi",
    "metadata",
    "evm.bytecode.object",
    "evm.bytecode.linkReferences",
    "evm.deployedBytecode.object",
    "evm.deployedBytecode.linkReferences",
    "evm.deployedBytecode.immutableReferences",
    "evm.methodIdentifiers",
]
_AUXDATA_OUTPUTS = [*_OUTPUTS, "evm.legacyAssembly"]
# Errors that other settings may mend; the rest is wrong with the source.
_SETTING_ERRORS = (
    "CodeGenerationError",
    "CompilerError",
    "InternalCompilerError",
    "UnimplementedFeatureError",
    "YulException",
)


class Contract(NamedTuple):
    """One contract of a compilation."""

    path: str
    name: str
    output: Mapping[str, Any]
    runtime: LinkedCode


class Match(NamedTuple):
    """`level` is "full" or "partial"; `metadata` is the one whose hash a full match carries.

    `creation_auxdata` says where metadata may differ in the creation code of a partial match.
    """

    level: str
    contract: Contract
    metadata: str
    libraries: Mapping[str, bytes]
    creation: LinkedCode
    creation_auxdata: Sequence[Span]


class _Moved(NamedTuple):
    """All auxdata in a contract, and its codes compiled once more with spaces in the sources."""

    auxdata: frozenset[bytes]
    runtime: bytes
    creation: bytes


class Search:
    """One submission against one deployed code, until a match or the deadline."""

    def __init__(
        self,
        compilers: Compilers,
        executable: Path,
        submission: Submission,
        deployed: bytes,
        deadline: float,
    ) -> None:
        self._compilers = compilers
        self._executable = executable
        self._submission = submission
        self._deployed = deployed
        self._deadline = deadline
        self._tail = metadata_tail(deployed)
        self._selection: dict[str, dict[str, list[str]]] = {
            submission.contract_path or "*": {submission.contract_name or "*": _OUTPUTS}
        }
        self._moved: _Moved | None = None
        self._is_narrow = False
        self._closest: tuple[int, str] | None = None
        self._faults: list[str] = []
        self._refused: set[object] = set()  # EVM versions under which the source is in error
        self._endless: set[object] = set()  # pipelines that met a limit
        self._tries = 0
        self._last_try = MOST_TRIES

    def run(self) -> Match:
        """Raises VerificationFailed with the reason."""
        for settings in self._candidates():
            if (
                settings.get("evmVersion") in self._refused
                or settings.get("viaIR") in self._endless
            ):
                continue
            if self._tries >= self._last_try or time.monotonic() > self._deadline - 1:
                break
            match = self._try(settings)
            if match:
                return match
            if len(self._refused) >= MOST_SOURCE_ERRORS:
                break
        raise self._failure()

    def _try(self, settings: Settings) -> Match | None:
        try:
            output = self._compile(settings, self._selection)
            errors = _errors(output)
            if not errors:
                return self._match(output, settings)
        except OutOfLimits:
            if self._closest is None:
                raise
            self._endless.add(settings.get("viaIR"))
            return None
        self._faults.append(self._describe(errors))
        if not _may_be_mended(errors):
            self._refused.add(settings.get("evmVersion"))
        return None

    def _candidates(self) -> Iterator[Settings]:
        submission = self._submission
        seen = traits(self._deployed, submission.release)
        if self._other_release():
            self._last_try = TRIES_OF_OTHER_RELEASE
        return candidates(
            _accepted(submission.settings, submission.release), submission.release, seen
        )

    def _other_release(self) -> str | None:
        """The release that the deployed code names, where that is not the one submitted."""
        says = compiler_release(self._tail)
        return says if says != dotted(self._submission.release) else None

    def _compile(
        self, settings: Settings, selection: Mapping[str, object], addition: str = ""
    ) -> dict[str, Any]:
        self._tries += 1
        standard_input = {
            "language": "Solidity",
            "sources": {
                path: {"content": content + addition}
                for path, content in self._submission.sources.items()
            },
            "settings": {**settings, "outputSelection": selection},
        }
        left_s = self._deadline - time.monotonic()
        return self._compilers.compile(self._executable, standard_input, left_s)

    def _match(self, output: Mapping[str, Any], settings: Settings) -> Match | None:
        contracts = self._contracts(output)
        partial: Match | None = None
        for contract in contracts:
            comparison = self._compare(contract, settings)
            if comparison.match is None:
                self._note(contract, comparison)
                continue
            match = self._improved(self._matched(contract, comparison), settings, contracts)
            if match.level == "full":
                return match
            partial = partial or match
        self._narrow(contracts)
        return partial

    def _contracts(self, output: Mapping[str, Any]) -> list[Contract]:
        """Those with code, of the name and file wanted; a wrong compiler is found out here."""
        found = [
            Contract(path, name, each, linked_code(each["evm"]["deployedBytecode"]))
            for path, named in output.get("contracts", {}).items()
            for name, each in named.items()
            if each.get("evm", {}).get("deployedBytecode", {}).get("object")
            and self._submission.contract_name in (None, name)
            and self._submission.contract_path in (None, path)
        ]
        if not found:
            named_so = f" named {self._submission.contract_name}"
            raise VerificationFailed(
                f"The source has no contract{named_so if self._submission.contract_name else ''} "
                "that can be deployed."
            )
        self._check_compiler(found[0])
        return found

    def _check_compiler(self, contract: Contract) -> None:
        metadata = orjson.loads(contract.output.get("metadata") or "{}")
        version = str(metadata.get("compiler", {}).get("version", ""))
        wanted = dotted(self._submission.release)
        if version and re.split(r"[+-]", version)[0] != wanted:
            raise Unavailable(f"The compiler installed as {wanted} is {version[:60]}.")

    def _compare(self, contract: Contract, settings: Settings) -> Comparison:
        libraries = self._submission.libraries
        self._moved = None
        comparison = compare_runtime(self._deployed, contract.runtime, libraries)
        if not comparison.inner_metadata:
            return comparison
        self._moved = self._move(contract, settings)
        spans = moved_auxdata(contract.runtime.code, self._moved.auxdata, self._moved.runtime)
        return compare_runtime(self._deployed, contract.runtime, libraries, spans)

    def _move(self, contract: Contract, settings: Settings) -> _Moved:
        selection = {contract.path: {contract.name: _AUXDATA_OUTPUTS}}
        before, after = (
            _evm(self._compile(settings, selection, addition), contract) for addition in ("", " ")
        )
        return _Moved(
            frozenset(assembly_auxdata(before.get("legacyAssembly"))),
            linked_code(after.get("deployedBytecode", {})).code,
            linked_code(after.get("bytecode", {})).code,
        )

    def _matched(self, contract: Contract, comparison: Comparison) -> Match:
        creation = linked_code(contract.output["evm"]["bytecode"])
        moved = self._moved or _Moved(frozenset(), b"", b"")
        return Match(
            level=comparison.match or "",
            contract=contract,
            metadata=contract.output.get("metadata") or "{}",
            libraries=comparison.libraries,
            creation=creation,
            creation_auxdata=moved_auxdata(creation.code, moved.auxdata, moved.creation),
        )

    def _improved(self, match: Match, settings: Settings, contracts: Sequence[Contract]) -> Match:
        """A partial match may be a full one under another path, or with libraries in settings."""
        if match.level == "full":
            return match
        respelled = self._respelled(match, contracts)
        libraries = {**self._submission.libraries, **match.libraries}
        if respelled.level == "full" or not libraries:
            return respelled
        try:
            relinked = self._relinked(match, {**settings, "libraries": _nested(libraries)})
        except OutOfLimits:
            return match
        if relinked is None or relinked.level == "full":
            return relinked or match
        return self._respelled(relinked, contracts)

    def _relinked(self, match: Match, settings: Settings) -> Match | None:
        selection = {match.contract.path: {match.contract.name: _OUTPUTS}}
        output = self._compile(settings, selection)
        if _errors(output):
            return None
        for contract in self._contracts(output):
            comparison = compare_runtime(self._deployed, contract.runtime, {})
            if comparison.match and contract.name == match.contract.name:
                return self._matched(contract, comparison)._replace(libraries=match.libraries)
        return None

    def _respelled(self, match: Match, contracts: Sequence[Contract]) -> Match:
        """The hash in a tail that equals the compiled one but for itself may be of another path."""
        names = [match.contract.name, *(contract.name for contract in contracts)]
        paths = [] if self._submission.path_is_known else likely_paths(dict.fromkeys(names))
        text = spelling_of(self._tail, match.metadata, match.contract.path, paths)
        return match._replace(level="full", metadata=text) if text else match

    def _note(self, contract: Contract, comparison: Comparison) -> None:
        distance = abs(len(contract.runtime.code) - len(self._deployed))
        if self._closest is None or distance < self._closest[0]:
            self._closest = (distance, f"{contract.name}: {comparison.reason}")
        if _is_almost(comparison, len(self._deployed)):
            self._last_try = min(self._last_try, self._tries + TRIES_AFTER_ALMOST)

    def _narrow(self, contracts: Sequence[Contract]) -> None:
        """Later tries ask only for contracts all of whose selectors stand in the code.

        An OpenZeppelin token compiles in 1.2 s alone and in 4 to 5 s with all that it imports.
        """
        fitting = [each for each in contracts if _selectors_stand_in(each, self._deployed)]
        if fitting and not self._is_narrow:
            self._is_narrow = True
            self._selection = {}
            for each in fitting:
                self._selection.setdefault(each.path, {})[each.name] = _OUTPUTS

    def _describe(self, errors: Sequence[Mapping[str, Any]]) -> str:
        return "; ".join(_described(error, self._submission.sources) for error in errors[:3])

    def _failure(self) -> VerificationFailed:
        other = self._other_release()
        hint = f" The deployed code says that it was compiled by {other[:40]}." if other else ""
        if self._closest is None:
            return VerificationFailed(f"The source does not compile: {self._faults[0]}{hint}")
        return VerificationFailed(
            f"No match in {self._tries} compilation{'s' if self._tries > 1 else ''}. "
            f"{self._closest[1]}.{hint}"
        )


def _is_almost(comparison: Comparison, length: int) -> bool:
    return comparison.differing is not None and comparison.differing * 20 <= length


def _evm(output: Mapping[str, Any], contract: Contract) -> dict[str, Any]:
    found = output.get("contracts", {}).get(contract.path, {}).get(contract.name, {})
    return dict(found.get("evm", {}))


def _accepted(settings: Mapping[str, Any], wanted: tuple[int, int, int]) -> dict[str, Any]:
    """Without what an early compiler refuses, though it does just that."""
    kept = dict(settings)
    if wanted < VIA_IR_FROM and kept.get("viaIR") is False:
        del kept["viaIR"]
    details = kept.get("optimizer", {}).get("details")
    if wanted < INLINER_FROM and isinstance(details, dict):
        details = {name: value for name, value in details.items() if name != "inliner"}
        kept["optimizer"] = {**kept["optimizer"], "details": details}
    return kept


def _nested(libraries: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    nested: dict[str, dict[str, str]] = {}
    for qualified, address in libraries.items():
        path, colon, name = qualified.rpartition(":")
        if colon:  # one told by its name alone is there again as found in the code
            nested.setdefault(path, {})[name] = f"0x{address.hex()}"
    return nested


def _selectors_stand_in(contract: Contract, deployed: bytes) -> bool:
    selectors = contract.output["evm"].get("methodIdentifiers") or {}
    return all(bytes.fromhex(each).lstrip(b"\0") in deployed for each in selectors.values())


def _errors(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in output.get("errors") or () if each.get("severity") == "error"]


def _may_be_mended(errors: Sequence[Mapping[str, Any]]) -> bool:
    return all(error.get("type") in _SETTING_ERRORS for error in errors)


def _described(error: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """The compiler's sentence and where, never its quotation of a file."""
    message = str(error.get("message")).partition("Searched the following")[0].strip()[:300]
    place = error.get("sourceLocation") or {}
    path, start = str(place.get("file")), place.get("start")
    if path not in sources or not isinstance(start, int):
        return f"{error.get('type')}: {message}"
    line = sources[path].encode()[: max(start, 0)].count(b"\n") + 1
    return f"{error.get('type')} in {path[:100]} line {line}: {message}"
