"""Constructors and initial values, which are in the creation code alone, deployed and compared."""

from contextlib import closing
from pathlib import Path

import pytest

from scan.database.connection import Database
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from tests.support import faulty_node, made_blocks
from tests.support.anvil import calldata
from tests.support.creations import NOT_VERIFIED, PATH, built
from tests.support.explorer import behind
from tests.support.serving import wait_until

TOKEN = Path(__file__).with_name("Token.sol").read_text()
TOKEN_WITHOUT_VISIBILITY = TOKEN.replace("constructor() public", "constructor()")
FALSE_SUPPLY = TOKEN_WITHOUT_VISIBILITY.replace("1000000", "5")
FALSE_TOKEN = FALSE_SUPPLY.replace("Test Dollar", "USD Coin")
# Of code that no other test verifies.
OWN_TOKEN, FALSE_OWN_TOKEN = (
    source[: source.rindex("}")] + "function own() external pure returns (uint256) { return 7; } }"
    for source in (TOKEN_WITHOUT_VISIBILITY, FALSE_TOKEN)
)
GIVEN = {"optimizationUsed": 0, "contractName": f"{PATH}:Token"}


def expect_no_match(answer):
    assert (answer.status_code, answer.json["success"]) == (200, True), answer.json
    assert (answer.json["match"], answer.json["creationMatch"]) == ("runtime", False)
    assert "constructor or initial values" in answer.json["message"]
    assert "artial match" not in answer.json["message"]
    assert answer.json["constructorArguments"] is None


@pytest.fixture(scope="module")
def false_token(explorer):
    """A token for which a false source is stored: only its constructor and a value differ."""
    address = explorer.deploy(built(OWN_TOKEN).creation)
    expect_no_match(explorer.verify(address, FALSE_OWN_TOKEN, "0.8.28", **GIVEN))
    return address


def test_a_false_constructor_is_no_match_in_any_interface(explorer, running_jobs, false_token):
    stored = explorer.contract(false_token).json
    assert (stored["match"], stored["creationMatch"]) == ("runtime", False)
    page = explorer.get(f"/address/{false_token}?tab=contract")
    assert "runtime code only" in page and "may differ from those in the source" in page
    assert " match</span>" not in page and "source verified" not in page
    for listed in ("/verified-contracts", "/api/v1/contracts", "/api/v2/smart-contracts"):
        assert false_token not in explorer.client.get(listed).text.lower()

    chain_id = explorer.get("/chains")[0]["chainId"]
    sourcify = explorer.get(f"/v2/contract/{chain_id}/{false_token}")
    assert (sourcify["creationMatch"], sourcify["runtimeMatch"]) == (None, "match")
    assert "constructor" in sourcify["warning"]

    fields = {
        "contractaddress": false_token,
        "sourceCode": FALSE_OWN_TOKEN,
        "contractname": f"{PATH}:Token",
        "compilerversion": "v0.8.28+commit.7893614a",
        "optimizationUsed": "0",
    }
    contract = "/api?module=contract&action="
    guid = explorer.client.post(f"{contract}verifysourcecode", data=fields).json["result"]
    answer = explorer.get(f"{contract}checkverifystatus&guid={guid}&chainid=31337")
    assert (answer["status"], answer["result"]) == ("0", "Fail - Unable to verify")
    assert "constructor" in answer["details"]
    [row] = explorer.get(f"{contract}getsourcecode&address={false_token}")["result"]
    assert (row.pop("ABI"), {*row.values()}) == (NOT_VERIFIED, {"", "0", "Default"})
    abi = explorer.get(f"{contract}getabi&address={false_token}")
    assert (abi["status"], abi["result"]) == ("0", NOT_VERIFIED)
    contracts = explorer.get(f"{contract}listcontracts")["result"] or ()
    assert false_token not in [listed["Address"] for listed in contracts]


@pytest.mark.long
def test_code_like_that_of_a_false_source_is_not_called_similar(explorer, false_token):
    commented = built(OWN_TOKEN.replace("contract", "/* a comment */ contract"))
    other = explorer.deploy(commented.creation)
    assert explorer.get(f"/api/v1/contracts/{other}/bytecode")["similarTo"] is None


