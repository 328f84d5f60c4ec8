"""Verification of Vyper in Sourcify's form."""

from scan.extensions.sourcify.tests.submissions import CHAIN, ended, get, submit
from tests.support.vyper import BOX, NEWEST, SEVEN


def test_vyper_is_verified_and_shown_as_vyper(explorer, vyper):
    address = explorer.deploy(vyper.creation_of(NEWEST, BOX), SEVEN)
    standard = {"language": "Vyper", "sources": {"src/Box.vy": {"content": BOX}}, "settings": {}}
    body = {
        "stdJsonInput": standard,
        "compilerVersion": f"{NEWEST}+commit.bff19ea2",
        "contractIdentifier": "src/Box.vy:Box",
    }
    job = ended(explorer, submit(explorer, address, body))
    assert job["contract"]["match"] == "exact_match", job
    contract = get(explorer, f"/v2/contract/{CHAIN}/{address}", fields="all").json
    compilation = contract["compilation"]
    assert (compilation["language"], compilation["compiler"]) == ("Vyper", "vyper")
    assert compilation["fullyQualifiedName"] == "src/Box.vy:Box"
    assert contract["stdJsonInput"]["language"] == "Vyper"
    assert contract["stdJsonInput"]["sources"] == {"src/Box.vy": {"content": BOX}}
    [immutable] = contract["runtimeBytecode"]["immutableReferences"]["0"]
    assert immutable["length"] == 32
    assert contract["runtimeBytecode"]["transformationValues"]["immutables"] == {"0": f"0x{8:064x}"}
