"""How a request may be put: methods, forms, letter case, and anything at all."""

import random

import pytest

from scan.extensions.etherscan.interface import PUBLISHED

PATHS = ("/api", "/api/", "/v2/api", "/v2/api/")


def in_form(response):
    """The body, after checking that it has one of the two shapes."""
    assert response.status_code == 200, (response.status_code, response.text)
    assert response.content_type == "application/json"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    body = response.json
    if "jsonrpc" in body:
        assert body["jsonrpc"] == "2.0" and ("result" in body) != ("error" in body)
        return body
    assert body.keys() - {"details"} == {"status", "message", "result"}
    assert body["status"] in ("0", "1")
    return body


@pytest.mark.parametrize("path", PATHS)
def test_every_way_to_ask_is_the_same(client, scenario, path):
    query = {
        "module": "account",
        "action": "txlist",
        "address": scenario.stage.people[0],
        "offset": "3",
    }
    shouted = {name.upper(): value for name, value in query.items()}
    half = {name: query[name] for name in ("module", "action")}
    rest = {name: query[name] for name in ("address", "offset")}
    responses = [
        client.get(path, query_string=query),
        client.get(path, query_string=shouted),
        client.get(path, query_string={**query, "action": "TxList", "module": "ACCOUNT"}),
        client.post(path, data=query),
        client.post(path, data=query, content_type="multipart/form-data"),
        client.post(path, query_string=half, data=rest),
        client.post(path, query_string=rest, data=half, content_type="multipart/form-data"),
        client.post(path, query_string=query),
        client.get(path, query_string={**query, "apikey": "YourApiKeyToken", "chainid": "31337"}),
        client.get(path, query_string={**query, "apikey": "", "unknown": "1"}),
    ]
    bodies = [in_form(response) for response in responses]
    assert len(bodies[0]["result"]) == 3
    assert all(body == bodies[0] for body in bodies)


def test_other_methods(client):
    for method in ("PUT", "DELETE", "PATCH"):
        response = client.open("/api", method=method)
        assert in_form(response)["status"] == "0" and "GET" in response.headers["Allow"]


def test_anything_at_all_is_answered_in_form(client, scenario):
    draw = random.Random(15)
    people = [*scenario.stage.people, *(c.address for c in scenario.stage.contracts.values())]
    actions = [(module, action) for module, names in PUBLISHED.items() for action in names]

    def sent_in_query(query):
        return client.get(draw.choice(PATHS), query_string=query)

    def sent_as_form(query):
        kind = draw.choice(["multipart/form-data", "application/x-www-form-urlencoded"])
        return client.post(draw.choice(PATHS), data=query, content_type=kind)

    names = (
        "address", "contractaddress", "contractaddresses", "startblock", "endblock",
        "page", "offset", "sort", "tag", "txhash", "timestamp", "closest", "fromBlock",
        "toBlock", "topic0", "topic1", "topic0_1_opr", "to", "data", "from", "value",
        "gas", "gasPrice", "position", "boolean", "hex", "chainid", "apikey", "guid",
        "sourceCode", "contractname", "compilerversion", "codeformat", "fromto_opr",
        "index", "blockno", "startdate", "enddate", "blocktype", "constructorArguements",
        "optimizationUsed", "runs", "evmversion", "licenseType",
    )  # fmt: skip
    nasty = (
        "", "0", "-1", "1e3", "0x", "0xzz", "\0", "9" * 400, "latest", "null",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "%00", "é", "٣",
        "[]", "{}", "true", "' OR 1=1 --",
        "0x" + "f" * 64, "0x" + "00" * 20, "0x" + "F" * 40, "," * 30, "1.5", " 7 ", "0X10",
        "18446744073709551616", "340282366920938463463374607431768211456", "99999999999999999999",
    )  # fmt: skip
    for number in range(600):
        module, action = actions[number % len(actions)]
        query = {"module": module, "action": action}
        for name in draw.sample(names, draw.randint(0, 8)):
            usual = draw.random() < 0.5 and name.startswith(("address", "contract", "to", "from"))
            query[name] = draw.choice(people) if usual else draw.choice(nasty)
        in_form(draw.choice((sent_in_query, sent_as_form))(query))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"{}", "application/json"),
        (b"\xff\xfe=%zz&&&=", "application/x-www-form-urlencoded"),
        (b"module=account&" * 3000, "application/x-www-form-urlencoded"),
        (b"--x\r\nContent-Disposition: form-data; name=module", "multipart/form-data; boundary=x"),
        (b"x" * 6_000_000, "application/x-www-form-urlencoded"),
    ],
)
def test_strange_bodies(client, body, content_type):
    assert in_form(client.post("/api", data=body, content_type=content_type))["status"] == "0"


