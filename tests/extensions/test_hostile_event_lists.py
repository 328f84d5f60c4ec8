"""Hostile ABIs and logs in lists of events: names of parameters, SQL and HTML; many large logs."""

import json
from decimal import Decimal

import pytest
from eth_abi import encode
from eth_utils import keccak, to_checksum_address

from scan.extensions.events.event_lists import MAX_COMPARED, MAX_COMPARED_BYTES, MAX_PAGE_BYTES
from scan.extensions.events.tests.coffers import following
from tests.support import expected
from tests.support.database import execute
from tests.support.indexing import Indexing, client_over
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough

ADDRESS = "0x" + "ab" * 20
NAMES = [*"limit blockFrom arg.x x xMin _owner".split(), "", "<b>", '"; DROP TABLE logs --', "x"]


def event(name, *inputs):
    """The entry of an ABI with inputs of (name, type, whether it is indexed)."""
    keys = ("name", "type", "indexed")
    inputs = [dict(zip(keys, (*of, False), strict=False)) for of in inputs]
    return {"type": "event", "name": name, "inputs": inputs}


ABI = [
    event("Named", *((name, "uint256") for name in NAMES)),
    event("<script>", ("a", "bytes")),
    event("Plain", ("amount", "uint256")),
    event("Large", ("list", "uint256[]"), ("amount", "uint256")),
    event("Hashed", ("ids", "uint8[]", True)),
]
LARGE_LOGS, LARGE_BYTES = 400, 32_000  # each
PATH = f"/api/v1/contracts/{ADDRESS}/events"
WHO = to_checksum_address("0x" + "cd" * 20)
# Arguments of one event: name, type, whether indexed, value.
TYPED = [
    ("tick", "int24", True, -5),
    ("who", "address", True, WHO),
    ("memo", "string", True, "Zürich"),
    ("kind", "uint8", False, 2),
    ("callback", "function", False, b"f" * 24),
    ("price", "fixed128x18", False, Decimal("-1.5")),
    ("flag", "bool", False, False),
    ("owner", "address", False, WHO),
    ("sig", "bytes4", False, b"\1\2\3\4"),
    ("delta", "int256", False, -(2**255)),
    ("amount", "uint256", False, 2**256 - 1),
    ("note", "string", False, "a\0b"),
    ("blob", "bytes", False, b"\xff"),
    ("list", "uint8[]", False, [1, 2]),
    ("a:b", "uint256", False, 7),
]


def follow(url, address, name, abi):
    connection, followed = following(url)
    with connection:
        followed.add(bytes.fromhex(address[2:]), name, json.dumps(abi))
        followed.make_views()


