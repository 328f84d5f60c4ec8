"""Verification of Vyper in Etherscan's form: standard JSON, and a single file by its version."""

import json

from tests.support.vyper import BOX, NEWEST, SEVEN


def test_vyper_is_verified_from_standard_json_and_shown_as_vyper(explorer, vyper):
    address = explorer.deploy(vyper.creation_of(NEWEST, BOX), SEVEN)
    standard = {"language": "Vyper", "sources": {"Box.vy": {"content": BOX}}, "settings": {}}
    fields = {
        "module": "contract",
        "action": "verifysourcecode",
        "contractaddress": address,
        "sourceCode": json.dumps(standard),
        "codeformat": "vyper-json",
        "contractname": "Box.vy:Box",
        "compilerversion": f"vyper:{NEWEST}",
        "constructorArguements": SEVEN,
    }
    assert _outcome(explorer, {**fields, "compilerversion": "vyper:0.1.0"})[0] == "0"
    assert _outcome(explorer, fields) == ("1", "Pass - Verified")
    query = {"module": "contract", "action": "getsourcecode", "address": address}
    [row] = explorer.client.get("/api", query_string=query).json["result"]
    assert row["SourceCode"] == BOX
    assert (row["CompilerVersion"], row["CompilerType"]) == (f"vyper:{NEWEST}", "vyper")
    assert (row["ContractName"], row["ConstructorArguments"]) == ("Box", SEVEN)


def test_a_single_file_is_vyper_by_its_compiler_s_version(explorer, vyper):
    source = BOX.replace("1000", "2000")
    fields = {
        "module": "contract",
        "action": "verifysourcecode",
        "contractaddress": explorer.deploy(vyper.creation_of(NEWEST, source), SEVEN),
        "sourceCode": source,
        "codeformat": "solidity-single-file",
        "contractname": "Box",
        "compilerversion": f"vyper:{NEWEST}",
        "optimizationUsed": "0",
    }
    assert _outcome(explorer, fields) == ("1", "Pass - Verified")


def _outcome(explorer, fields):
    submitted = explorer.client.post("/api", data=fields).json
    if submitted["status"] == "0":
        return "0", submitted["result"]
    query = {"module": "contract", "action": "checkverifystatus", "guid": submitted["result"]}
    checked = explorer.client.get("/api", query_string=query).json
    return checked["status"], checked["result"]