def test_a_form_may_be_large(client):
    query = {"module": "block", "action": "getblocknobytime", "timestamp": "1800000000"}
    large = {**query, "sourceCode": "x" * 1_048_576}
    for kind in ("multipart/form-data", "application/x-www-form-urlencoded"):
        assert in_form(client.post("/api", data=large, content_type=kind))["status"] == "1"


def test_limits(indexed):
    """Refusals keep HTTP 200, since most clients read the body of nothing else."""
    client = indexed.client(rate_limit_anonymous="5/minute")
    query = {"module": "proxy", "action": "eth_blockNumber", "apikey": "unknown"}
    for left in range(4, -1, -1):
        response = client.get("/api", query_string=query)
        assert in_form(response)["jsonrpc"] == "2.0"
        assert response.headers["X-RateLimit-Remaining"] == str(left)
    response = client.post("/v2/api", data=query)
    body = in_form(response)
    assert (body["status"], body["message"]) == ("0", "NOTOK")
    assert body["result"].startswith("Max rate limit reached")
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    assert client.get("/api/v1/stats").status_code == 429  # one budget


def test_totals(client, scenario):
    """Of lists whose length is known; tokentx by address has none."""
    transfer = next(t for t in scenario.truth.token_transfers if t["tokenType"] == "BEP20")
    token, address = transfer["tokenAddress"], transfer["fromAddress"]
    inner = scenario.truth.internal_transfers[0]
    for query in (
        {"action": "txlistinternal"},
        {"action": "txlistinternal", "address": inner["fromAddress"]},
        {"action": "txlistinternal", "txhash": inner["transactionHash"]},
        {"action": "tokentx", "contractaddress": token},
        {"action": "tokennfttx", "contractaddress": token},  # of another type: none
    ):
        response = client.get("/api", query_string={"module": "account", **query})
        assert response.headers["X-Total-Count"] == str(len(in_form(response)["result"]))
    query = {"module": "account", "action": "tokentx", "address": address}
    assert "X-Total-Count" not in client.get("/api", query_string=query).headers


def test_the_list_of_chains_has_the_indexed_one(client, indexed):
    named = indexed.client(base_path="/dev", chain_name="Devnet")
    listed = named.get("/dev/v2/chainlist", base_url="http://a.test")
    chain = {
        "chainname": "Devnet",
        "chainid": "31337",
        "blockexplorer": "http://a.test/dev/",
        "apiurl": "http://a.test/dev/v2/api?chainid=31337",
        "status": 1,
        "comment": "",
    }
    assert (listed.json["totalcount"], listed.json["result"]) == (1, [chain])
    of_sourcify = {"name": "Devnet", "chainId": 31337, "supported": True}
    assert named.get("/dev/chains").json == [of_sourcify]
    # Nothing that one client sends as its host is shown to another.
    for host in ("evil.test", "evil.test/<x>"):
        client.get("/v2/chainlist", headers={"Host": host})
    assert "evil" not in client.get("/v2/chainlist").text
    assert in_form(client.get("/v2/chainlist?x=1"))["status"] == "0"
