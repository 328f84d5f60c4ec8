"""User operations (ERC-4337) of real entry points: rows, lists, bulk and reorganisations."""

import itertools
from dataclasses import replace

from app import create_app
from scan.extensions.blockscout.tests.published import faults
from scan.extensions.user_operations.tests.operations_chain import chain, require_rows
from tests.support import expected
from tests.support.entry_points import ADDRESSES, CALL_GAS, VERIFICATION_GAS
from tests.support.lists import Listed, by_links, get

__all__ = ["chain"]


def test_operations_are_counted_as_the_node_has_them(chain):
    operations = chain.operations
    assert len(operations) == 5 * len(ADDRESSES)
    assert [o["success"] for o in operations] == [True, False, True, True, True] * len(ADDRESSES)
    assert {o["paymaster"] for o in operations} == {None, chain.sponsor}
    assert sum(o["factory"] is not None for o in operations) == 2 * len(ADDRESSES)
    require_rows(chain.settings, operations)


def rows_of(chain, path, limit=4):
    """A list by its cursors, whose total, where it has one, is that of its rows."""
    return by_links(chain.client, Listed(path, "userOperations", is_counted=False), limit)


def test_lists_have_every_operation(chain):
    """By each filter tests/extensions/test_every_list.py reads them."""
    assert rows_of(chain, "/user-operations") == chain.operations[::-1]
    assert rows_of(chain, "/user-operations?orderBy=asc") == chain.operations
    file = chain.client.get("/api/v1/user-operations?format=csv").text.splitlines()
    assert len(file) == 1 + len(chain.operations)


def test_blockscouts_form_has_the_same_operations(chain):
    path = "/api/v2/proxy/account-abstraction/operations"
    newest_first = [operation["hash"] for operation in chain.operations[::-1]]
    listed = chain.client.get(path).json
    assert listed is not None and not faults(path, listed)
    assert [item["hash"] for item in listed["items"]] == newest_first
    raw = {}
    for operation in chain.operations:
        of_one = {"sender": operation["sender"], "transaction_hash": operation["transactionHash"]}
        for name, value in of_one.items():
            items = (chain.client.get(path, query_string={name: value}).json or {})["items"]
            assert operation["hash"] in {item["hash"] for item in items}
        shown = chain.client.get(f"{path}/{operation['hash']}").json
        assert shown is not None and not faults(f"{path}/{{}}", shown)
        summary = chain.client.get(f"{path}/{operation['hash']}/summary").json
        assert summary == {"success": True, "data": {"summaries": []}}
        raw.setdefault(shown["entry_point_version"], []).append(shown["raw"])
    unpacked, packed = raw.pop("v0.6"), [*itertools.chain(*raw.values())]
    assert packed and not any("gas_fees" in operation for operation in unpacked)
    for operation in packed:
        limits = int(operation["account_gas_limits"], 16)
        assert divmod(limits, 2**128) == (VERIFICATION_GAS, CALL_GAS)
        assert "gas_fees" in operation
    assert chain.client.get(f"{path}/0x{'9d' * 32}/summary").status_code == 404
    block = chain.operations[-1]["blockNumber"]
    of_block = [o["hash"] for o in chain.operations[::-1] if o["blockNumber"] == block]
    items = (chain.client.get(path, query_string={"block_number": block}).json or {})["items"]
    assert [item["hash"] for item in items] == of_block
    two = (chain.client.get(path, query_string={"items_count": 2}).json or {})["items"]
    assert [item["hash"] for item in two] == newest_first[:2]


def test_blockscouts_form_has_the_one_call_that_an_account_executes(chain):
    """Of a batch it has none."""
    executed = {}
    for operation in chain.operations:
        path = f"/proxy/account-abstraction/operations/{operation['hash']}"
        shown = chain.client.get(f"/api/v2{path}").json
        calls = chain.client.get(f"/api/v1/user-operations/{operation['hash']}").json["calls"]
        target = shown["execute_target"] and shown["execute_target"]["hash"].lower()
        executed[target, shown["execute_call_data"]] = [
            (call["toAddress"], call["input"]) for call in calls
        ]
    batch = executed.pop((None, None))
    assert len(batch) == 2 and executed
    assert {call: [call] for call in executed} == executed


