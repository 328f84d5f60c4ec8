"""Compilations of one submission with different settings, and the compiler's output."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from scan.errors import CompilerUnavailable, VerificationFailed
from scan.json_bodies import BYTE_ORDER_MARK
from scan.verification.bytecode_comparison import LinkedCode, linked_code
from scan.verification.compiler_run import OutOfLimits, RunningPlace, compile_source
from scan.verification.contract_interface import (
    UNREADABLE,
    Entries,
    declared_in,
    interface_of,
    library_entries,
    library_functions,
)
from scan.verification.creation_comparison import as_deployed, preamble_of
from scan.verification.languages import solidity, vyper
from scan.verification.request import INTERFACE_SUFFIX, Submission
from scan.verification.sandbox import Program
from scan.verification.settings_search import CompilerSettings, dotted

MAX_ABI_BYTES = 1024 * 1024
OUTPUTS = """
    abi metadata evm.bytecode.object evm.bytecode.linkReferences evm.bytecode.sourceMap
    evm.deployedBytecode.object evm.deployedBytecode.linkReferences
    evm.deployedBytecode.immutableReferences evm.deployedBytecode.sourceMap
    evm.methodIdentifiers storageLayout
""".split()
# Errors that may not occur with other settings; all others are errors in the source.
_SETTING_ERRORS = """
    CodeGenerationError CompilerError InternalCompilerError UnimplementedFeatureError YulException
""".split()


LEFT_OUT = "What the source's syntax tree says of libraries, enums and namespaces is not known: {}"
MAX_OUTPUTS = 3  # the last ones, which are kept: a match, its syntax trees and namespaces
Outputs = dict[bytes, dict[str, Any]]  # by the compiler's input


class NoContract(VerificationFailed):
    """A source compiles, but has no contract that can be deployed."""


class CompiledContract(NamedTuple):
    """A compiled contract. `output` is the compiler's output for it: ABI, metadata, EVM. `files`
    are the compilation's, by the numbers that its source map has. `functions` are those of a
    library, `library_entries` the events and errors of libraries that it may run."""

    path: str
    name: str
    output: Mapping[str, Any]
    runtime: LinkedCode
    files: Mapping[int, str] = {}
    functions: Entries = ()
    library_entries: Entries = ()

    def abi_json(self) -> str:
        """Return the ABI as JSON. Raises VerificationFailed for an ABI that is too large, since
        every call of the contract reads it."""
        try:
            abi = orjson.dumps(self.output.get("abi", [])).decode()
        except orjson.JSONEncodeError:  # a compiler takes 200 nested structures
            raise VerificationFailed("The contract's ABI is nested too deeply.") from None
        if len(abi) > MAX_ABI_BYTES:
            raise VerificationFailed("The contract's ABI is larger than 1 MiB of JSON.")
        return abi

    def interface_json(self) -> str | None:
        """Return the contract's interface as JSON; None where its ABI is all of it, or where it is
        too large."""
        abi, selectors = self.output.get("abi", []), self.output["evm"].get("methodIdentifiers")
        functions = interface_of(abi, selectors or {}, self.functions)
        interface = [*functions, *self.library_entries]
        try:
            text = orjson.dumps(interface).decode()
        except orjson.JSONEncodeError:
            return None
        return None if interface == abi or len(text) > MAX_ABI_BYTES else text


class Compilations:
    """The compilations of one submission within its time limit, or of variations of its sources
    that take its place. `count` is their number so far. `outputs` are those of other submissions:
    an equal input is not compiled again."""

    def __init__(
        self,
        compiler: Program,
        submission: Submission,
        deployed: bytes,
        place: RunningPlace,
        outputs: Outputs | None = None,
    ) -> None:
        self._compiler = compiler
        self.submission = compilable(submission)
        self._preamble = preamble_of(deployed)
        self._place = place
        self._outputs = {} if outputs is None else outputs
        self.count = 0
        self.left_out = ""  # a sentence, where there are no syntax trees

    def is_time_left(self) -> bool:
        """Return whether time is left. Raises Unavailable if other requests wait for a compiler and
        this submission's share of the time is used up."""
        self._place.check()
        return self._place.left_s() >= 1

    def run(
        self,
        settings: CompilerSettings,
        selection: solidity.Selection,
        addition: str = "",
        more: solidity.Sources | None = None,
    ) -> dict[str, Any]:
        """Return the compiler's output for the sources, each with `addition` at its end, and for
        `more`."""
        self.count += 1
        language, version = self.submission.language, self.submission.version
        sources = {path: text + addition for path, text in self.submission.sources.items()}
        sources |= more or {}
        compiler_input = language.take(sources, settings, selection, version)
        key = orjson.dumps((version, compiler_input.standard, compiler_input.options))
        if (output := self._outputs.pop(key, None)) is None:
            standard, options = compiler_input
            limits = self._place.left_s(), self._place.check
            output = compile_source(self._compiler, standard, *limits, options)
            output = language.give(output, version, sources)
        self._outputs[key] = output
        if len(self._outputs) > MAX_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]
        return output if self._preamble is None else as_deployed(output, self._preamble)

    def trees(self, settings: CompilerSettings) -> dict[str, Any]:
        """Return the output with the syntax trees and ABIs of what matched with these settings."""
        try:
            return self.run(settings, {"*": {"": ["ast"], "*": ["abi"]}})
        except OutOfLimits as error:
            self.left_out = LEFT_OUT.format(error.message)
            raise

    def with_libraries(
        self, contract: CompiledContract, settings: CompilerSettings
    ) -> CompiledContract:
        """Return what matched with what syntax trees say of libraries. The source has matched: what
        never can be read of them is left out. Raises Unavailable."""
        has_any = any("library" in text for text in self.submission.sources.values())
        if has_any and self.submission.language.has_trees:
            with suppress(VerificationFailed, *UNREADABLE):
                declared = [*declared_in(output := self.trees(settings))]
                key = declared, contract.path, contract.name
                contract = contract._replace(library_entries=library_entries(output, *key))
                functions = library_functions(*key)
                return contract._replace(functions=functions)
        return contract


