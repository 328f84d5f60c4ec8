"""Constructors and initial values, which are in the creation code alone, deployed and compared."""

from pathlib import Path

from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from tests.support import faulty_node, made_blocks
from tests.support.anvil import calldata
from tests.support.creations import NOT_VERIFIED, PATH, built
from tests.support.explorer import behind
from tests.support.serving import wait_until

TOKEN = Path(__file__).with_name("Token.sol").read_text()
TOKEN = TOKEN.replace("constructor() public", "constructor()")
GIVEN = {"optimizationUsed": 0, "contractName": f"{PATH}:Token"}


def expect_no_match(answer):
    assert (answer.status_code, answer.json["success"]) == (200, True), answer.json
    assert (answer.json["match"], answer.json["creationMatch"]) == ("runtime", False)
    assert "constructor or initial values" in answer.json["message"]
    assert "artial match" not in answer.json["message"]
    assert answer.json["constructorArguments"] is None


def test_a_false_constructor_is_no_match_in_any_interface(explorer, running_jobs):
    """Of a token, of whose source only the constructor and a value differ."""
    own = "function own() external pure returns (uint256) { return 7; } }"  # of no other test
    source = TOKEN[: TOKEN.rindex("}")] + own
    false_source = source.replace("1000000", "5").replace("Test Dollar", "USD Coin")
    false_token = explorer.deploy(built(source).creation)
    expect_no_match(explorer.verify(false_token, false_source, "0.8.28", **GIVEN))
    stored = explorer.contract(false_token).json
    assert (stored["match"], stored["creationMatch"]) == ("runtime", False)
    page = explorer.get(f"/address/{false_token}?tab=contract")
    assert "runtime code only" in page and "may differ from those in the source" in page
    assert " match</span>" not in page and "source verified" not in page
    contract = "/api?module=contract&action="
    lists = ["/verified-contracts", "/api/v1/contracts", "/api/v2/smart-contracts"]
    for listed in (*lists, f"{contract}listcontracts"):
        assert false_token not in explorer.client.get(listed).text.lower()

    chain_id = explorer.get("/chains")[0]["chainId"]
    sourcify = explorer.get(f"/v2/contract/{chain_id}/{false_token}")
    assert (sourcify["creationMatch"], sourcify["runtimeMatch"]) == (None, "match")
    assert "constructor" in sourcify["warning"]

    fields = {
        "contractaddress": false_token,
        "sourceCode": false_source,
        "contractname": f"{PATH}:Token",
        "compilerversion": "v0.8.28+commit.7893614a",
        "optimizationUsed": "0",
    }
    guid = explorer.client.post(f"{contract}verifysourcecode", data=fields).json["result"]
    answer = explorer.get(f"{contract}checkverifystatus&guid={guid}&chainid=31337")
    assert (answer["status"], answer["result"]) == ("0", "Fail - Unable to verify")
    assert "constructor" in answer["details"]
    [row] = explorer.get(f"{contract}getsourcecode&address={false_token}")["result"]
    assert (row.pop("ABI"), {*row.values()}) == (NOT_VERIFIED, {"", "0", "Default"})
    abi = explorer.get(f"{contract}getabi&address={false_token}")
    assert (abi["status"], abi["result"]) == ("0", NOT_VERIFIED)


def test_the_true_source_replaces_a_false_one(explorer, running_jobs):
    true_source = TOKEN.replace("Test Dollar", "Test Franc")
    false_source = true_source.replace("1000000", "5")
    address, other = (explorer.deploy(built(true_source).creation) for _ in range(2))
    for contract in (address, other):
        expect_no_match(explorer.verify(contract, false_source, "0.8.28", **GIVEN))
    commented = true_source + "// a comment\n"
    answer = explorer.verify(address, commented, "0.8.28", **GIVEN)
    assert (answer.json["match"], answer.json["creationMatch"]) == ("partial", "partial")
    assert "already stored" not in answer.json["message"]
    answer = explorer.verify(address, true_source, "0.8.28", **GIVEN)
    assert (answer.json["match"], answer.json["creationMatch"]) == ("full", "full")
    for worse, match in ((commented, "partial"), (false_source, "runtime")):
        answer = explorer.verify(address, worse, "0.8.28", **GIVEN).json
        assert (answer["match"], "already stored" in answer["message"]) == (match, True)
    stored = explorer.contract(address).json
    assert (stored["match"], stored["creationMatch"]) == ("full", "full")
    assert stored["sources"] == {PATH: {"content": true_source}}
    # A contract of equal creation code is verified, whatever false source is stored of it.
    wait_until(lambda: explorer.contract(other).json["verifiedBy"] == address)
    assert "source verified" in explorer.get(f"/address/{other}?tab=contract")


def test_code_whose_creation_is_not_indexed_is_not_compared(explorer):
    source = TOKEN.replace("Test Dollar", "Placed")
    address = explorer.place(built(source).runtime)
    answer = explorer.verify(address, source + "//", "0.8.28", **GIVEN)
    assert (answer.json["match"], answer.json["creationMatch"]) == ("partial", None)
    assert "creation bytecode was not compared" in answer.json["message"]
    page = explorer.get(f"/address/{address}?tab=contract")
    assert "not known to match the source" in page
    copy = explorer.place(built(source).runtime)
    assert explorer.contract(copy).json["verifiedBy"] == address
    statement = "verification/creations_get_comparable"
    assert explorer.database.row(statement, address=bytes.fromhex(copy[2:])) is None


def test_a_contract_s_child_is_compared_with_its_trace(explorer):
    factory_source = Path(__file__).with_name("Factory.sol").read_text()
    source = factory_source.replace("NUMBER", "3")
    factory = explorer.deploy(built(source, "Factory").creation)
    [log] = explorer.anvil.receipt_of(explorer.send(factory, calldata("make(uint256)", 9)))["logs"]
    child = "0x" + log["data"][26:66]
    explorer.wait_for(child)
    options = {**GIVEN, "contractName": f"{PATH}:Child"}
    body = {"address": child, "sourceCode": source, "compilerVersion": "0.8.28", **options}
    fault = faulty_node.node_error(-32005, "limit exceeded")
    with behind(explorer.settings, fault) as (client, _):  # it may have the trace later
        assert client.post("/api/v1/verify", json=body).status_code == 503
        assert explorer.contract(child).status_code == 404
    answer = explorer.verify(child, source, "0.8.28", **options)
    assert (answer.json["match"], answer.json["creationMatch"]) == ("full", "full"), answer.json
    arguments = bytes.fromhex(answer.json["constructorArguments"][2:])
    assert (arguments[31], arguments[-32:].rstrip(b"\0")) == (9, b"made")
    false_source = factory_source.replace("NUMBER", "4")
    expect_no_match(explorer.verify(child, false_source, "0.8.28", **options))


def test_a_creation_is_told_from_others_of_its_block(chain, database):
    factory, first, second = map(made_blocks.address, ("factory", "first", "second"))
    kinds = ((first, TransferType.CREATE2), (second, TransferType.CREATE))
    transfers = [InternalTransfer(n, 0, kind, factory, to, 0) for n, (to, kind) in enumerate(kinds)]
    moves = [made_blocks.Move(made_blocks.address("anna"), factory)] * 2
    hashes = chain.append(moves, internal_transfers=transfers, is_traced=True)
    for contract, hash_ in zip((first, second), hashes, strict=True):
        row = database.row("verification/creations_get", address=contract, block_number=0)
        assert row is not None and (row[0], bytes(row[1])) == (True, hash_)
