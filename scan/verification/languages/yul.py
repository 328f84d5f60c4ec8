"""Yul, which solc compiles by itself: one file, whose objects stand for contracts.

An object's code is the creation code, and its object that is returned the runtime code. The code
has no metadata and no ABI, so that no match is full.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from scan.errors import VerificationFailed
from scan.verification.compiler_releases import SolcVersion
from scan.verification.compiler_store import SOLC
from scan.verification.languages.language import Language, Settings
from scan.verification.languages.solidity import input_of
from scan.verification.settings_search import InferredSettings, candidate_settings, infer_settings

SUFFIX = ".yul"
RUNTIME_CODE_FROM = (0, 6, 9)  # releases before give the creation code alone
_SETTINGS: Mapping[str, type] = {"optimizer": dict, "evmVersion": str, "libraries": dict}


def _candidates(
    given: Mapping[str, Any], version: SolcVersion, deployed: bytes
) -> Iterator[Settings]:
    """Yield optimizers and EVM versions as for Solidity; there is one pipeline, and no metadata.
    Raises VerificationFailed for a release that does not give the runtime code."""
    if version < RUNTIME_CODE_FROM:
        raise VerificationFailed("solc gives the runtime code of Yul from 0.6.9 on.")
    inferred = InferredSettings({}, infer_settings(deployed, version).push0)
    for settings in candidate_settings(given, version, inferred):
        if "viaIR" not in settings:
            yield settings


def _give(output: dict[str, Any], _version: SolcVersion) -> dict[str, Any]:
    contracts = {
        path: {name: _contract(contract) for name, contract in of_file.items()}
        for path, of_file in (output.get("contracts") or {}).items()
    }
    return {**output, "contracts": contracts}


def _contract(contract: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object in the form of a contract; one that returns no other has no runtime code."""
    evm = {"deployedBytecode": {"object": ""}, **contract["evm"]}
    return {**contract, "abi": [], "metadata": "{}", "evm": evm}


YUL = Language(
    name="Yul",
    kind=SOLC,
    suffixes=(SUFFIX,),
    unnamed_path=f"contract{SUFFIX}",
    settings=_SETTINGS,
    candidates=_candidates,
    take=partial(input_of, "Yul"),
    give=_give,
    is_reproducible=lambda _: True,
)