def compilable(submission: Submission) -> Submission:
    """Return a submission without byte order marks where no compiler takes them."""
    sources = {
        path: text
        if submission.language is vyper.VYPER and not path.endswith(INTERFACE_SUFFIX)
        else text.removeprefix(BYTE_ORDER_MARK)
        for path, text in submission.sources.items()
    }
    return submission._replace(sources=sources)


def first_selection(submission: Submission) -> solidity.Selection:
    """Select every contract, or the named one in every file.

    Files are listed because in 0.4.18 to 0.5.0 a name under "*" selects nothing.
    """
    if submission.selection is not None:
        return submission.selection
    if submission.contract_name is None:
        return {path: {"*": OUTPUTS} for path in submission.selected_files or ("*",)}
    paths = [submission.contract_path] if submission.contract_path else list(submission.sources)
    return {path: {submission.contract_name: OUTPUTS} for path in paths}


def compiled_contracts(output: Mapping[str, Any], submission: Submission) -> list[CompiledContract]:
    """Return the contracts that have code and the submitted name and file.

    Raises NoContract if there are none, Unavailable if the installed compiler is of a
    different version.
    """
    files = {
        source["id"]: path
        for path, source in (output.get("sources") or {}).items()
        if isinstance(source.get("id"), int)
    }
    contracts = [
        CompiledContract(
            path, name, contract, linked_code(contract["evm"]["deployedBytecode"]), files
        )
        for path, contracts_of_file in output.get("contracts", {}).items()
        for name, contract in contracts_of_file.items()
        if contract.get("evm", {}).get("deployedBytecode", {}).get("object")
        and submission.contract_name in (None, name)
        and submission.contract_path in (None, path)
    ]
    if not contracts:
        with_name = f" named {submission.contract_name}" if submission.contract_name else ""
        raise NoContract(f"The source has no contract{with_name} that can be deployed.")
    metadata = orjson.loads(contracts[0].output.get("metadata") or "{}")
    stated = str(metadata.get("compiler", {}).get("version", ""))
    expected = dotted(submission.version)
    if stated and re.split(r"[+-]", stated, maxsplit=1)[0] != expected:
        raise CompilerUnavailable(f"The compiler installed as {expected} is {stated[:60]}.")
    return contracts


def evm_output(output: Mapping[str, Any], contract: CompiledContract) -> dict[str, Any]:
    in_file = output.get("contracts", {}).get(contract.path, {})
    return dict(in_file.get(contract.name, {}).get("evm", {}))


def errors(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [error for error in output.get("errors") or () if error.get("severity") == "error"]


def depend_on_settings(errors: Sequence[Mapping[str, Any]]) -> bool:
    return all(error.get("type") in _SETTING_ERRORS for error in errors)


def describe_error(error: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """Return the compiler's message and its line, without the text that it quotes from a file."""
    message = str(error.get("message")).partition("Searched the following")[0].strip()[:300]
    location = error.get("sourceLocation") or {}
    path, start = str(location.get("file")), location.get("start")
    if path not in sources or not isinstance(start, int):
        return f"{error.get('type')}: {message}"
    line = sources[path].encode()[: max(start, 0)].count(b"\n") + 1
    return f"{error.get('type')} in {path[:100]} line {line}: {message}"
