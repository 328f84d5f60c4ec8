"""GET /api/v1/addresses?addresses=…, and a service without blocks."""

from scan.queries.filter_values import QUERIED
from tests.support import faulty_node, indexing
from tests.support.anvil import ZERO

UNSEEN = "0x" + "9d" * 20


def test_addresses_in_the_order_asked(client, scenario):
    token = scenario.stage.contracts["harbor"].address.lower()
    addresses = [scenario.stage.people[3], UNSEEN, token, scenario.stage.people[1]]
    response = client.get(f"/api/v1/addresses?addresses={','.join(addresses)}")
    assert response.status_code == 200
    head = scenario.anvil.head()
    for address, row in zip(addresses, response.json["addresses"], strict=True):
        record = scenario.truth.addresses.get(address, {"txCount": 0})
        assert row == {
            "address": address,
            "balance": str(int(scenario.anvil.call("eth_getBalance", address, "latest"), 16)),
            "balanceBlock": head,
            "txCount": record["txCount"],
            "isContract": address == token,
            "unproven": ["balance", "isContract"],
        }


def test_the_tokens_of_addresses_are_included(client, scenario):
    """One request for all that a watch list shows."""
    token = scenario.truth.token_transfers[0]["tokenAddress"]
    path = f"/api/v1/addresses?addresses={token},{UNSEEN}"
    listed, unseen = client.get(f"{path}&include=token").json["addresses"]
    detail = client.get(f"/api/v1/tokens/{token}").json
    assert listed["token"] and listed["token"].items() <= detail.items()
    assert {"symbol", "holderCount", "transferCount"} <= listed["token"].keys()
    assert unseen["token"] is None
    refused = client.get(f"{path}&include=everything")
    assert (refused.status_code, refused.json["field"]) == (400, "include")


def test_what_is_no_list_of_a_hundred_is_refused(client):
    hundred = ",".join([UNSEEN] * 100)
    assert len(client.get(f"/api/v1/addresses?addresses={hundred}").json["addresses"]) == 100
    for addresses in (f"{hundred},{UNSEEN}", "", "0x12", f"{UNSEEN},", f"{UNSEEN};{UNSEEN}"):
        response = client.get("/api/v1/addresses", query_string={"addresses": addresses})
        assert (response.status_code, response.json["field"]) == (400, "addresses")


def test_the_node_is_asked_for_balances(database_url, anvil, node):
    """Also where that of the newest block is stored: it may know what no row says."""
    requested = []

    def record(calls, forward):
        requested.extend(c["params"][0] for c in calls if c["method"] == "eth_getBalance")
        return faulty_node.Reply(body=forward(calls))

    sender, *others = anvil.accounts[:3]
    for number, recipient in enumerate(others, start=1):
        anvil.send(sender, recipient, value=1)
        anvil.mine()
        index = indexing.Indexing(database_url, node.url).run_until(number)
    anvil.call("anvil_setBalance", others[0], hex(7))
    node.fault = record
    path = f"/api/v1/addresses?addresses={','.join(others)}"
    rows = index.client().get(path).json["addresses"]
    assert [row["balanceBlock"] for row in rows] == [2, 2]
    tries = [ZERO] * 2  # whether the node takes block hashes
    assert (rows[0]["balance"], requested) == ("7", [*tries, *others])


def test_a_service_without_blocks_has_empty_lists_and_knows_nothing(database_url):
    client = indexing.client_over(database_url)
    address = "0x" + 40 * "a"
    lists = ("blocks", "transactions", "tokens", f"transactions?address={address}", "blocks?page=9")
    for path in lists:
        answer = client.get(f"/api/v1/{path}")
        assert (answer.status_code, [*answer.json.values()]) == (200, [[], 0, None])
    for entity in set(QUERIED) - {"logs"}:  # which are not stored: the node would have to be asked
        for window in ({}, {"offset": 10}, {"orderBy": "asc"}):
            result = client.post("/api/v1/query", json={"entity": entity, **window}).json
            assert (result["entity"], result["count"], result["data"]) == (entity, 0, [])
            assert (result["total"], result["next"]) == (0, None)
    stats = client.get("/api/v1/stats").json
    assert [stats[name] for name in ("latestBlock", "totalTokens", "chainId")] == [0, 0, None]
    assert client.get("/readyz").json["indexedBlock"] is None
    assert client.get("/").status_code == client.get("/metrics").status_code == 200
