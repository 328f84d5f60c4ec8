"""User operations (ERC-4337) of real entry points: rows, lists, bulk and reorganisations."""

import itertools

from scan.extensions.blockscout.tests.published import faults
from scan.extensions.user_operations.tests.operations_chain import chain
from tests.support import auditing, expected
from tests.support.entry_points import ADDRESSES
from tests.support.lists import Listed, by_links, get

__all__ = ["chain"]


def test_operations_are_counted_as_the_node_has_them(chain):
    operations = chain.operations
    assert len(operations) == 5 * len(ADDRESSES)
    assert [o["success"] for o in operations] == [True, False, True, True, True] * len(ADDRESSES)
    assert {o["paymaster"] for o in operations} == {None, chain.sponsor}
    assert sum(o["factory"] is not None for o in operations) == 2 * len(ADDRESSES)
    assert auditing.run(chain.indexing.settings) == auditing.EXACT


def test_lists_have_every_operation(chain):
    """By each filter tests/extensions/test_every_list.py reads them."""
    for query, operations in (("", chain.operations[::-1]), ("?orderBy=asc", chain.operations)):
        listed = Listed(f"/user-operations{query}", "userOperations", is_counted=False)
        assert by_links(chain.client, listed, limit=4) == operations
    file = chain.client.get("/api/v1/user-operations?format=csv").text.splitlines()
    assert len(file) == 1 + len(chain.operations)


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
    names["no operation"] = f"0x{'9d' * 32}"
    creation = get(chain.client, f"/addresses/{chain.sponsor}")["creation"]
    names["deployment"] = creation["transactionHash"]
    names["transaction"] = chain.operations[1]["transactionHash"]
    expected.compare(__file__, chain.client, names)
    for form, of in (
        ("operations", ""),
        ("operations/{}", names["run 0.6"]),
        ("accounts/{}", names["account"]),
        ("paymasters/{}", chain.sponsor),
    ):
        route = f"/api/v2/proxy/account-abstraction/{form}"
        assert not faults(route, chain.client.get(route.format(of)).json), form
    for operation in chain.operations:
        detail = get(chain.client, f"/user-operations/{operation['hash']}")
        assert {name: detail[name] for name in operation} == operation


def test_operations_without_traces_have_no_calls(chain):
    """A bundle that a contract sent is in no transaction's own calldata."""
    client = chain.indexing.client(traces="off")
    inner = client.get(f"/api/v1/user-operations/{chain.operations[3]['hash']}").json
    assert (inner["operation"], inner["calls"], inner["callCount"]) == (None, None, None)
    assert "SCAN_TRACES is off" in inner["unavailable"]
    assert "Its calls are not shown" in client.get(f"/user-operation/{inner['hash']}").text
    own = client.get(f"/api/v1/user-operations/{chain.operations[0]['hash']}").json
    assert own["callCount"] == 1