@pytest.mark.thorough
def test_until_its_creation_is_compared_again_a_verification_is_kept(explorer):
    source = "contract Kept { function burn(uint256 amount) external {} }"
    options = {"optimizationUsed": 0, "contractName": f"{PATH}:Kept"}
    code, snapshot = built(source, "Kept"), explorer.anvil.call("evm_snapshot")
    address = explorer.deploy(code.creation)
    assert explorer.verify(address, source, "0.8.28", **options).json["match"] == "full"
    explorer.anvil.call("evm_revert", snapshot)
    explorer.anvil.mine(1)
    assert explorer.deploy(code.creation) == address
    wait_until(lambda: explorer.contract(address).json.get("creationMatch", "gone") is None)
    assert explorer.contract(address).json["match"] == "full"
    false = source.replace("amount", "reward")
    answer = explorer.verify(address, false, "0.8.28", **options).json
    assert answer["match"] == "partial" and "already stored" in answer["message"]
    assert "amount" in explorer.contract(address).text


def test_contracts_that_are_not_verified_change_no_label(explorer):
    before = explorer.sql("SELECT version FROM label_state")
    explorer.deploy(built(TOKEN_WITHOUT_VISIBILITY.replace("1000000", "77")).creation)
    assert explorer.sql("SELECT version FROM label_state") == before


def test_the_true_source_replaces_a_false_one(explorer, running_jobs):
    true_source = TOKEN_WITHOUT_VISIBILITY.replace("Test Dollar", "Test Franc")
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
    answer = explorer.verify(address, false_source, "0.8.28", **GIVEN)
    expect_no_match(answer)
    assert "already stored" in answer.json["message"]
    stored = explorer.contract(address).json
    assert (stored["match"], stored["creationMatch"]) == ("full", "full")
    # A contract of equal creation code is verified, whatever false source is stored of it.
    wait_until(lambda: explorer.contract(other).json["verifiedBy"] == address)
    assert "source verified" in explorer.get(f"/address/{other}?tab=contract")


@pytest.mark.thorough
def test_a_page_warns_of_other_initial_values_and_takes_a_better_source(explorer):
    true_source = TOKEN_WITHOUT_VISIBILITY.replace("Test Dollar", "Test Euro")
    address = explorer.deploy(built(true_source).creation)
    path = f"/address/{address}"

    def verify(source):
        form = {"compilerVersion": "0.8.28", "source": source, "contractName": f"{PATH}:Token"}
        return explorer.client.post(f"{path}/verify", data={**form, "optimizer": "off"})

    assert verify(FALSE_TOKEN).status_code == 303
    page = explorer.client.get(f"{path}?tab=contract").text
    assert "Initial values may not be those of this source." in page
    assert "Verify a source that matches better" in page and f'action="{path}/verify' in page
    assert verify(true_source).status_code == 303
    wait_until(lambda: "Initial values" not in explorer.client.get(f"{path}?tab=contract").text)
    page = explorer.client.get(f"{path}?tab=contract").text
    assert 'id="verify"' not in page and "Test Euro" in page and "source verified</span>" in page
    answer = verify(FALSE_TOKEN)
    assert answer.status_code == 200 and "already stored and is kept" in answer.text
    assert explorer.contract(address).json["match"] == "full"


@pytest.mark.long
def test_the_contract_of_several_with_the_same_runtime_code_is_found(explorer):
    source = """pragma solidity >=0.8.0;
    contract Base { uint256 public value; }
    contract First is Base { constructor() { value = 1; } }
    contract Second is Base { constructor(uint256 more) { value = 2 + more; } }
    """
    address = explorer.deploy(built(source, "Second").creation, f"{7:064x}")
    answer = explorer.verify(address, source, "0.8.28", optimizationUsed=0)
    assert (answer.json["contractName"], answer.json["creationMatch"]) == ("Second", "partial")
    assert answer.json["constructorArguments"] == f"0x{7:064x}"
    answer = explorer.verify(address, source, "0.8.28", optimizationUsed=0, contractName="First")
    expect_no_match(answer)


