"""Contracts of Vyper of many kinds, over its releases: full, partial and no match told apart."""

import pytest

from scan.verification.languages.vyper import VYPER
from tests.support.vyper import vyper_contracts

MARKS = {
    ("immutables", "0.4.3"): pytest.mark.thorough,
    ("modules", "0.4.3"): [],
    ("interface_in_source", "0.3.10"): pytest.mark.thorough,
}
NOT_SEARCHED = ("bytecodeMetadata", "experimentalCodegen", "enable_decimals")


def input_of(contract, old="", new=""):
    """A standard JSON input, without settings that a search finds."""
    standard = contract.standard_input(old, new)
    standard["settings"] = {n: v for n, v in contract.settings.items() if n in NOT_SEARCHED}
    return standard


def settings_of(version):
    """An EVM version and an optimisation that the release takes."""
    release = VYPER.kind.parse_version(version)
    evm = ("istanbul", "shanghai", "cancun")[(release >= (0, 3, 8)) + (release >= (0, 4, 0))]
    if release < (0, 3, 1):
        return {"evmVersion": evm}
    return {"evmVersion": evm, "optimize": "gas" if release >= (0, 3, 10) else True}


CONTRACTS = [
    pytest.param(
        contract,
        id=f"{contract.kind}-{contract.version}",
        marks=MARKS.get((contract.kind, contract.version), pytest.mark.long),
    )
    for contract in vyper_contracts()
]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_an_equal_source_a_changed_comment_and_a_changed_constant_are_told_apart(
    explorer, vyper, contract
):
    version, name = contract.version, contract.path
    creation = vyper.creation(version, contract.path, contract.standard_input())
    address = explorer.deploy(creation, contract.arguments)
    named = {"contractName": f"{name}:{name.removesuffix('.vy')}"}

    # With settings that leave nothing to search, which test_vyper.py does with a changed constant.
    other = contract.standard_input("1000", "1001")
    other["settings"] = {**settings_of(version), **contract.settings}
    changed = explorer.verify(address, other, version, **named)
    assert (changed.status_code, changed.json["code"]) == (422, "verification_failed")

    comment = explorer.verify(address, input_of(contract, "As deployed", "Other"), version, **named)
    assert comment.status_code == 200, comment.json
    assert comment.json["match"] == "partial"

    equal = explorer.verify(address, input_of(contract), version, **named)
    level = "full" if contract.has_hash else "partial"
    assert (equal.status_code, equal.json["match"]) == (200, level), equal.json
    assert equal.json["creationMatch"] == level

    stored = explorer.contract(address).json
    assert stored["constructorArguments"] == (f"0x{contract.arguments}")
    assert {*stored["sources"]} == {*contract.sources}
