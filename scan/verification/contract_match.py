"""Whether one compiled contract is the deployed one, and whether a partial match is a full one; and
where compiled code has libraries, immutables and metadata, in the form of compilers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from scan.hex import to_hex
from scan.verification import compiler_run, creation_comparison, request
from scan.verification.bytecode_comparison import (
    HASH_PREFIXES,
    ByteRange,
    Comparison,
    LinkedCode,
    assembly_auxdata,
    compare_runtime,
    has_integrity,
    is_call_guarded,
    libraries_by_file,
    linked_code,
    mask,
    metadata_ranges,
    moved_auxdata,
    variable_ranges,
)
from scan.verification.bytecode_metadata import hash_kind, read_metadata
from scan.verification.metadata_request import LIKELY_VARIATIONS, find_variant, varied_sources
from scan.verification.settings_search import CompilerSettings
from scan.verification.submission_compilations import (
    OUTPUTS,
    Compilations,
    CompiledContract,
    compiled_contracts,
    errors,
    evm_output,
)

_VARIED = ("optimizer", "evmVersion")  # settings that metadata_request.py varies
_AUXDATA_OUTPUTS = [*OUTPUTS, "evm.legacyAssembly"]


# Matches, the best first. "runtime": the runtime code matches and the creation code does not.
MATCHES = FULL, PARTIAL, RUNTIME = "full", "partial", "runtime"


class Match(NamedTuple):
    """A match. `level` is "full", "partial" or "runtime". `metadata` is the metadata file; in a
    full match, the one whose hash is in the code. `auxdata` are the ranges of metadata in the
    runtime code. `submission` has the variation of the sources that matched. `left_out` is a
    sentence about what the compiler does not say of it."""

    level: str
    contract: CompiledContract
    settings: CompilerSettings
    metadata: str
    libraries: Mapping[str, bytes]
    auxdata: Sequence[ByteRange]
    submission: request.Submission
    creation: creation_comparison.Creation = creation_comparison.NOT_COMPARED
    left_out: str = ""


class _Auxdata(NamedTuple):
    """All auxdata in a contract, and its code when compiled with a space after each source."""

    parts: frozenset[bytes] = frozenset()
    runtime: bytes = b""
    creation: bytes = b""


class ContractMatcher(NamedTuple):
    """Compares compiled contracts with a deployed one. `names` are the names of all compiled
    contracts: their file may be named after one of them."""

    compilations: Compilations
    submission: request.Submission
    code: creation_comparison.DeployedCode
    settings: CompilerSettings
    names: Sequence[str]

    def match(self, contract: CompiledContract) -> tuple[Match | None, Comparison]:
        """Return the match, None if there is none, and the comparison, which has the reason."""
        auxdata = _Auxdata()
        self.compilations.submission = self.submission
        comparison = compare_runtime(self.code.runtime, contract.runtime, self.submission.libraries)
        if comparison.inner_metadata:
            auxdata = self._auxdata(contract, self.settings)
            comparison = compare_runtime(
                self.code.runtime,
                contract.runtime,
                self.submission.libraries,
                moved_auxdata(contract.runtime.code, auxdata.parts, auxdata.runtime),
            )
        if comparison.match is None:
            return None, comparison
        match = self._match(contract, comparison, self.settings)
        links = linked_code(contract.output["evm"]["bytecode"]).links
        if not links.keys() <= match.libraries.keys():  # the creation code alone links some
            libraries = self._closest_creation(match, auxdata).libraries
            match = match._replace(libraries={**libraries, **match.libraries})
        match = self._improved(match)
        if creation_comparison.preamble_of(self.code.runtime) is not None:
            # The comparison was of all creation code.
            creation = creation_comparison.Creation(is_same=True, match=match.level)
            return match._replace(creation=creation), comparison
        self.compilations.submission = match.submission
        match = match._replace(creation=self._creation(match, auxdata))
        if match.creation.is_same is False:
            return match._replace(level=RUNTIME), comparison
        return self._proven(match), comparison

    def _proven(self, match: Match) -> Match:
        """Return the match as a full one where the creation code has the hash of the sources, or of
        a variation of them."""
        code = linked_code(match.contract.output["evm"]["bytecode"]).code
        if match.creation.match and has_integrity(code) and not match.creation.proves_source:
            with suppress(compiler_run.OutOfLimits):
                for _ in self._variations():
                    varied = self._recompiled(match, match.settings)
                    creation = varied and self._compare_creation(varied, _Auxdata())
                    if varied and creation and creation.proves_source:
                        return varied._replace(level=FULL, creation=creation)
        return match._replace(level=FULL) if match.creation.proves_source else match

    def _variations(self) -> Iterator[None]:
        """Have compilations be of one variation of the sources after another, while time is left,
        and then of the sources again."""
        may_have_marks = not self.submission.language.has_trees
        varied = varied_sources(self.submission.sources, may_have_marks=may_have_marks)
        for sources in varied:
            if not self.compilations.is_time_left():
                break
            self.compilations.submission = self.submission._replace(sources=sources)
            yield
        self.compilations.submission = self.submission

    def _match(
        self, contract: CompiledContract, comparison: Comparison, settings: CompilerSettings
    ) -> Match:
        return Match(
            level=comparison.match or "",
            contract=contract,
            settings=settings,
            metadata=contract.output.get("metadata") or "{}",
            libraries=comparison.libraries,
            auxdata=comparison.auxdata,
            submission=self.compilations.submission,
        )

    def _creation(self, match: Match, auxdata: _Auxdata) -> creation_comparison.Creation:
        """Compare the creation code. Where it differs, compare it with the settings that a full
        match's metadata states, too: other settings may give the same runtime code."""
        creation = self._closest_creation(match, auxdata)
        if creation.is_same is not False or match.metadata == match.contract.output["metadata"]:
            return creation
        stated: Mapping[str, Any] = orjson.loads(match.metadata)["settings"]
        changed = {name: stated[name] for name in _VARIED if name in stated}
        try:
            recompiled = self._recompiled(match, {**match.settings, **changed})
        except compiler_run.OutOfLimits:
            return creation_comparison.NOT_COMPARED
        return creation if recompiled is None else self._closest_creation(recompiled, _Auxdata())

    def _closest_creation(self, match: Match, auxdata: _Auxdata) -> creation_comparison.Creation:
        """Compare the creation code; where it only differs in metadata of contracts that the
        constructor creates, compare it without them."""
        creation = self._compare_creation(match, auxdata)
        if creation.inner_metadata and not auxdata.parts:
            try:
                return self._compare_creation(match, self._auxdata(match.contract, match.settings))
            except compiler_run.OutOfLimits:
                return creation_comparison.NOT_COMPARED
        return creation

    def _compare_creation(self, match: Match, auxdata: _Auxdata) -> creation_comparison.Creation:
        output = match.contract.output
        compiled = linked_code(output["evm"]["bytecode"])
        libraries = {**self.submission.libraries, **match.libraries}
        ranges = moved_auxdata(compiled.code, auxdata.parts, auxdata.creation)
        creation = creation_comparison.compare_creation(
            self.code, compiled, libraries, ranges, output.get("abi", [])
        )
        is_partial = creation.match is not None and match.level != FULL
        if creation.proves_source:
            return creation
        return creation._replace(match=PARTIAL) if is_partial else creation

    def _recompiled(self, match: Match, settings: CompilerSettings) -> Match | None:
        selection = {match.contract.path: {match.contract.name: OUTPUTS}}
        output = self.compilations.run(settings, selection)
        if errors(output):
            return None
        for contract in compiled_contracts(output, self.submission):
            if contract.name == match.contract.name:
                compiled = self.compilations.submission
                return match._replace(contract=contract, settings=settings, submission=compiled)
        return None

    def _auxdata(self, contract: CompiledContract, settings: CompilerSettings) -> _Auxdata:
        selection = {contract.path: {contract.name: _AUXDATA_OUTPUTS}}
        before, after = (
            evm_output(self.compilations.run(settings, selection, addition), contract)
            for addition in ("", " ")
        )
        return _Auxdata(
            frozenset(assembly_auxdata(before.get("legacyAssembly"))),
            linked_code(after.get("deployedBytecode", {})).code,
            linked_code(after.get("bytecode", {})).code,
        )

    def _improved(self, match: Match) -> Match:
        """Return the best match: a partial one may become full under another path, with libraries
        in the settings, or with a variation of the sources."""
        best = self._match_with_deployed_metadata(match)
        libraries = {**self.submission.libraries, **match.libraries}
        with suppress(compiler_run.OutOfLimits):
            linked = self._relinked_match(match, libraries) if best.level != FULL else None
            best = self._match_with_deployed_metadata(linked) if linked else best
            if best.level == FULL or hash_kind(read_metadata(self.code.runtime)) is None:
                return best
            forms = [match, linked] if linked else [match]
            for _ in self._variations():
                for form in forms:
                    stated = self._metadata(form)
                    stating = form._replace(metadata=stated)
                    varied = self._match_with_deployed_metadata(stating, LIKELY_VARIATIONS)
                    if varied.level == FULL:
                        return self._recompiled(varied, form.settings) or best
        return best

    def _metadata(self, match: Match) -> str:
        """Return the metadata file of a compilation that generates no code."""
        path, name = match.contract.path, match.contract.name
        output = self.compilations.run(match.settings, {path: {name: ["metadata"]}})
        return str(output.get("contracts", {}).get(path, {}).get(name, {}).get("metadata") or "{}")

    def _relinked_match(self, match: Match, libraries: Mapping[str, bytes]) -> Match | None:
        """Return the match with the contract compiled again with the libraries in the settings, so
        that they are in the metadata; None where it no longer matches, or without libraries."""
        if not libraries:
            return None
        # A library submitted by name only is also listed with its file, from the code.
        of_files = {name: to_hex(library) for name, library in libraries.items() if ":" in name}
        by_file = libraries_by_file(of_files)
        linked = self._recompiled(match, {**match.settings, "libraries": by_file})
        if linked is None:
            return None
        comparison = compare_runtime(self.code.runtime, linked.contract.runtime, {})
        if comparison.match is None:
            return None
        linked = self._match(linked.contract, comparison, linked.settings)
        return linked._replace(libraries=match.libraries)

    def _match_with_deployed_metadata(self, match: Match, parts: int = 1) -> Match:
        """Return the match as a full one if another path or other settings give a metadata file
        with the deployed hash; otherwise unchanged. It may take one of so many parts of the time
        for hashing."""
        if match.level == FULL:
            return match
        is_known = self.submission.path_is_known
        names = () if is_known else (*dict.fromkeys([match.contract.name, *self.names]),)
        deployed = read_metadata(self.code.runtime)
        variant = find_variant(deployed, match.metadata, match.contract.path, names, parts)
        return match._replace(level=FULL, metadata=variant) if variant else match