def test_code_whose_creation_is_not_indexed_is_not_compared(explorer):
    source = TOKEN_WITHOUT_VISIBILITY.replace("Test Dollar", "Placed")
    address = explorer.place(built(source).runtime)
    answer = explorer.verify(address, source + "//", "0.8.28", **GIVEN)
    assert (answer.json["match"], answer.json["creationMatch"]) == ("partial", None)
    assert "creation bytecode was not compared" in answer.json["message"]
    page = explorer.get(f"/address/{address}?tab=contract")
    assert "not known to match the source" in page
    copy = explorer.place(built(source).runtime)
    assert explorer.contract(copy).json["verifiedBy"] == address
    database = Database(explorer.settings.database_url, statement_timeout_ms=10_000)
    with closing(database):
        statement = "verification/creations_get_comparable"
        assert database.row(statement, address=bytes.fromhex(copy[2:])) is None


FACTORY = Path(__file__).with_name("Factory.sol").read_text()


def test_a_contract_s_child_is_compared_with_its_trace(explorer):
    source = FACTORY.replace("NUMBER", "3")
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
    expect_no_match(explorer.verify(child, FACTORY.replace("NUMBER", "4"), "0.8.28", **options))


def test_a_creation_is_told_from_others_of_its_block(database_url):
    factory, first, second = map(made_blocks.address, ("factory", "first", "second"))
    kinds = ((first, TransferType.CREATE2), (second, TransferType.CREATE))
    transfers = [InternalTransfer(n, 0, kind, factory, to, 0) for n, (to, kind) in enumerate(kinds)]
    with closing(Database(database_url, statement_timeout_ms=0)) as database:
        chain = made_blocks.Chain(database)
        moves = [made_blocks.Move(made_blocks.address("anna"), factory)] * 2
        hashes = chain.append(moves, internal_transfers=transfers, is_traced=True)
        for contract, hash_ in zip((first, second), hashes, strict=True):
            row = database.row("verification/creations_get", address=contract, block_number=0)
            assert row is not None and (row[0], bytes(row[1])) == (True, hash_)


MAKER = Path(__file__).with_name("Maker.sol").read_text()


MODERN_MAKER = MAKER.replace("constructor(uint256 first) public", "constructor(uint256 first)")
MAKERS = [
    ("0.4.26", MAKER, {}),
    ("0.6.12", MAKER, {}),
    ("0.8.28", MODERN_MAKER, {}),
    ("0.8.28", MODERN_MAKER, {"viaIR": True}),
]


@pytest.mark.long
@pytest.mark.parametrize(("version", "source", "settings"), MAKERS)
def test_libraries_and_contracts_of_a_constructor_alone(explorer, version, source, settings):
    """Neither is in the runtime code; a comment changes the metadata of the inner contract."""
    settings = {"optimizer": {"enabled": True, "runs": 200}, **settings}
    library = explorer.deploy(built(source, "Maths", version, **settings).creation)
    linked = {**settings, "libraries": {PATH: {"Maths": library}}}
    address = explorer.deploy(built(source, "Maker", version, **linked).creation, f"{4:064x}")
    options = {
        "optimizationUsed": 1, "runs": 200, "viaIR": settings.get("viaIR", False),
        "contractName": f"{PATH}:Maker",
    }  # fmt: skip
    answer = explorer.verify(address, source + "// changed\n", version, **options)
    assert (answer.json["match"], answer.json["creationMatch"]) == ("partial", "partial")
    assert answer.json["constructorArguments"] == f"0x{4:064x}"
    answer = explorer.verify(address, source, version, libraries={"Maths": library}, **options)
    assert (answer.json["match"], answer.json["creationMatch"]) == ("full", "full"), answer.json
    false = source.replace("age = 3", "age = 4")
    expect_no_match(explorer.verify(address, false, version, **options))


@pytest.mark.long
@pytest.mark.parametrize("runs", [1, 10_000])
def test_settings_with_which_the_creation_code_alone_differs_are_found(explorer, runs):
    """The runtime code is the same with any settings; the metadata, or a search, has them."""
    source = """pragma solidity >=0.8.0;
    contract Empty {
        uint256 private a; uint256 private b;
        constructor(uint256 x) { for (uint256 i; i < x; i++) { a += i * 10**40; b = a + x; } }
    }"""
    settings = {"optimizer": {"enabled": True, "runs": runs}}
    address = explorer.deploy(built(source, "Empty", **settings).creation, f"{2:064x}")
    for text, match in ((source + "//", "partial"), (source, "full")):
        answer = explorer.verify(address, text, "0.8.28", contractName=f"{PATH}:Empty")
        assert (answer.json["match"], answer.json["creationMatch"]) == (match, match), answer.json
