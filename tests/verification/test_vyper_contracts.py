"""Contracts of Vyper of many kinds, over its releases: full, partial and no match told apart."""

import pytest

from scan.verification.languages.vyper import VYPER
from tests.support.anvil import calldata
from tests.support.vyper import blueprint_of, source_of, vyper_contracts

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


def test_the_contract_among_its_interfaces_needs_no_name(explorer, vyper):
    """Releases before 0.4 compile all files, and a stub is no contract."""
    [contract] = [
        contract
        for contract in vyper_contracts()
        if (contract.kind, contract.version) == ("interface_in_source", "0.3.10")
    ]
    standard = contract.standard_input("1000", "1002")
    address = explorer.deploy(vyper.creation("0.3.10", contract.path, standard), contract.arguments)
    answer = explorer.verify(address, standard, "0.3.10")
    assert (answer.status_code, answer.json["match"]) == (200, "partial"), answer.json
    assert answer.json["contractName"] == "caller"


BLUEPRINTS = ["0.4.3", *(pytest.param(v, marks=pytest.mark.long) for v in ("0.3.7", "0.4.0"))]


@pytest.mark.thorough
@pytest.mark.parametrize("version", BLUEPRINTS)
def test_a_blueprint_and_what_a_factory_creates_of_it_are_verified(explorer, vyper, version):
    def verify(address, name, old="", new=""):
        text = source_of(f"{name}.vy", version).replace(old, new)
        return explorer.verify(address, text, version, language="vyper", contractName=name)

    def creation_of(name):
        sources = {f"{name}.vy": {"content": source_of(f"{name}.vy", version)}}
        standard = {"language": "Vyper", "sources": sources, "settings": {}}
        return vyper.creation(version, f"{name}.vy", standard)

    blueprint = explorer.deploy(blueprint_of(creation_of("child")))
    factory = explorer.deploy(creation_of("factory"))
    assert verify(factory, "factory").status_code == 200
    explorer.send(factory, calldata("make(address,uint256)", blueprint, 7))

    sources = {"child.vy": {"content": source_of("child.vy", version).replace("1000", "1001")}}
    standard = {"language": "Vyper", "sources": sources, "settings": settings_of(version)}
    named = {"contractName": "child.vy:child"}
    assert explorer.verify(blueprint, standard, version, **named).status_code == 422
    assert verify(blueprint, "child", "As deployed", "Other").json["match"] == "partial"
    equal = verify(blueprint, "child").json
    level = "full" if version >= "0.4.1" else "partial"
    assert (equal["match"], equal["creationMatch"]) == (level, level), equal

    child = explorer.call(factory, "last").json["result"]
    explorer.wait_for(child)
    assert verify(child, "child").json["match"] == level
    assert explorer.call(child, "total").json["result"] == "1021"
