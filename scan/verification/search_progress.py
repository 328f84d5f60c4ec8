"""Results of the compilations so far: settings to skip, when to stop, why none matched."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.errors import SourceDoesNotCompile, VerificationFailed
from scan.verification.bytecode_comparison import Comparison
from scan.verification.settings_search import CompilerSettings
from scan.verification.submission_compilations import (
    CompiledContract,
    depend_on_settings,
    describe_errors,
)

MOST_COMPILATIONS = 24
COMPILATIONS_OF_OTHER_VERSION = 4
# After code of equal length that is nearly equal: then the source differs, not the settings.
COMPILATIONS_AFTER_ALMOST = 2
COMPILATIONS_AFTER_RUNTIME = 6  # after equal runtime code with different creation code
MOST_SOURCE_ERRORS = 3
NO_EVM_VERSION = "Invalid EVM version requested."  # solc's message
EXPERIMENTAL_OPTION = "settings.experimental"  # in solc's message where it allows an EVM version
BY_PATH = (
    "Files import each other by path: choose the folder that contains all of them, or send a"
    " standard JSON input, which names its sources by path."
)


class Attempts:
    """The attempts of one search. `is_reproducible`: compiling again cannot give other code."""

    def __init__(self, most_compilations: int, *, is_reproducible: bool = True) -> None:
        self.most_compilations = most_compilations
        self._is_reproducible = is_reproducible
        self._closest: tuple[int, str] | None = None
        self._faults: list[str] = []
        self._failed_evm_versions: set[object] = set()  # those with which the source has errors
        self._slow_pipelines: set[object] = set()  # values of viaIR that exceeded a limit

    def is_promising(self, settings: CompilerSettings) -> bool:
        return (
            settings.get("evmVersion") not in self._failed_evm_versions
            and settings.get("viaIR") not in self._slow_pipelines
        )

    def is_source_in_error(self) -> bool:
        return len(self._failed_evm_versions) >= MOST_SOURCE_ERRORS

    def any_compiled(self) -> bool:
        return self._closest is not None

    def record_limit(self, settings: CompilerSettings) -> None:
        self._slow_pipelines.add(settings.get("viaIR"))

    def record_errors(
        self,
        errors: Sequence[Mapping[str, Any]],
        settings: CompilerSettings,
        sources: Mapping[str, str],
    ) -> None:
        messages = [str(error.get("message")) for error in errors]
        if NO_EVM_VERSION in messages:
            self._faults.append(f"the compiler has no EVM version {settings.get('evmVersion')}")
        else:
            self._faults.append(describe_errors(errors, sources))
        is_experimental = any(EXPERIMENTAL_OPTION in message for message in messages)
        if not (is_experimental or depend_on_settings(errors)):
            self._failed_evm_versions.add(settings.get("evmVersion"))

    def record_mismatch(
        self, contract: CompiledContract, comparison: Comparison, deployed: bytes, count: int
    ) -> None:
        """Record a compilation that did not match; `count` is the number of them so far."""
        distance = abs(len(contract.runtime.code) - len(deployed))
        if self._closest is None or distance < self._closest[0]:
            self._closest = (distance, f"{contract.name}: {comparison.reason}")
        is_almost_equal = comparison.differing is not None and comparison.differing * 20 <= len(
            deployed
        )
        if is_almost_equal and self._is_reproducible:
            self.most_compilations = min(self.most_compilations, count + COMPILATIONS_AFTER_ALMOST)

    def record_runtime_match(self, count: int) -> None:
        """Record a match of the runtime code alone, which other settings may give, too."""
        self.most_compilations = min(self.most_compilations, count + COMPILATIONS_AFTER_RUNTIME)

    def failure(self, count: int, other_version: str | None) -> VerificationFailed:
        """Return the error that says why no compilation matched. `other_version` is the compiler
        version in the deployed code, None if it is the submitted one."""
        hint = (
            f" According to its metadata, the deployed code was compiled by {other_version[:40]}."
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
