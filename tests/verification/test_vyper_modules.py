"""A contract of Vyper of several modules, which are no contracts by themselves, in all forms of
verification that name no contract or may."""

import json
from io import BytesIO

import pytest
from eth_abi.abi import encode

from scan.verification import match_search
from scan.verification.submission_compilations import Compilations
from tests.support.serving import wait_until
from tests.support.vyper import NEWEST, SOURCES

pytestmark = pytest.mark.thorough

FULL_VERSION = f"v{NEWEST}+commit.bff19ea2"
FOLDER = SOURCES / "vault"
FILES = {str(f.relative_to(SOURCES)): f.read_text() for f in sorted(FOLDER.rglob("*.vy*"))}
PATH = "vault/Vault.vy"
ARGUMENTS = encode(["uint256", "string[]"], [9, []]).hex()


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
    return explorer.deploy(creation, ARGUMENTS)


ALL = {path: ["*"] for path in FILES if path.endswith(".vy")}
INPUTS = {  # settings of the input that say what to compile, or do not
    "its own file": {},
    "solc's form": {"outputSelection": {PATH: {"*": ["abi", "evm.bytecode"]}}},
    "all files": {"outputSelection": {"*": ["*"]}},
    "each file": {"outputSelection": ALL},
    "none": {"outputSelection": None},
    "decimals not said": {"enable_decimals": None},
}


@pytest.mark.parametrize("name", INPUTS)
def test_the_input_itself_says_what_to_compile(explorer, deployed, name):
    answer = explorer.verify(deployed, standard_json(**INPUTS[name]), FULL_VERSION)
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
    counts = []

    def count(compilations, *arguments, **more):
        counts.append(1)
        return run(compilations, *arguments, **more)

    run = Compilations.run
    monkeypatch.setattr(Compilations, "run", count)
    monkeypatch.setattr(match_search, "MOST_COMPILATIONS", 3)
    sources = {f"m{n}.vy": {"content": "x: nothing\n"} for n in range(20)}
    standard = {"language": "Vyper", "sources": sources, "settings": {}}
    assert explorer.verify(deployed, standard, NEWEST).status_code == 422
    assert len(counts) == 3


def etherscan(explorer, address):
    fields = {
        "module": "contract",
        "action": "verifysourcecode",
        "contractaddress": address,
        "sourceCode": json.dumps(standard_json()),
        "codeformat": "vyper-json",
        "compilerversion": f"vyper:{NEWEST}",
    }
    return explorer.client.post("/api", data=fields)


def etherscan_with_a_name(explorer, address):
    fields = {"contractname": f"{PATH}:Vault", "codeformat": "vyper-json"}
    more = {"module": "contract", "action": "verifysourcecode", "contractaddress": address}
    source = {"sourceCode": json.dumps(standard_json()), "compilerversion": f"vyper:{NEWEST}"}
    return explorer.client.post("/api", data={**fields, **more, **source})


def sourcify(explorer, address):
    body = {
        "stdJsonInput": standard_json(),
        "compilerVersion": FULL_VERSION.removeprefix("v"),
        "contractIdentifier": f"{PATH}:Vault",
    }
    chain = int(explorer.anvil.call("eth_chainId"), 16)
    return explorer.client.post(f"/v2/verify/{chain}/{address}", json=body)


def blockscout_standard_input(explorer, address):
    return blockscout(
        explorer, address, "vyper-standard-input", {"input.json": json.dumps(standard_json())}
    )


def blockscout_multi_part(explorer, address):
    """Where files have the paths by which they import each other."""
    files = {path.removeprefix("vault/"): text for path, text in FILES.items()}
    return blockscout(explorer, address, "vyper-multi-part", files)


def blockscout(explorer, address, method, files):
    uploads = {
        f"files[{number}]": (BytesIO(text.encode()), path)
        for number, (path, text) in enumerate(files.items())
    }
    path = f"/api/v2/smart-contracts/{address}/verification/via/{method}"
    fields = {"compiler_version": FULL_VERSION, **uploads}
    return explorer.client.post(path, data=fields, content_type="multipart/form-data")


FORMS = [
    etherscan,
    etherscan_with_a_name,
    sourcify,
    blockscout_standard_input,
    blockscout_multi_part,
]


@pytest.mark.parametrize("send", FORMS)
def test_other_forms_verify_it(explorer, deployed, running_jobs, send):
    answer = send(explorer, deployed)
    assert answer.status_code in (200, 202), answer.text
    ids = (answer.json.get(name) for name in ("result", "verificationId", "verification_id"))
    path = f"/v2/verify/{next(filter(None, ids))}"
    wait_until(lambda: explorer.get(path)["isJobCompleted"])
    job = explorer.get(path)
    assert job["contract"]["match"] == "exact_match", job


ABI = [{"type": "function", "name": "value", "inputs": [], "outputs": [{"type": "uint256"}]}]
ABI[0]["stateMutability"] = "view"
NAMESAKES = {
    "src/Vault.vy": """import lib.Vault as other
import IThing
initializes: other
exports: other.total
@deploy
def __init__():
    other.__init__()
@external
@view
def value(of: address) -> uint256:
    return staticcall IThing(of).value()
""",
    "src/lib/Vault.vy": "total: public(uint256)\n@deploy\ndef __init__():\n    self.total = 1\n",
    "src/IThing.json": json.dumps(ABI, indent=1),
}
PARTS = {
    "none": {},
    "stem": {"contractName": "Vault"},
    "path": {"contractName": "src/Vault.vy:Vault"},
}


@pytest.mark.parametrize("named", PARTS)
def test_a_module_may_have_the_contract_s_name_and_an_interface_its_own_spaces(
    explorer, vyper, named
):
    """As on the command line, which takes both, and hashes the text of the interface's file."""
    vyper.install(NEWEST)
    sources = {path: {"content": text} for path, text in NAMESAKES.items()}
    interface = {"src/IThing.json": sources.pop("src/IThing.json")}
    full = {"search_paths": [".", "src"], "outputSelection": {"src/Vault.vy": ["*"]}}
    standard = {"language": "Vyper", "sources": sources, "interfaces": interface, "settings": full}
    address = explorer.deploy(vyper.creation(NEWEST, "src/Vault.vy", standard))
    standard["settings"] = {"search_paths": [".", "src"]}
    answer = explorer.verify(address, standard, NEWEST, **PARTS[named])
    assert (answer.status_code, answer.json["match"]) == (200, "full"), answer.json
    assert answer.json["contractName"] == "Vault"
