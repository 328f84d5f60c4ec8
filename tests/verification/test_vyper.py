"""Contracts of Vyper, compiled by its own compilers from PyPI, deployed, and verified."""

from pathlib import Path

import pytest

from scan.verification.languages import standard_input
from scan.verification.languages.vyper import VYPER
from tests.support.vyper import BOX, NEWEST, SEVEN, vyper_contracts


def test_an_equal_file_is_told_from_a_changed_constant_and_another_compiler(explorer, vyper):
    """Of one file; below are standard JSON inputs for other releases, too."""
    address = explorer.deploy(vyper.creation_of(NEWEST, BOX), SEVEN)
    options = {"language": "vyper", "contractName": "Box.vy:Box"}

    changed = explorer.verify(address, BOX.replace("1000", "1001"), NEWEST, **options)
    assert (changed.status_code, changed.json["code"]) == (422, "verification_failed")

    other = explorer.verify(address, BOX, f"v{NEWEST}+commit.deadbeef", **options)
    words = f"The compiler is {NEWEST}+commit.bff19ea2, not of the submitted commit deadbeef."
    assert (other.status_code, other.json["error"]) == (422, words)
    commit = f"v{NEWEST}+commit.bff19ea2f"  # by which some lists name it
    equal = explorer.verify(address, BOX, commit, **options)
    assert (equal.status_code, equal.json["match"]) == (200, "full"), equal.json
    assert equal.json["creationMatch"] == "full"

    stored = explorer.contract(address).json
    assert (stored["contractName"], stored["compilerVersion"]) == ("Box", NEWEST)
    assert explorer.call(address, "total").json["result"] == "1015"
    assert stored["constructorArguments"] == f"0x{SEVEN}"


@pytest.mark.thorough
def test_variables_in_other_slots_are_part_of_the_input(explorer, vyper):
    """Vyper since 0.4.1 takes them beside the settings, and so do those who verify."""
    slots = {
        "first": {"type": "uint256", "slot": 9, "n_slots": 1},
        "second": {"type": "uint256", "slot": 2, "n_slots": 1},
    }
    path = "two-numbers.vy"
    settings = {"evmVersion": "cancun", "optimize": "gas"}  # which leave nothing to search
    pair = Path(__file__).with_name("pair.vy").read_text()
    plain = {"language": "Vyper", "sources": {path: {"content": pair}}, "settings": settings}
    moved = {**plain, "storage_layout_overrides": {path: {"slots.json": slots}}}
    address = explorer.deploy(vyper.creation(NEWEST, path, moved))
    named = {"contractName": f"{path}:two-numbers"}

    assert explorer.verify(address, plain, NEWEST, **named).status_code == 422
    equal = explorer.verify(address, moved, NEWEST, **named)
    assert (equal.status_code, equal.json["match"]) == (200, "full"), equal.json
    assert explorer.call(address, "second").json["result"] == "5"
    stored = explorer.contract(address).json["settings"]
    assert standard_input(path, {path: {"content": pair}}, stored) == moved


def settings_of(version):
    """An EVM version and an optimisation that the release takes."""
    release = VYPER.kind.parse_version(version)
    evm = ("istanbul", "shanghai", "cancun")[(release >= (0, 3, 8)) + (release >= (0, 4, 0))]
    if release < (0, 3, 1):
        return {"evmVersion": evm}
    return {"evmVersion": evm, "optimize": "gas" if release >= (0, 3, 10) else True}


@pytest.mark.parametrize(
    "contract",
    [
        pytest.param(
            contract,
            id=f"{contract.kind}-{contract.version}",
            marks={
                ("immutables", "0.4.3"): pytest.mark.thorough,
                ("modules", "0.4.3"): [],
                ("interface_in_source", "0.3.10"): pytest.mark.thorough,
            }.get((contract.kind, contract.version), pytest.mark.long),
        )
        for contract in vyper_contracts()
    ],
)
def test_equal_sources_are_told_from_changed_ones_over_kinds_and_releases(
    explorer, vyper, contract
):
    version, name = contract.version, contract.path
    creation = vyper.creation(version, contract.path, contract.standard_input())
    address = explorer.deploy(creation, contract.arguments)
    named = {"contractName": f"{name}:{name.removesuffix('.vy')}"}

    # With settings that leave nothing to search, which another test does with a changed constant.
    other = contract.standard_input("1000", "1001")
    other["settings"] = {**settings_of(version), **contract.settings}
    changed = explorer.verify(address, other, version, **named)
    assert (changed.status_code, changed.json["code"]) == (422, "verification_failed")

    # Without settings that a search finds.
    not_searched = {"bytecodeMetadata", "experimentalCodegen", "enable_decimals"}
    given = {name: contract.settings[name] for name in not_searched & contract.settings.keys()}
    commented = {**contract.standard_input("As deployed", "Other"), "settings": given}
    comment = explorer.verify(address, commented, version, **named)
    assert comment.status_code == 200, comment.json
    assert comment.json["match"] == "partial"

    same = {**contract.standard_input(), "settings": given}
    equal = explorer.verify(address, same, version, **named)
    level = "full" if contract.has_hash else "partial"
    assert (equal.status_code, equal.json["match"]) == (200, level), equal.json
    assert equal.json["creationMatch"] == level

    stored = explorer.contract(address).json
    assert stored["constructorArguments"] == (f"0x{contract.arguments}")
    assert {*stored["sources"]} == {*contract.sources}