@pytest.fixture(scope="module")
def client(shared_database_url, shared_anvil):
    """Of a contract whose large logs exceed the bytes of a page, or decoding makes the most of
    them."""
    url = shared_database_url

    def insert(first, rows, signature, data, *values, topics=(None, None, None)):
        """Logs of one block, by their indexes; an expression of PostgreSQL gives data for each."""
        execute(
            url,
            "INSERT INTO contract_events SELECT (1::bigint << 20) + n, 1, 0, n, %s, %s, %s, %s, %s,"  # noqa: S608
            f" {data} FROM generate_series(%s, %s) AS n",
            *(bytes.fromhex(ADDRESS[2:]), keccak(text=signature), *topics, *values),
            *(first, first + rows - 1),
        )

    anvil = shared_anvil
    anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
    anvil.mine()
    Indexing(url, anvil.url).run_until(anvil.head())
    follow(url, ADDRESS, "hostile", [*ABI, event("Typed", *(of[:3] for of in TYPED))])
    words = "decode(repeat(lpad(to_hex(n - %s), 64, '0'), %s), 'hex')"
    named = f"Named({','.join(['uint256'] * len(NAMES))})"
    insert(10_000, 3, named, words, 10_000, len(NAMES))
    insert(20_000, 5, "<script>(bytes)", "%s", encode(["bytes"], [b"\xab" * 983_040]))
    insert(30_000, MAX_COMPARED + 10, "Plain(uint256)", words, 30_000, 1)
    for first, count, amount in ((0, 1, 7), (1, LARGE_LOGS - 2, 1), (LARGE_LOGS - 1, 1, 7)):
        data = encode(["uint256[]", "uint256"], [[2**255] * (LARGE_BYTES // 32), amount])
        insert(500_000 + first, count, "Large(uint256[],uint256)", "%s", data)
    plain = [(type_, value) for _, type_, is_topic, value in TYPED if not is_topic]
    topics = [
        keccak(text=value) if type_ == "string" else encode([type_], [value])
        for _, type_, is_topic, value in TYPED
        if is_topic
    ]
    data = encode(*([*of] for of in zip(*plain, strict=True)))
    signature = f"Typed({','.join(type_ for _, type_, *_ in TYPED)})"
    insert(1_000_000, 1, signature, "%s", data, topics=topics)
    insert(1_000_001, 1, "Hashed(uint8[])", "%s", b"", topics=(b"h" * 32, None, None))
    connection, followed = following(url)
    with connection:
        while followed.decode():
            pass
    return client_over(url)


def get(client, path, **query):
    return client.get(PATH + path, query_string=query)


def test_every_argument_has_a_parameter_of_its_own(client):
    [event] = [e for e in get(client, "").json["events"] if e["name"] == "Named"]
    names = [argument["parameter"] for argument in event["arguments"]]
    assert len({*names}) == len(NAMES)
    assert names[0] == "arg.limit"
    for name in names:
        listed = get(client, "/Named", **{name: 1}).json
        assert [log["blockNumber"] for log in listed["events"]] == [1], name
        assert set(listed["events"][0]["args"].values()) == {"1"}
    assert len(get(client, "/Named", limit=2).json["events"]) == 2
    assert get(client, "/Named", _owner=7).json["events"] == []
    for unknown in ("_nothing", "_", "_ownerMi", "_a&_owner"):
        refused = client.get(f"{PATH}/Named?{unknown}=7")
        assert (refused.status_code, refused.json["field"]) == (400, unknown.partition("&")[0])
    refused = get(client, "/Named", nothing=1)
    assert refused.status_code == 400
    assert "arg.limit" in refused.json["error"]


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (
            [
                *("tick=-5 tickMin=-5 tickMax=0 tickMin=-0x5 who=0x" + "cd" * 20).split(),
                *('args={"tick":-5,"flag":false}', "arg.tick.max=-5"),
                *(f"who={WHO}", "memo=Zürich", "kind=2", "kind=0x2", "kindMin=2"),
                *(f"callback=0x{b'f'.hex() * 24}", "price=-1.5", "priceMin=-1.50", "priceMax=0"),
                *("flag=false", f"owner={WHO}", "sig=0x01020304", "deltaMax=-1", "amountMin=1"),
                *(f"delta={-(2**255)}", f"amount={2**256 - 1}", "blob=0xff", "note=a%00b"),
                *("a:b=7", "a:bMin=7"),
            ],
            1,
        ),
        (
            "tick=5 tickMin=-4 memo=zürich flag=true price=1.5 amountMax=1 note=a"
            " blob=0x a:bMax=6".split(),
            0,
        ),
    ],
)
def test_arguments_of_every_type_filter(client, filters, count):
    for text in filters:
        listed = client.get(f"{PATH}/Typed?{text}")
        assert (listed.status_code, len(listed.json.get("events", ()))) == (200, count), text
    hashed = get(client, "/Hashed", ids=f"0x{b'xh'[count : count + 1].hex() * 32}").json
    assert len(hashed["events"]) == count  # of an array by its hash


def test_what_an_argument_cannot_be_is_refused_by_name_as_expected(client):
    expected.compare(__file__, client, {})
    refused = client.get(f"{PATH}/Typed?amount={'9' * 5000}")
    assert (refused.status_code, refused.json["field"]) == (400, "amount")
    assert len(refused.text) < 3000


def test_a_page_compares_a_bounded_number_of_logs(client):
    first = get(client, "/Plain", amount=10**30).json
    assert first["events"] == []
    assert first["next"] is not None
    rest = get(client, "/Plain", amount=10**30, cursor=first["next"]).json
    assert (rest["events"], rest["next"]) == ([], None)
    first = get(client, "/Plain", amountMax=3).json
    rest = get(client, "/Plain", amountMax=3, cursor=first["next"]).json
    assert [log["args"]["amount"] for log in rest["events"]] == ["3", "2", "1", "0"]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_page_compares_a_bounded_number_of_bytes(client, order):
    """Of 12.8 MB, the first and the last log of which match; by cursor none is left out."""
    pages = [get(client, "/Large", amount=7, orderBy=order).json]
    while (cursor := pages[-1]["next"]) is not None:
        pages.append(get(client, "/Large", amount=7, orderBy=order, cursor=cursor).json)
    amounts = [log["args"]["amount"] for page in pages for log in page["events"]]
    assert amounts == ["7", "7"]
    assert 2 * len(pages) >= LARGE_LOGS * LARGE_BYTES / MAX_COMPARED_BYTES
    refused = get(client, "/Large", amount=7, orderBy=order, page=2)
    assert (refused.status_code, "next" in refused.json["error"]) == (503, True)
    file = get(client, "/Large", amount=7, orderBy=order, format="ndjson")
    assert (len(file.text.splitlines()), file.headers["X-Scan-Complete"]) == (2, "true")


def test_a_page_has_bounded_data_and_a_file_all(client):
    [event] = [e for e in get(client, "").json["events"] if e["name"] == "<script>"]
    assert MAX_PAGE_BYTES < 5 * 983_040
    refused = get(client, f"/{event['topic0']}")
    assert (refused.status_code, "limit" in refused.json["error"]) == (503, True)
    assert len(get(client, f"/{event['topic0']}", limit=2).json["events"]) == 2
    file = get(client, f"/{event['topic0']}", format="ndjson")
    assert len(file.text.splitlines()) == 5
    assert file.headers["X-Scan-Complete"] == "true"


def test_an_event_is_meant_by_its_own_name_alone(client, shared_database_url):
    """Not by that of its view, which may be another event's name; and is there at once."""
    address = "0x" + "ed" * 20
    path = f"/api/v1/contracts/{address}/events"
    upper, lower = (event(name, ("n", "uint256")) for name in ("Deposit", "deposit"))
    for abi, found in ([upper], 404), ([upper, lower], 200):
        follow(shared_database_url, address, "named", abi)
        names = [one["name"] for one in abi]
        wait_until(
            lambda names=names: (
                [one["name"] for one in client.get(path).json.get("events", ())] == names
            )
        )
        statuses = [client.get(f"{path}/{name}").status_code for name in ("Deposit", "deposit")]
        assert statuses == [200, found]
    for view, name in (("deposit", "Deposit"), ("deposit_2", "deposit")):
        page = client.get(f"/address/{address}?tab=events&event={view}").text
        assert f"<h2>{name}</h2>" in page
    assert client.get(f"{path}/deposit_2").status_code == 200