def test_blockscouts_form_has_who_took_part(chain):
    path = "/api/v2/proxy/account-abstraction"
    for sender in {operation["sender"] for operation in chain.operations}:
        own = [o for o in chain.operations if o["sender"] == sender]
        account = chain.client.get(f"{path}/accounts/{sender}").json or {}
        assert not faults(f"{path}/accounts/{{}}", account)
        created = own[0]["hash"] if own[0]["factory"] else None
        assert (account["creation_op_hash"], account["total_ops"]) == (created, len(own))
        assert chain.client.get(f"{path}/paymasters/{sender}").status_code == 404
    paymaster = chain.client.get(f"{path}/paymasters/{chain.sponsor}").json or {}
    assert not faults(f"{path}/paymasters/{{}}", paymaster)
    assert paymaster["total_ops"] == sum(o["paymaster"] is not None for o in chain.operations)


def test_blockscouts_search_has_operations_by_hash(chain):
    def read_json(path, query):
        return chain.client.get(f"/api/v2{path}", query_string={"q": query}).json

    hash_ = chain.operations[0]["hash"]
    listed, quick = (
        read_json("/search", hash_),
        read_json("/search/quick", f"0x{hash_[2:].upper()}"),
    )
    assert not faults("/api/v2/search", listed) and listed["items"] == quick
    assert [item["user_operation_hash"] for item in quick] == [hash_]
    redirect = {"redirect": True, "type": "user_operation", "parameter": hash_}
    assert read_json("/search/check-redirect", hash_) == redirect
    assert read_json("/search/quick", "0x" + "9d" * 32) == []
    assert read_json("/search/check-redirect", "0x" + "9d" * 32)["redirect"] is False


def test_operations_have_their_calls_and_reasons_as_expected(chain):
    """Also where a contract sent the bundle: from the trace of its transaction."""
    kinds = ("run", "failing", "batch", "inside of a bundle", "paid inside of a bundle")
    named = itertools.product(ADDRESSES, kinds)
    names = {
        f"{kind} {version}": o["hash"]
        for (version, kind), o in zip(named, chain.operations, strict=True)
    }
    names |= {"Errand": chain.errand.lower(), "Sponsor": chain.sponsor.lower()}
    names["account"] = chain.operations[1]["sender"]
    names["transaction"] = chain.operations[1]["transactionHash"]
    expected.compare(__file__, chain.client, names)
    for operation in chain.operations:
        detail = get(chain.client, f"/user-operations/{operation['hash']}")
        assert {name: detail[name] for name in operation} == operation


def test_a_transaction_has_its_operations(chain):
    hashes = {o["transactionHash"] for o in chain.operations}
    for hash_ in hashes:
        own = [o for o in chain.operations if o["transactionHash"] == hash_]
        record = get(chain.client, f"/transactions/{hash_}")
        assert (record["userOperations"], record["userOperationCount"]) == (own, len(own))
        assert rows_of(chain, f"/transactions/{hash_}/user-operations", 1) == own
    others = {
        t["hash"] for t in get(chain.client, "/transactions?limit=100")["transactions"]
    } - hashes
    for hash_ in others:
        assert "userOperations" not in get(chain.client, f"/transactions/{hash_}")
        assert get(chain.client, f"/transactions/{hash_}/user-operations")["total"] == 0
    missing = "0x" + "ab" * 32
    for path in (f"/user-operations/{missing}", f"/transactions/{missing}/user-operations"):
        assert chain.client.get(f"/api/v1{path}").status_code == 404


def test_operations_without_traces_have_no_calls(chain):
    """A bundle that a contract sent is in no transaction's own calldata."""
    client = create_app(replace(chain.settings, traces="off")).test_client()
    inner = client.get(f"/api/v1/user-operations/{chain.operations[3]['hash']}").json
    assert (inner["operation"], inner["calls"], inner["callCount"]) == (None, None, None)
    assert "SCAN_TRACES is off" in inner["unavailable"]
    assert "Its calls are not shown" in client.get(f"/user-operation/{inner['hash']}").text
    own = client.get(f"/api/v1/user-operations/{chain.operations[0]['hash']}").json
    assert own["callCount"] == 1
