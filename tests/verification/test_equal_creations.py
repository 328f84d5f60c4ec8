"""Contracts with the code of verified ones, compared by the code that created them."""

import pytest

from tests.support.creations import NOT_VERIFIED, PATH, built
from tests.support.explorer import standard_input
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough

CAPPED = """pragma solidity >=0.8.0;
    contract Capped { uint256 public cap; constructor(uint256 most) { cap = most; } }"""


def with_highest_cap(runtime):
    """Creation code that stores 2**160 - 1 as the cap, then returns runtime code."""
    store = f"73{'ff' * 20}600055"
    return f"{store}61{len(runtime) // 2:04x}8060246000396000f3{runtime}"


def test_the_code_of_a_verified_contract_is_verified_only_if_it_was_created_alike(
    explorer, running_jobs
):
    """What the constructor wrote is in no code: one who writes another value has the same code."""
    code = built(CAPPED, "Capped")
    verified = explorer.deploy(code.creation, f"{21_000_000:064x}")
    alike = explorer.deploy(code.creation, f"{7:064x}")
    unlike = explorer.deploy(with_highest_cap(code.runtime))
    placed = explorer.place(code.runtime)
    given_capped = {"optimizationUsed": 0, "contractName": f"{PATH}:Capped"}
    assert explorer.verify(verified, CAPPED, "0.8.28", **given_capped).json["match"] == "full"

    def match_of(address):
        stored = explorer.contract(address).json
        assert stored["verifiedBy"] == verified
        return stored["match"], stored["creationMatch"], stored["constructorArguments"]

    def is_called_verified(address):
        page = explorer.get(f"/address/{address}?tab=contract")
        query = f"/api?module=contract&action=getsourcecode&address={address}"
        [row] = explorer.get(query)["result"]
        assert row["SimilarMatch"] == verified
        is_hidden = address == unlike  # as Etherscan shows what may have been created alike
        assert (row["ABI"] == NOT_VERIFIED) is (row["SourceCode"] == "") is is_hidden
        bytecode = explorer.get(f"/api/v1/contracts/{address}/bytecode")
        assert (bytecode["similarTo"] == verified) is not bytecode["verified"]
        assert ("Similar match: " in page) is not bytecode["verified"]
        return bytecode["verified"]

    others = (alike, unlike, placed)
    compared = """SELECT e.address
        FROM creation_comparisons e
        JOIN verified_contracts v USING (creation_hash)
        WHERE v.address = decode(substr(%s, 3), 'hex')"""
    wait_until(lambda: len(explorer.sql(compared, verified)) == 2)
    assert match_of(alike) == ("full", "full", f"0x{7:064x}")
    assert {match_of(unlike), match_of(placed)} == {("runtime", None, None)}
    assert [*map(is_called_verified, others)] == [True, False, False]
    assert explorer.call(unlike, "cap").json["result"] == str(2**160 - 1)
    for address, match in ((alike, "full"), (unlike, "runtime")):
        answer = explorer.verify(address, CAPPED, "0.8.28", **given_capped).json
        assert (answer["match"], explorer.contract(address).json["verifiedBy"]) == (match, None)
    again = explorer.deploy(code.creation, f"{8:064x}")
    wait_until(lambda: match_of(again)[0] == "full")
    false = CAPPED.replace("= most;", "= most + 1;")
    assert explorer.verify(again, false, "0.8.28", **given_capped).json["match"] == "runtime"
    assert match_of(again) == ("full", "full", f"0x{8:064x}")  # a false source hides no match


def test_of_verified_codes_alike_that_counts_whose_creation_code_is_equal(explorer, running_jobs):
    """Without hashes of metadata, whoever verifies first has the runtime code of all others."""
    source = """pragma solidity >=0.8.0;
    contract Base { address public owner; uint256 public cap; }
    contract Evil is Base { constructor() { cap = 2**200; } }
    contract Long is Base { constructor(uint256 most) { cap = most * 3; owner = address(7); } }
    contract Honest is Base { constructor(uint256 most) { owner = msg.sender; cap = most; } }
    """
    settings = {"metadata": {"bytecodeHash": "none"}}
    names = ("Evil", "Long", "Honest")
    codes = {name: built(source, name, **settings).creation for name in names}
    early = explorer.deploy(codes["Honest"], f"{4:064x}")
    unlike = explorer.deploy(with_highest_cap(built(source, "Honest", **settings).runtime))

    def verified(name, arguments=""):
        address = explorer.deploy(codes[name], arguments)
        standard = standard_input({PATH: source}, **settings)
        answer = explorer.verify(address, standard, "0.8.28", contractName=f"{PATH}:{name}").json
        assert (answer["contractName"], answer["creationMatch"]) == (name, "partial"), answer
        return address

    def shown(address):
        record = explorer.contract(address).json
        return tuple(map(record.get, ("contractName", "match", "verifiedBy")))

    evil = verified("Evil")
    compared = "SELECT 1 FROM creation_comparisons WHERE address = ANY(%s) AND is_equal IS NOT NULL"
    keys = [bytes.fromhex(address[2:]) for address in (early, unlike)]
    wait_until(lambda: len(explorer.sql(compared, keys)) == 2)
    assert {shown(early), shown(unlike)} == {("Evil", "runtime", evil)}
    verified("Long", f"{3:064x}")
    honest = verified("Honest", f"{5:064x}")
    late = explorer.deploy(codes["Honest"], f"{6:064x}")
    expected = ("Honest", "partial", honest)
    wait_until(lambda: {shown(early), shown(late)} == {expected})
    assert explorer.contract(late).json["constructorArguments"] == f"0x{6:064x}"
    assert shown(unlike) == ("Evil", "runtime", evil)
    blockscout = explorer.get(f"/api/v2/smart-contracts/{late}")
    assert (blockscout["name"], blockscout["is_verified"]) == ("Honest", True)


def test_a_verification_counts_for_the_creation_that_it_was_compared_with(explorer, running_jobs):
    """One contract after another at an address by forks, of one runtime code."""
    node = explorer.anvil
    source = CAPPED.replace("Capped", "Forked")
    code, extra = built(source, "Forked"), {"optimizationUsed": 0, "contractName": f"{PATH}:Forked"}
    snapshots = [node.call("evm_snapshot")]

    def fork(creation, arguments=""):
        assert node.call("evm_revert", snapshots.pop())
        snapshots.append(node.call("evm_snapshot"))
        node.mine(len(snapshots))
        return explorer.deploy(creation, arguments)

    def stored():
        record = explorer.contract(address).json
        return tuple(map(record.get, ("match", "creationMatch", "constructorArguments")))

    address = explorer.deploy(code.creation, f"{7:064x}")
    assert explorer.verify(address, source, "0.8.28", **extra).json["match"] == "full"
    assert fork(code.creation, f"{8:064x}") == address
    wait_until(lambda: stored() == ("full", "full", f"0x{8:064x}"))

    assert fork(with_highest_cap(code.runtime)) == address
    wait_until(lambda: stored() == ("runtime", False, None))
    [listed] = explorer.get("/api/v1/contracts?limit=1")["contracts"]
    assert (listed["address"], listed["match"]) == (address, "runtime")
    copy = explorer.deploy(with_highest_cap(code.runtime))
    assert explorer.verify(address, source, "0.8.28", **extra).json["match"] == "runtime"
    assert stored() == ("runtime", False, None)
    assert explorer.contract(copy).json["match"] == "runtime"

    assert fork(code.creation, f"{9:064x}") == address
    wait_until(lambda: stored() == ("full", "full", f"0x{9:064x}"))