# What metadata of any contract contains: a hash, or since 0.5.9 the compiler's version.
_METADATA = re.compile(b"|".join(map(re.escape, (*HASH_PREFIXES, b"dsolcC"))))


def layouts_of(match: Match, deployed: creation_comparison.DeployedCode) -> str:
    """Return the layouts of the creation and the runtime code as JSON.

    In a full match the metadata is the deployed one: also where another path or other settings
    than those compiled were found to give it.
    """
    creation, runtime = (
        linked_code(match.contract.output["evm"]["bytecode"]),
        match.contract.runtime,
    )
    created = deployed.creation if match.creation.is_same else None
    auxdata = match.creation.auxdata or metadata_ranges(creation.code)
    layouts = {
        "creation": _layout(creation, auxdata, created, match.level),
        "runtime": _layout(runtime, match.auxdata, deployed.runtime, match.level),
    }
    return orjson.dumps(layouts).decode()


def _layout(
    compiled: LinkedCode, auxdata: Sequence[ByteRange], deployed: bytes | None, level: str
) -> dict[str, Any]:
    """Return a layout with the metadata of the code in the ranges of `auxdata`. `isEqual`: the code
    is known to differ in no other bytes than those of libraries and immutables."""
    code = deployed if deployed and level == FULL else compiled.code
    beginning, variable = (deployed or b"")[: len(compiled.code)], variable_ranges(compiled)
    return {
        "linkReferences": libraries_by_file(
            {name: _references(ranges) for name, ranges in compiled.links.items()}
        ),
        "immutableReferences": {
            name: _references(ranges) for name, ranges in compiled.immutables.items()
        },
        "cborAuxdata": _auxdata(compiled.code, auxdata, code),
        "isCallGuarded": is_call_guarded(compiled.code),
        "isEqual": mask(beginning, variable) == mask(compiled.code, variable),
    }


def _references(ranges: Sequence[ByteRange]) -> list[dict[str, int]]:
    return [{"start": start, "length": end - start} for start, end in ranges]


def _auxdata(
    compiled: bytes, ranges: Sequence[ByteRange], code: bytes
) -> Mapping[str, object] | None:
    """Return the metadata by its number; None where other bytes look like metadata of embedded
    contracts, which no comparison had to know."""
    if _METADATA.search(mask(compiled, ranges)):
        return None
    return {
        str(number): {"offset": start, "value": to_hex(code[start:end])}
        for number, (start, end) in enumerate(ranges, 1)
    }
