"""The search for the contract and the compiler settings that produce deployed code."""

from collections.abc import Sequence

from scan.verification.blueprints import preamble_of
from scan.verification.bytecode_metadata import compiler_version, read_metadata
from scan.verification.compiler_places import busy
from scan.verification.compiler_releases import dotted
from scan.verification.compiler_run import OutOfLimits
from scan.verification.contract_match import FULL, RUNTIME, ContractMatcher, Match
from scan.verification.creation_comparison import DeployedCode
from scan.verification.languages.language import Selection
from scan.verification.request import Submission
from scan.verification.search_progress import (
    COMPILATIONS_OF_OTHER_VERSION,
    MOST_COMPILATIONS,
    Attempts,
)
from scan.verification.settings_search import CompilerSettings
from scan.verification.submission_compilations import (
    OUTPUTS,
    Compilations,
    CompiledContract,
    compiled_contracts,
    errors,
    first_selection,
)


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
        self._submission = submission
        self._code = code
        self._deployed = code.runtime
        self._runtime_match: Match | None = None
        self._selection: Selection = first_selection(submission)
        self._other_version = _other_version(submission, code.runtime)
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
            match = self._attempt(settings)
            if match:
                return match
            if self._attempts.is_source_in_error():
                break
        if self._runtime_match:
            return self._runtime_match
        if not self._compilations.count:
            raise busy()  # all of the time was spent waiting for a compiler
        raise self._attempts.failure(self._compilations.count, self._other_version)

    def _attempt(self, settings: CompilerSettings) -> Match | None:
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
                self._attempts.record_mismatch(
                    contract, comparison, self._deployed, self._compilations.count
                )
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


def _other_version(submission: Submission, deployed: bytes) -> str | None:
    """Return the compiler version in the deployed code; None if it is the submitted one."""
    named = compiler_version(read_metadata(deployed))
    return named if named != dotted(submission.version) else None
