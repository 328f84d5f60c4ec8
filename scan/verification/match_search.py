"""The search for the contract and the compiler settings that produce deployed code; the results of
the compilations so far tell which settings to skip, when to stop, and why none matched.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import orjson

from scan.errors import SourceDoesNotCompile, VerificationFailed
from scan.verification.bytecode_comparison import Comparison
from scan.verification.bytecode_metadata import compiler_version, read_metadata
from scan.verification.compiler_run import OutOfLimits
from scan.verification.contract_match import FULL, RUNTIME, ContractMatcher, Match
from scan.verification.creation_comparison import DeployedCode, preamble_of
from scan.verification.languages.solidity import Selection
from scan.verification.settings_search import CompilerSettings, dotted
from scan.verification.submission_compilations import (
    OUTPUTS,
    Compilations,
    CompiledContract,
    NoContract,
    compiled_contracts,
    depend_on_settings,
    describe_error,
    errors,
    first_selection,
)

MOST_COMPILATIONS = 24
COMPILATIONS_OF_OTHER_VERSION = 4
# After code of equal length that is nearly equal: then the source differs, not the settings.
COMPILATIONS_AFTER_ALMOST = 2
COMPILATIONS_AFTER_RUNTIME = 6  # after equal runtime code with different creation code
MOST_SOURCE_ERRORS = 3
SEARCHED = ("optimizer", "evmVersion", "viaIR")  # settings that a search chooses
NO_EVM_VERSION = "Invalid EVM version requested."  # solc's message
EXPERIMENTAL_OPTION = "settings.experimental"  # in solc's message where it allows an EVM version
_METADATA_DEFAULTS = (("bytecodeHash", "ipfs"), ("appendCBOR", True), ("useLiteralContent", False))
BY_PATH = (
    "Files import each other by path: choose the folder that contains all of them, or send a"
    " standard JSON input, which names its sources by path."
)


class MatchSearch:
    """Compiles one submission with one setting after another, until a match or the deadline. What
    the compilations gave so far tells which settings to skip, when to stop, and why none matched.

    After the first compilation `_selection` has only the contracts that may match. A match of the
    runtime code alone is returned if no other settings match the creation code, too.
    """

    def __init__(
        self,
        compilations: Compilations,
        code: DeployedCode,
        stated: Mapping[str, Any] | None = None,
    ) -> None:
        """`stated` are the settings in the metadata whose hash the code has, where a full match is
        stored: no others are searched for, beside the submitted ones."""
        self._compilations = compilations
        self._stated = stated
        self._submission = submission = compilations.submission
        self._code = code
        self._deployed = code.runtime
        self._runtime_match: Match | None = None
        self._selection: Selection = first_selection(submission)
        self._metadata_setting = ""
        version = compiler_version(read_metadata(code.runtime))
        # The compiler's version in the deployed code, where it is not the submitted one.
        self._other_version = None if version == dotted(submission.version) else version
        self._most_compilations = (
            COMPILATIONS_OF_OTHER_VERSION if self._other_version else MOST_COMPILATIONS
        )
        self._closest: tuple[int, str] | None = None  # of those that compiled, and why not equal
        self._faults: list[str] = []
        self._failed_evm_versions: set[object] = set()  # those with which the source has errors
        self._slow_pipelines: set[object] = set()  # values of viaIR that exceeded a limit

    def run(self) -> Match:
        """Return the best match. Raises VerificationFailed with the reason, Unavailable."""
        for settings in self._candidates():
            if (
                settings.get("evmVersion") in self._failed_evm_versions
                or settings.get("viaIR") in self._slow_pipelines
            ):
                continue
            has_tried_enough = self._compilations.count >= self._most_compilations
            if has_tried_enough or not self._compilations.is_time_left():
                break
            self._metadata_setting = metadata_setting(self._submission.settings, settings)
            match = self._attempt(settings)
            if match:
                return match
            if len(self._failed_evm_versions) >= MOST_SOURCE_ERRORS:
                break
        if self._runtime_match:
            return self._runtime_match
        raise self._failure()

    def _candidates(self) -> Iterator[CompilerSettings]:
        language, version = self._submission.language, self._submission.version
        submitted = self._submission.settings
        executed = self._deployed[len(preamble_of(self._deployed) or b"") :]
        candidates = language.candidates(submitted, version, executed)
        if self._stated is None:
            return iter(candidates)
        stated = {name: self._stated[name] for name in SEARCHED if name in self._stated}
        known = language.candidates({**stated, **submitted}, version, executed)
        first = [*islice(candidates, 1), *islice(known, 1)]
        return iter([settings for n, settings in enumerate(first) if settings not in first[:n]])

    def _attempt(self, settings: CompilerSettings) -> Match | None:
        self._compilations.submission = self._submission
        try:
            output = self._compilations.run(settings, self._selection)
            source_errors = errors(output)
            if not source_errors:
                return self._match(compiled_contracts(output, self._submission), settings)
            one_by_one = self._submission.language.one_by_one
            if selections := [*one_by_one(self._submission.sources, self._selection)]:
                return self._attempt_each(settings, selections)
        except OutOfLimits:
            if self._closest is None and self._runtime_match is None:
                raise
            self._slow_pipelines.add(settings.get("viaIR"))
            return None
        self._record_errors(source_errors, settings)
        return None

    def _attempt_each(
        self, settings: CompilerSettings, selections: Sequence[Selection]
    ) -> Match | None:
        """Do as _attempt() of a part of the files at a time. Those that compile stay selected."""
        partial: Match | None = None
        compiled: dict[str, Mapping[str, Sequence[str]]] = {}
        first_errors: Sequence[Mapping[str, Any]] = ()
        for selection in selections:
            has_tried_enough = self._compilations.count >= self._most_compilations
            if has_tried_enough or not self._compilations.is_time_left():
                break
            output = self._compilations.run(settings, selection)
            if source_errors := errors(output):
                first_errors = first_errors or source_errors
                continue
            compiled |= selection
            with suppress(NoContract):
                contracts = compiled_contracts(output, self._submission)
                match = self._match(contracts, settings)
                if match and match.level == FULL:
                    return match
                partial = partial or match
        if compiled:
            self._selection = compiled
        elif first_errors:
            self._record_errors(first_errors, settings)
        return partial

    def _match(
        self, contracts: Sequence[CompiledContract], settings: CompilerSettings
    ) -> Match | None:
        """Return the first full match, else the first partial one, else None. Keep a match of the
        runtime code alone for run(): other settings may give that code, too."""
        names = [contract.name for contract in contracts]
        matcher = ContractMatcher(self._compilations, self._submission, self._code, settings, names)
        partial: Match | None = None
        for contract in contracts:
            match, comparison = matcher.match(contract)
            if match is None:
                self._record_mismatch(contract, comparison)
            elif match.level == FULL:
                return match
            elif match.level == RUNTIME:
                self._runtime_match = self._runtime_match or match
                self._allow_more(COMPILATIONS_AFTER_RUNTIME)
            else:
                partial = partial or match
        self._narrow(contracts)
        return partial

    def _allow_more(self, compilations: int) -> None:
        """Have the search end after so many more compilations, if it would not before."""
        most = self._compilations.count + compilations
        self._most_compilations = min(self._most_compilations, most)

    def _record_errors(
        self, errors: Sequence[Mapping[str, Any]], settings: CompilerSettings
    ) -> None:
        messages = [str(error.get("message")) for error in errors]
        if NO_EVM_VERSION in messages:
            self._faults.append(f"the compiler has no EVM version {settings.get('evmVersion')}")
        else:
            sources = self._submission.sources
            self._faults.append("; ".join(describe_error(e, sources) for e in errors[:3]))
        is_experimental = any(EXPERIMENTAL_OPTION in message for message in messages)
        if not (is_experimental or depend_on_settings(errors)):
            self._failed_evm_versions.add(settings.get("evmVersion"))

    def _record_mismatch(self, contract: CompiledContract, comparison: Comparison) -> None:
        distance = abs(len(contract.runtime.code) - len(self._deployed))
        if self._closest is None or distance < self._closest[0]:
            self._closest = (distance, f"{contract.name}: {comparison.reason}")
        differing = comparison.differing
        is_almost_equal = differing is not None and differing * 20 <= len(self._deployed)
        # Where compiling again cannot give other code.
        if is_almost_equal and self._submission.language.is_reproducible(self._submission.version):
            self._allow_more(COMPILATIONS_AFTER_ALMOST)

    def _failure(self) -> VerificationFailed:
        """Return the error that says why no compilation matched, with sentences of a hint."""
        hint = self._metadata_setting
        if other := self._other_version:
            hint += f" According to its metadata, the deployed code was compiled by {other[:40]}."
        if self._closest is None:
            if " not found" in self._faults[0]:
                hint = f". {BY_PATH}{hint}"
            return SourceDoesNotCompile(f"The source does not compile: {self._faults[0]}{hint}")
        count = self._compilations.count
        tried = f"{count} compilation{'s' if count > 1 else ''}"
        if self._stated is not None:
            hint += " Another source has a full match, whose settings were tried."
        return VerificationFailed(f"No match in {tried}. {self._closest[1]}.{hint}")

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
