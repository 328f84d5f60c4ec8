"""Solidity: its settings, and the input of solc, whose output is the form of all languages."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from scan.verification.compiler_releases import VIA_IR_FROM, SolcVersion
from scan.verification.compiler_store import SOLC
from scan.verification.languages.language import (
    CompilerInput,
    Language,
    Selection,
    Settings,
    Sources,
)
from scan.verification.settings_search import candidate_settings, infer_settings

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
    return accepted


def _candidates(
    given: Mapping[str, Any], version: SolcVersion, deployed: bytes
) -> Iterator[Settings]:
    inferred = infer_settings(deployed, version)
    return candidate_settings(accepted_settings(given, version), version, inferred)


def input_of(
    language: str, sources: Sources, settings: Settings, selection: Selection, _version: SolcVersion
) -> CompilerInput:
    """Return the input of a language that solc compiles."""
    return CompilerInput(
        {
            "language": language,
            "sources": {path: {"content": content} for path, content in sources.items()},
            "settings": {**settings, "outputSelection": selection},
        }
    )


SOLIDITY = Language(
    name="Solidity",
    kind=SOLC,
    suffixes=(),
    unnamed_path="contract.sol",
    settings=_SETTINGS,
    candidates=_candidates,
    take=partial(input_of, "Solidity"),
    give=lambda output, _: output,
    is_reproducible=lambda _: True,
    has_trees=True,
)
