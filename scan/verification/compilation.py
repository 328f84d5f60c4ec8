"""Compiles one submission under changing settings, and reads what the compiler answers."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.errors import Unavailable, VerificationFailed
from scan.verification.bytecode_comparison import LinkedCode, linked_code
from scan.verification.compiler import compile_source
from scan.verification.compiler_places import RunningPlace
from scan.verification.compiler_releases import VIA_IR_FROM, SolcVersion, dotted
from scan.verification.request import Submission
from scan.verification.sandbox import Program
from scan.verification.settings_search import CompilerSettings

INLINER_FROM = (0, 8, 2)
OUTPUTS = [
    "abi",
    "metadata",
    "evm.bytecode.object",
    "evm.bytecode.linkReferences",
    "evm.deployedBytecode.object",
    "evm.deployedBytecode.linkReferences",
    "evm.deployedBytecode.immutableReferences",
    "evm.methodIdentifiers",
]
# Errors that other settings may mend; the rest is wrong with the source.
_SETTING_ERRORS = (
    "CodeGenerationError",
    "CompilerError",
    "InternalCompilerError",
    "UnimplementedFeatureError",
    "YulException",
)

Selection = Mapping[str, Mapping[str, Sequence[str]]]


class CompiledContract(NamedTuple):
    """`output` is what the compiler gives for it: ABI, metadata, EVM."""

    path: str
    name: str
    output: Mapping[str, Any]
    runtime: LinkedCode


class Compilations:
    """The compilations of one submission in its time; `count` is how many there were."""

    def __init__(self, compiler: Program, submission: Submission, place: RunningPlace) -> None:
        self._compiler = compiler
        self._submission = submission
        self._place = place
        self.count = 0

    def is_time_left(self) -> bool:
        """Raises Unavailable where others wait and have to be let in."""
        self._place.check()
        return self._place.left_s() >= 1

    def run(
        self, settings: CompilerSettings, selection: Selection, addition: str = ""
    ) -> dict[str, Any]:
        """The compiler's output, with `addition` at the end of every source."""
        self.count += 1
        standard_input = {
            "language": "Solidity",
            "sources": {
                path: {"content": content + addition}
                for path, content in self._submission.sources.items()
            },
            "settings": {**settings, "outputSelection": selection},
        }
        return compile_source(
            self._compiler, standard_input, self._place.left_s(), self._place.check
        )


def first_selection(submission: Submission) -> Selection:
    """Every contract, or the one named; a name is looked for file by file.

    From 0.4.18 until 0.5.0 a name under "*" selects nothing.
    """
    if submission.contract_name is None:
        return {"*": {"*": OUTPUTS}}
    paths = [submission.contract_path] if submission.contract_path else list(submission.sources)
    return {path: {submission.contract_name: OUTPUTS} for path in paths}


def accepted_settings(settings: Mapping[str, Any], version: SolcVersion) -> dict[str, Any]:
    """Without what an early compiler refuses, though it does just that."""
    accepted = dict(settings)
    if version < VIA_IR_FROM and accepted.get("viaIR") is False:
        del accepted["viaIR"]
    details = accepted.get("optimizer", {}).get("details")
    if version < INLINER_FROM and isinstance(details, dict):
        details = {name: value for name, value in details.items() if name != "inliner"}
        accepted["optimizer"] = {**accepted["optimizer"], "details": details}
    return accepted


def compiled_contracts(output: Mapping[str, Any], submission: Submission) -> list[CompiledContract]:
    """Those with code, of the name and file wanted; raises VerificationFailed for none.

    A wrong compiler is found out here: Unavailable.
    """
    found = [
        CompiledContract(path, name, each, linked_code(each["evm"]["deployedBytecode"]))
        for path, named in output.get("contracts", {}).items()
        for name, each in named.items()
        if each.get("evm", {}).get("deployedBytecode", {}).get("object")
        and submission.contract_name in (None, name)
        and submission.contract_path in (None, path)
    ]
    if not found:
        named_so = f" named {submission.contract_name}" if submission.contract_name else ""
        raise VerificationFailed(f"The source has no contract{named_so} that can be deployed.")
    _check_compiler(found[0], submission.version)
    return found


def _check_compiler(contract: CompiledContract, version: SolcVersion) -> None:
    metadata = orjson.loads(contract.output.get("metadata") or "{}")
    stated = str(metadata.get("compiler", {}).get("version", ""))
    if stated and re.split(r"[+-]", stated, maxsplit=1)[0] != dotted(version):
        raise Unavailable(f"The compiler installed as {dotted(version)} is {stated[:60]}.")


def evm_output(output: Mapping[str, Any], contract: CompiledContract) -> dict[str, Any]:
    found = output.get("contracts", {}).get(contract.path, {}).get(contract.name, {})
    return dict(found.get("evm", {}))


def errors(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in output.get("errors") or () if each.get("severity") == "error"]


def depend_on_settings(found: Sequence[Mapping[str, Any]]) -> bool:
    return all(error.get("type") in _SETTING_ERRORS for error in found)


def describe_errors(found: Sequence[Mapping[str, Any]], sources: Mapping[str, str]) -> str:
    return "; ".join(_describe(error, sources) for error in found[:3])


def _describe(error: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """The compiler's sentence and its place, never its quotation of a file."""
    message = str(error.get("message")).partition("Searched the following")[0].strip()[:300]
    place = error.get("sourceLocation") or {}
    path, start = str(place.get("file")), place.get("start")
    if path not in sources or not isinstance(start, int):
        return f"{error.get('type')}: {message}"
    line = sources[path].encode()[: max(start, 0)].count(b"\n") + 1
    return f"{error.get('type')} in {path[:100]} line {line}: {message}"
