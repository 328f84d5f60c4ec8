"""Whether one compiled contract is the deployed one, and whether a partial match is a full one."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scan.verification.bytecode_comparison import (
    ByteRange,
    Comparison,
    LinkedCode,
    assembly_auxdata,
    compare_runtime,
    linked_code,
    moved_auxdata,
)
from scan.verification.bytecode_metadata import read_metadata
from scan.verification.compilation import (
    OUTPUTS,
    Compilations,
    CompiledContract,
    compiled_contracts,
    errors,
    evm_output,
)
from scan.verification.compiler import OutOfLimits
from scan.verification.metadata_search import find_variant, likely_paths
from scan.verification.request import Submission
from scan.verification.settings_search import CompilerSettings

_AUXDATA_OUTPUTS = [*OUTPUTS, "evm.legacyAssembly"]


class Match(NamedTuple):
    """A match; `level` is "full" or "partial"; `metadata` is the file whose hash is in a full
    match's code.

    `creation_auxdata` are the ranges of metadata in the creation code of a partial match.
    """

    level: str
    contract: CompiledContract
    metadata: str
    libraries: Mapping[str, bytes]
    creation: LinkedCode
    creation_auxdata: Sequence[ByteRange]


class _Auxdata(NamedTuple):
    """All auxdata in a contract, and its code compiled again with a space after each source."""

    parts: frozenset[bytes] = frozenset()
    runtime: bytes = b""
    creation: bytes = b""


class ContractMatcher(NamedTuple):
    """Compares compiled contracts with a deployed one; `names` are those of all compiled
    contracts; their file may be named after one of them."""

    compilations: Compilations
    submission: Submission
    deployed: bytes
    settings: CompilerSettings
    names: Sequence[str]

    def match(self, contract: CompiledContract) -> tuple[Match | None, Comparison]:
        """Return the match; if there is none, the comparison has the reason."""
        auxdata = _Auxdata()
        comparison = compare_runtime(self.deployed, contract.runtime, self.submission.libraries)
        if comparison.inner_metadata:
            auxdata = self._auxdata(contract)
            comparison = compare_runtime(
                self.deployed,
                contract.runtime,
                self.submission.libraries,
                moved_auxdata(contract.runtime.code, auxdata.parts, auxdata.runtime),
            )
        if comparison.match is None:
            return None, comparison
        return self._improved(_match(contract, comparison, auxdata), auxdata), comparison

    def _auxdata(self, contract: CompiledContract) -> _Auxdata:
        selection = {contract.path: {contract.name: _AUXDATA_OUTPUTS}}
        before, after = (
            evm_output(self.compilations.run(self.settings, selection, addition), contract)
            for addition in ("", " ")
        )
        return _Auxdata(
            frozenset(assembly_auxdata(before.get("legacyAssembly"))),
            linked_code(after.get("deployedBytecode", {})).code,
            linked_code(after.get("bytecode", {})).code,
        )

    def _improved(self, match: Match, auxdata: _Auxdata) -> Match:
        """Improve a match: a partial match may become full under another path, or with libraries
        in the settings."""
        if match.level == "full":
            return match
        variant = self._with_deployed_metadata(match)
        libraries = {**self.submission.libraries, **match.libraries}
        if variant.level == "full" or not libraries:
            return variant
        try:
            linked = self._with_libraries(match, libraries, auxdata)
        except OutOfLimits:
            return match
        if linked is None or linked.level == "full":
            return linked or match
        return self._with_deployed_metadata(linked)

    def _with_libraries(
        self, match: Match, libraries: Mapping[str, bytes], auxdata: _Auxdata
    ) -> Match | None:
        """Return the match compiled again with the libraries in the settings, and so in the
        metadata."""
        by_file: dict[str, dict[str, str]] = {}
        for qualified, address in libraries.items():
            path, colon, name = qualified.rpartition(":")
            # A library submitted by name only is also listed with its file, from the code.
            if colon:
                by_file.setdefault(path, {})[name] = f"0x{address.hex()}"
        settings = {**self.settings, "libraries": by_file}
        selection = {match.contract.path: {match.contract.name: OUTPUTS}}
        output = self.compilations.run(settings, selection)
        if errors(output):
            return None
        for contract in compiled_contracts(output, self.submission):
            comparison = compare_runtime(self.deployed, contract.runtime, {})
            if comparison.match and contract.name == match.contract.name:
                linked = _match(contract, comparison, auxdata)
                return linked._replace(libraries=match.libraries)
        return None

    def _with_deployed_metadata(self, match: Match) -> Match:
        """Return a full match if another path or other settings give a metadata file with the
        deployed hash."""
        names = dict.fromkeys([match.contract.name, *self.names])
        paths = [] if self.submission.path_is_known else likely_paths(names)
        deployed = read_metadata(self.deployed)
        variant = find_variant(deployed, match.metadata, match.contract.path, paths)
        return match._replace(level="full", metadata=variant) if variant else match


def _match(contract: CompiledContract, comparison: Comparison, auxdata: _Auxdata) -> Match:
    creation = linked_code(contract.output["evm"]["bytecode"])
    return Match(
        level=comparison.match or "",
        contract=contract,
        metadata=contract.output.get("metadata") or "{}",
        libraries=comparison.libraries,
        creation=creation,
        creation_auxdata=moved_auxdata(creation.code, auxdata.parts, auxdata.creation),
    )
