"""A contract of Vyper of several modules, which are no contracts by themselves, in all forms of
verification that name no contract or may."""

from unittest.mock import Mock

import pytest
from eth_abi.abi import encode

from scan.verification import match_search
from scan.verification.submission_compilations import Compilations
from tests.support.vyper import NEWEST, SOURCES

pytestmark = pytest.mark.thorough

FULL_VERSION = f"v{NEWEST}+commit.bff19ea2"
FILES = sorted(SOURCES.glob("vault/**/*.vy*"))
FILES = {str(file.relative_to(SOURCES)): file.read_text() for file in FILES}
PATH = "vault/Vault.vy"


def standard_json(**settings):
    """What `vyper -p vault -f solc_json vault/Vault.vy` writes."""
    standard = {"search_paths": [".", "vault"], "enable_decimals": True}
    return {
        "language": "Vyper",
        "sources": {path: {"content": text} for path, text in FILES.items()},
        "settings": {**standard, "outputSelection": {PATH: ["*"]}, **settings},
        "compiler_version": FULL_VERSION,
    }


@pytest.fixture
def deployed(explorer, vyper):
    creation = vyper.creation(NEWEST, PATH, standard_json())
    return explorer.deploy(creation, encode(["uint256", "string[]"], [9, []]).hex())


@pytest.mark.parametrize(
    "settings",
    [
        {},  # its own file
        {"outputSelection": {PATH: {"*": ["abi", "evm.bytecode"]}}},  # solc's form
        {"outputSelection": {"*": ["*"]}},
        {"outputSelection": {p: ["*"] for p in FILES if p.endswith(".vy")}},
        {"outputSelection": None},
        {"enable_decimals": None},
    ],
    ids=str,
)
def test_the_input_itself_says_what_to_compile(explorer, deployed, settings):
    answer = explorer.verify(deployed, standard_json(**settings), FULL_VERSION)
    assert (answer.status_code, answer.json["match"]) == (200, "full"), answer.json
    assert answer.json["contractName"] == "Vault"
    assert {*explorer.contract(deployed).json["sources"]} == {*FILES}


def test_a_module_alone_is_a_contract_if_it_was_deployed(explorer, vyper):
    """Also beside files that compile with it, and others that do not."""
    path = "vault/lib/owned.vy"
    address = explorer.deploy(vyper.creation(NEWEST, path, standard_json()))
    named = standard_json(outputSelection=None)
    answer = explorer.verify(address, named, NEWEST)
    assert (answer.status_code, answer.json["match"]) == (200, "full"), answer.json
    assert answer.json["contractName"] == "owned"


def test_of_a_source_with_faults_the_first_one_is_told(explorer, deployed):
    standard = standard_json(outputSelection=None)
    for source in standard["sources"].values():
        source["content"] += "\nx: nothing\n"
    answer = explorer.verify(deployed, standard, NEWEST)
    assert (answer.status_code, answer.json["code"]) == (422, "verification_failed")
    assert "The source does not compile" in answer.json["error"]


def test_files_are_compiled_one_by_one_within_the_bound_of_a_verification(
    explorer, deployed, monkeypatch
):
    run = Mock(side_effect=Compilations.run)
    monkeypatch.setattr(Compilations, "run", lambda *given, **more: run(*given, **more))
    monkeypatch.setattr(match_search, "MOST_COMPILATIONS", 3)
    sources = {f"m{n}.vy": {"content": "x: nothing\n"} for n in range(20)}
    standard = {"language": "Vyper", "sources": sources, "settings": {}}
    assert explorer.verify(deployed, standard, NEWEST).status_code == 422
    assert run.call_count == 3
