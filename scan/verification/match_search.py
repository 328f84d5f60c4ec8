"""The search for the contract and the compiler settings that produce deployed code; the results of
the compilations so far tell which settings to skip, when to stop, and why none matched.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from scan.errors import SourceDoesNotCompile, VerificationFailed
from scan.verification.bytecode_comparison import Comparison
from scan.verification.bytecode_metadata import compiler_version, read_metadata
from scan.verification.compiler_run import OutOfLimits, busy
from scan.verification.contract_match import FULL, RUNTIME, ContractMatcher, Match
from scan.verification.creation_comparison import DeployedCode, preamble_of
from scan.verification.languages.solidity import Selection
from scan.verification.request import Submission
from scan.verification.settings_search import CompilerSettings, dotted
from scan.verification.submission_compilations import (
    OUTPUTS,
    Compilations,
    CompiledContract,
    compiled_contracts,
    depend_on_settings,
    describe_errors,
    errors,
    first_selection,
)

MOST_COMPILATIONS = 24
COMPILATIONS_OF_OTHER_VERSION = 4
# After code of equal length that is nearly equal: then the source differs, not the settings.
COMPILATIONS_AFTER_ALMOST = 2
COMPILATIONS_AFTER_RUNTIME = 6  # after equal runtime code with different creation code
MOST_SOURCE_ERRORS = 3
NO_EVM_VERSION = "Invalid EVM version requested."  # solc's message
EXPERIMENTAL_OPTION = "settings.experimental"  # in solc's message where it allows an EVM version
_METADATA_DEFAULTS = (("bytecodeHash", "ipfs"), ("appendCBOR", True), ("useLiteralContent", False))
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

    def failure(self, count: int, hint: str) -> VerificationFailed:
        """Return the error that says why no compilation matched, with sentences of a hint."""
        if self._closest is None:
            if " not found" in self._faults[0]:
                hint = f". {BY_PATH}{hint}"
            return SourceDoesNotCompile(f"The source does not compile: {self._faults[0]}{hint}")
        tried = f"{count} compilation{'s' if count > 1 else ''}"
        return VerificationFailed(f"No match in {tried}. {self._closest[1]}.{hint}")


def find_match(compilations: Compilations, submission: Submission, code: DeployedCode) -> Match:
    """Return the best match. Raises VerificationFailed with the reason, Unavailable."""
    return _Search(compilations, submission, code).run()


class _Search:
    """Compiles one submission with one setting after another, until a match or the deadline.

    After the first compilation `_selection` has only the contracts that may match. A match of the
    runtime code alone is returned if no other settings match the creation code, too.
    """

    def __init__(
        self, compilations: Compilations, submission: Submission, code: DeployedCode
    ) -> None:
        self._compilations = compilations
        self._submission = compilations.submission
        self._code = code
        self._deployed = code.runtime
        self._runtime_match: Match | None = None
        self._selection: Selection = first_selection(submission)
        self._other_version = _other_version(submission, code.runtime)
        self._metadata_setting = ""
        self._attempts = Attempts(
            COMPILATIONS_OF_OTHER_VERSION if self._other_version else MOST_COMPILATIONS,
            is_reproducible=submission.language.is_reproducible(submission.version),
        )

    def run(self) -> Match:
        version = self._submission.version
        candidates = self._submission.language.candidates
        executed = self._deployed[len(preamble_of(self._deployed) or b"") :]
        for settings in candidates(self._submission.settings, version, executed):
            if not self._attempts.is_promising(settings):
                continue
            if self._compilations.count >= self._attempts.most_compilations:
                break
            if not self._compilations.is_time_left():
                break
            self._metadata_setting = metadata_setting(self._submission.settings, settings)
            match = self._attempt(settings)
            if match:
                return match
            if self._attempts.is_source_in_error():
                break
        if self._runtime_match:
            return self._runtime_match
        if not self._compilations.count:
            raise busy()  # all of the time was spent waiting for a compiler
        hint = self._metadata_setting
        if other := self._other_version:
            hint += f" According to its metadata, the deployed code was compiled by {other[:40]}."
        raise self._attempts.failure(self._compilations.count, hint)

    def _attempt(self, settings: CompilerSettings) -> Match | None:
        self._compilations.submission = self._submission
        try:
            output = self._compilations.run(settings, self._selection)
            source_errors = errors(output)
            if not source_errors:
                return self._match(compiled_contracts(output, self._submission), settings)
        except OutOfLimits:
            if not (self._attempts.any_compiled() or self._runtime_match):
                raise
            self._attempts.record_limit(settings)
            return None
        self._attempts.record_errors(source_errors, settings, self._submission.sources)
        return None

    def _match(
        self, contracts: Sequence[CompiledContract], settings: CompilerSettings
    ) -> Match | None:
        """Return the first full match, else the first partial one, else None. Keep a match of the
        runtime code alone for run()."""
        names = [contract.name for contract in contracts]
        matcher = ContractMatcher(self._compilations, self._submission, self._code, settings, names)
        partial: Match | None = None
        for contract in contracts:
            match, comparison = matcher.match(contract)
            if match is None:
                count = self._compilations.count
                self._attempts.record_mismatch(contract, comparison, self._deployed, count)
            elif match.level == FULL:
                return match
            elif match.level == RUNTIME:
                self._runtime_match = self._runtime_match or match
                self._attempts.record_runtime_match(self._compilations.count)
            else:
                partial = partial or match
        self._narrow(contracts)
        return partial

    def _narrow(self, contracts: Sequence[CompiledContract]) -> None:
        """Have later compilations output only contracts whose selectors are all in the deployed
        code.

        An OpenZeppelin token compiles in 1.2 s alone and in 4 to 5 s with all its imports.
        """
        selection: dict[str, dict[str, list[str]]] = {}
        for contract in contracts:
            selectors: dict[str, str] = contract.output["evm"].get("methodIdentifiers") or {}
            if all(bytes.fromhex(n).lstrip(b"\0") in self._deployed for n in selectors.values()):
                selection.setdefault(contract.path, {})[contract.name] = OUTPUTS
        if selection:
            self._selection = selection


def metadata_setting(submitted: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    """Return a sentence where `settings.metadata` was submitted and another is chosen, else ""."""
    if "metadata" not in submitted:
        return ""
    both = [settings.get("metadata", {}) for settings in (chosen, submitted)]
    changed = [[m for m in setting.items() if m not in _METADATA_DEFAULTS] for setting in both]
    if sorted(changed[0]) == sorted(changed[1]):
        return ""
    texts = [orjson.dumps(setting).decode()[:200] for setting in both]
    return f" By the deployed code, settings.metadata is {texts[0]}, not {texts[1]} as submitted."


def _other_version(submission: Submission, deployed: bytes) -> str | None:
    """Return the compiler version in the deployed code; None if it is the submitted one."""
    version = compiler_version(read_metadata(deployed))
    return version if version != dotted(submission.version) else None
