"""What past attempts have shown: which settings to skip, when to stop, why nothing matched."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.errors import SourceDoesNotCompile, VerificationFailed
from scan.verification.bytecode_comparison import Comparison
from scan.verification.compilation import CompiledContract, depend_on_settings, describe_errors
from scan.verification.settings_search import CompilerSettings

MOST_COMPILATIONS = 24
COMPILATIONS_OF_OTHER_VERSION = 4
COMPILATIONS_AFTER_ALMOST = 2  # the code is as long and nearly equal: the source differs
MOST_SOURCE_ERRORS = 3
BY_PATH = (
    "Files import each other by their paths: choose the folder that holds all of them, or send a"
    " standard JSON input, whose sources are named by path."
)


class Attempts:
    def __init__(self, most_compilations: int) -> None:
        self.most_compilations = most_compilations
        self._closest: tuple[int, str] | None = None
        self._faults: list[str] = []
        self._refused_evm_versions: set[object] = set()  # under which the source is in error
        self._endless_pipelines: set[object] = set()  # viaIR or not, where a limit was met

    def is_promising(self, settings: CompilerSettings) -> bool:
        return (
            settings.get("evmVersion") not in self._refused_evm_versions
            and settings.get("viaIR") not in self._endless_pipelines
        )

    def is_source_in_error(self) -> bool:
        return len(self._refused_evm_versions) >= MOST_SOURCE_ERRORS

    def any_compiled(self) -> bool:
        return self._closest is not None

    def record_limit(self, settings: CompilerSettings) -> None:
        self._endless_pipelines.add(settings.get("viaIR"))

    def record_errors(
        self,
        errors: Sequence[Mapping[str, Any]],
        settings: CompilerSettings,
        sources: Mapping[str, str],
    ) -> None:
        self._faults.append(describe_errors(errors, sources))
        if not depend_on_settings(errors):
            self._refused_evm_versions.add(settings.get("evmVersion"))

    def record_mismatch(
        self, contract: CompiledContract, comparison: Comparison, deployed: bytes, count: int
    ) -> None:
        """`count` is the number of compilations so far."""
        distance = abs(len(contract.runtime.code) - len(deployed))
        if self._closest is None or distance < self._closest[0]:
            self._closest = (distance, f"{contract.name}: {comparison.reason}")
        if comparison.differing is not None and comparison.differing * 20 <= len(deployed):
            self.most_compilations = min(self.most_compilations, count + COMPILATIONS_AFTER_ALMOST)

    def failure(self, count: int, other_version: str | None) -> VerificationFailed:
        """`other_version` is the compiler that the deployed code names, if it is another."""
        hint = (
            f" By its metadata the deployed code was compiled by {other_version[:40]}."
            if other_version
            else ""
        )
        if self._closest is None:
            if " not found" in self._faults[0]:
                hint = f". {BY_PATH}{hint}"
            return SourceDoesNotCompile(f"The source does not compile: {self._faults[0]}{hint}")
        return VerificationFailed(
            f"No match in {count} compilation{'s' if count > 1 else ''}. {self._closest[1]}.{hint}"
        )
