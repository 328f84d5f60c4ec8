"""The adapter of a language (what its compiler takes and gives, and where it comes from), and those
of Solidity, whose output is the form of all languages, and of Yul.

solc compiles one file of Yul by itself, whose objects stand for contracts: an object's code is the
creation code, and the object that it returns the runtime code. The code has no metadata and no ABI,
so that no match is full.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from scan.errors import VerificationFailed
from scan.verification.compiler_store import SOLC, CompilerKind
from scan.verification.settings_search import (
    APPEND_CBOR_FROM,
    BYTECODE_HASH_FROM,
    VIA_IR_FROM,
    InferredSettings,
    SolcVersion,
    candidate_settings,
    infer_settings,
)

Settings = dict[str, Any]
Sources = Mapping[str, str]
Selection = Mapping[str, Mapping[str, Sequence[str]]]


class CompilerInput(NamedTuple):
    """A standard JSON input, and the options of the compiler's command line."""

    standard: Mapping[str, Any]
    options: Sequence[str] = ()


class Language(NamedTuple):
    """A language. `name` is that of standard JSON; `suffixes` are those of its files, () for any.

    `settings` are the accepted settings of a standard JSON input with their types. `candidates`
    yields the settings to try, from those given, the version and the deployed code. `take` makes
    the compiler's input of sources, settings, selected outputs and the version. `give` brings the
    output of an input of sources into solc's form. `is_reproducible`: a version gives the same
    code in each run. `has_trees`: its compiler gives syntax trees in solc's form. `required` are
    settings without which sources do not compile. `one_by_one` yields the selections of a file each
    where the compiler gives nothing of several of which one is no contract by itself.
    """

    name: str
    kind: CompilerKind
    suffixes: tuple[str, ...]
    unnamed_path: str
    settings: Mapping[str, type | tuple[type, ...]]
    candidates: Callable[[Mapping[str, Any], SolcVersion, bytes], Iterator[Settings]]
    take: Callable[[Sources, Settings, Selection, SolcVersion], CompilerInput]
    give: Callable[[dict[str, Any], SolcVersion, Sources], dict[str, Any]]
    is_reproducible: Callable[[SolcVersion], bool]
    has_trees: bool = False
    required: Callable[[Sources, SolcVersion], Settings] = lambda *_: {}
    one_by_one: Callable[[Sources, Selection], Iterable[Selection]] = lambda *_: ()


INLINER_FROM = (0, 8, 2)

# The settings of a standard JSON input that change code or metadata, with their types. Others are
# not passed on: modelChecker, for example, can keep a compiler busy for ever.
_SETTINGS: Mapping[str, type] = {
    "optimizer": dict,
    "evmVersion": str,
    "viaIR": bool,
    "experimental": bool,
    "remappings": list,
    "libraries": dict,
    "metadata": dict,
    "debug": dict,
}


def accepted_settings(settings: Mapping[str, Any], version: SolcVersion) -> Settings:
    """Return the settings without those that an early compiler refuses although their value is how
    it behaves anyway."""
    accepted = dict(settings)
    if version < VIA_IR_FROM and accepted.get("viaIR") is False:
        del accepted["viaIR"]
    details = accepted.get("optimizer", {}).get("details")
    if version < INLINER_FROM and isinstance(details, dict):
        details = {name: value for name, value in details.items() if name != "inliner"}
        accepted["optimizer"] = {**accepted["optimizer"], "details": details}
    if "metadata" in accepted:
        since = {"bytecodeHash": BYTECODE_HASH_FROM, "appendCBOR": APPEND_CBOR_FROM}
        members = accepted["metadata"].items()
        accepted["metadata"] = {n: v for n, v in members if version >= since.get(n, version)}
    return accepted


def _candidates(
    requested: Mapping[str, Any], version: SolcVersion, deployed: bytes
) -> Iterator[Settings]:
    inferred = infer_settings(deployed, version)
    return candidate_settings(accepted_settings(requested, version), version, inferred)


def input_of(
    language: str, sources: Sources, settings: Settings, selection: Selection, _version: SolcVersion
) -> CompilerInput:
    """Return the input of a language that solc compiles."""
    standard = {
        "language": language,
        "sources": {path: {"content": content} for path, content in sources.items()},
        "settings": {**settings, "outputSelection": selection},
    }
    return CompilerInput(standard)


SOLIDITY = Language(
    name="Solidity",
    kind=SOLC,
    suffixes=(),
    unnamed_path="contract.sol",
    settings=_SETTINGS,
    candidates=_candidates,
    take=partial(input_of, "Solidity"),
    give=lambda output, *_: output,
    is_reproducible=lambda _: True,
    has_trees=True,
)


SUFFIX = ".yul"
RUNTIME_CODE_FROM = (0, 6, 9)  # releases before give the creation code alone
_YUL_SETTINGS: Mapping[str, type] = {"optimizer": dict, "evmVersion": str, "libraries": dict}


def _yul_candidates(
    requested: Mapping[str, Any], version: SolcVersion, deployed: bytes
) -> Iterator[Settings]:
    """Yield optimizers and EVM versions as for Solidity; there is one pipeline, and no metadata.
    Raises VerificationFailed for a release that does not give the runtime code."""
    if version < RUNTIME_CODE_FROM:
        raise VerificationFailed("solc gives the runtime code of Yul from 0.6.9 on.")
    inferred = InferredSettings({}, infer_settings(deployed, version).push0)
    for settings in candidate_settings(requested, version, inferred):
        if "viaIR" not in settings:
            yield settings


def in_form(
    output: Mapping[str, Any], convert: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Return a compiler's output with each of its contracts in another form."""
    contracts = {
        path: {name: convert(contract) for name, contract in of_file.items()}
        for path, of_file in (output.get("contracts") or {}).items()
    }
    return {**output, "contracts": contracts}


def _contract(contract: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object in the form of a contract; one that returns no other has no runtime code."""
    evm = {"deployedBytecode": {"object": ""}, **contract["evm"]}
    return {**contract, "abi": [], "metadata": "{}", "evm": evm}


YUL = SOLIDITY._replace(
    name="Yul",
    suffixes=(SUFFIX,),
    unnamed_path=f"contract{SUFFIX}",
    settings=_YUL_SETTINGS,
    candidates=_yul_candidates,
    take=partial(input_of, "Yul"),
    give=lambda output, *_: in_form(output, _contract),
    has_trees=False,
)
