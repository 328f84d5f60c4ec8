"""Signatures and logs of enemies in lists of events by signature."""

import json
import re

import pytest
from eth_utils import keccak

from scan.extensions.event_logs.queries import MOST_ADDRESSES, TOO_LONG, PageBounds
from scan.extensions.events.tests.random_events import deploy, encoded
from tests.support.database import execute
from tests.support.indexing import Indexing, client_over, sources
from tests.support.lists import get
from tests.support.refusals import require_parameter

LARGE_BYTES = 1_000_000


def word(number):
    return number.to_bytes(32)


def text(content):
    return word(32) + word(len(content)) + content.ljust(32, b"\0")


SHARED = word(32) + b"".join(word(60) + word(32 * 60) * 60 for _ in range(6))
DEEP = "Deep(uint256[][][][][][][] x)"
NOTED, PAIR = "Noted(string text)", "Pair(address indexed a, uint8 b)"
# By signature, of each log its topics after the first one, its data, and what it is read as.
READ = {
    NOTED: [
        ([], text(b"a\0b"), {"text": "a\0b"}),
        ([], text(b"\xff\xfe!"), {"text": "\ufffd\ufffd!"}),
        ([], text(b"x") + b"more", {"text": "x"}),
        ([], b"", None),
        ([], word(2**255) + word(1), None),
        ([], word(32) + word(2**64), None),
        ([word(1)], text(b"x"), None),
    ],
    PAIR: [
        ([word(7)], word(2**8 + 2), {"a": "0x" + 39 * "0" + "7", "b": "2"}),  # cut to its width
        ([word(2**160)], word(2), None),
        ([], word(7) + word(2), None),
        ([word(7), word(2)], b"", None),
    ],
    DEEP: [([], SHARED + word(60) + word(1) * 60, None), ([], word(32) + word(0), {"x": []})],
    "Large(bytes a, bytes b)": [
        # Twice the same bytes, which is no more than its size allows.
        ([], word(64) + word(64) + word(LARGE_BYTES) + bytes(LARGE_BYTES), {})
    ],
    "Empty()": [([], b"", {}), ([], word(1), {}), ([word(1)] * 3, b"", None)],
}


@pytest.fixture(scope="module")
def client(shared_anvil, shared_database_url):
    anvil, emitter = shared_anvil, deploy(shared_anvil)
    logs = [
        ([keccak(text=re.sub(" [^,)]*", "", signature.replace(", ", ","))), *topics], data)
        for signature, of in READ.items()
        for topics, data, _ in of
    ]
    anonymous = [([], b""), ([], word(1)), ([word(3)], word(1))]
    for log in [*logs, *anonymous]:
        calldata = "0x" + encoded(*log).hex()
        anvil.receipt_of(anvil.send(anvil.accounts[0], emitter, data=calldata, gas=16_000_000))
    indexing = Indexing(shared_database_url, anvil.url, logs="all")
    return indexing.run_until(anvil.head()).client()


@pytest.mark.parametrize("signature", READ)
def test_a_log_is_what_the_signature_says_or_says_why_not(client, signature):
    expected = [args for *_, args in READ[signature]]
    rows = get(client, "/events", signature=signature, orderBy="asc")["events"]
    of_large = {"a": "0x" + 2 * LARGE_BYTES * "0", "b": "0x" + 2 * LARGE_BYTES * "0"}
    shown = [{} if row["args"] == of_large else row["args"] for row in rows]
    assert shown == expected
    for row in rows:
        assert ("problem" in row) is (row["args"] is None)
        assert not row.keys() & {"topics", "data"}


def test_arguments_without_names_have_numbers(client):
    rows = get(client, "/events", signature="Pair(address,uint8)", orderBy="asc")["events"]
    read = {"argument_1": "0x" + 39 * "0" + "7", "argument_2": "2"}
    assert [row["args"] for row in rows] == [None, None, read, None]


def pages_of(client, **query):
    """The rows of each page, by cursors."""
    pages, following = [], {}
    while following is not None:
        page = get(client, "/events", **query, **following)
        pages.append(page["events"])
        following = page["next"] and {"cursor": page["next"]}
    return pages


EACH = 8 + 96 // 32  # units of work of most logs of NOTED


@pytest.mark.parametrize("work", [EACH, 3 * EACH])
def test_a_page_decodes_as_much_as_a_request_may_and_goes_on(client, work):
    sources(client).get(PageBounds).work = work
    pages = pages_of(client, signature=NOTED, orderBy="asc")
    rows = [row for page in pages for row in page]
    assert [row["args"] for row in rows] == [args for *_, args in READ[NOTED]]
    assert len(pages) > 1 and TOO_LONG not in [row.get("problem") for row in rows]


def test_what_no_page_decodes_is_said_and_numbered_pages_are_refused(client):
    sources(client).get(PageBounds).work = EACH - 1
    page = get(client, "/events", signature=NOTED, orderBy="asc")
    assert [row["problem"] for row in page["events"]] == [TOO_LONG]
    assert page["next"]
    sources(client).get(PageBounds).work = 2 * EACH - 1
    numbered = {"signature": NOTED, "orderBy": "asc", "page": 2, "limit": 3}
    answer = client.get("/api/v1/events", query_string=numbered)
    assert (answer.status_code, answer.json["code"]) == (503, "unavailable")


@pytest.mark.parametrize("addresses", ["{0}", f"{{0}},0x{40 * '1'}"], ids=["one", "several"])
def test_a_page_of_large_logs_is_shorter_and_goes_on(client, shared_database_url, addresses):
    """As of logs of 16 MiB, which no page has."""
    fits = """
        CREATE OR REPLACE FUNCTION fits_page(bytes bigint, size bigint) RETURNS boolean
        LANGUAGE sql IMMUTABLE RETURN size = 1 OR coalesce(bytes, 0) <= {}
    """
    query = {"signature": NOTED, "orderBy": "asc"}
    whole = get(client, "/events", **query)["events"]
    query["address"] = addresses.format(whole[0]["address"])
    assert get(client, "/events", **query)["events"] == whole
    execute(shared_database_url, fits.format(90))
    try:
        bounded = client_over(shared_database_url, logs="all")
        pages = pages_of(bounded, **query)
        file = bounded.get("/api/v1/events", query_string={**query, "format": "ndjson"})
        numbered = bounded.get("/api/v1/events", query_string={**query, "page": 2, "limit": 2})
    finally:
        execute(shared_database_url, fits.format(16 * 1024 * 1024))
    assert [row for page in pages for row in page] == whole
    assert max(map(len, pages)) < len(whole)
    assert len(file.text.splitlines()) == len(whole)
    assert (numbered.status_code, numbered.json["code"]) == (503, "unavailable")


ONE, OTHER = f"0x{40 * '1'}", f"0x{40 * '2'}"


# Of requests with PAIR, or another signature, the parameter that is refused.
@pytest.mark.parametrize(
    ("query", "field"),
    [
        *(
            ({"signature": text}, "signature")
            for text in (
                *("", "Transfer(address from indexed)", "(uint256)", "E(uint257 a)", "event E"),
                *(
                    "E();;",
                    "E(IERC20 token)",
                    "E(mapping(uint256 => bool) m)",
                    "E(a)anonymous",
                    "\0",
                ),
                "E(" + ",".join(["bool indexed"] * 4) + ")",
                "E(" + ",".join(["bool"] * 101) + ")",
                "E(" + "(" * 40 + "bool" + ")" * 40 + ")",
                "E(" + "uint256[]" * 500 + ")",
            )
        ),
        *(
            ({"address": text}, "address")
            for text in (
                *("", f"{ONE},", "vitalik.eth", [ONE, OTHER]),
                ",".join(f"0x{n:040x}" for n in range(MOST_ADDRESSES + 1)),
            )
        ),
        *(({"args": text}, "args") for text in ("", "[]", '{"a": []}', "{" * 9000)),
        *(({name: "x"}, name) for name in ("a", "value", "cursor")),
        # A filter is given once, and by what an index has.
        ({"a": ONE, "args": f'{{"a":"{ONE}"}}'}, "a"),
        ({"a": ONE, "arg.a": ONE}, "arg.a"),
        ({"args": f'{{"a":"{ONE}","a":"{OTHER}"}}'}, "a"),
        *(
            ({"signature": "E(uint256 indexed a, uint256 b)", name: "1"}, name)
            for name in ("b", "arg.b.min", "aMin")
        ),
        ({"signature": "E(uint256 indexed _a)", "_b": "1"}, "_b"),
    ],
)
def test_bad_parameters_are_refused_by_their_names(client, query, field):
    given = {"signature": PAIR, **query}
    require_parameter(client.get("/api/v1/events", query_string=given), field)


@pytest.mark.parametrize("value", [None, [], {}, [None], ["0x12"]], ids=json.dumps)
@pytest.mark.parametrize("key", ["signature", "address", "args"])
def test_bad_values_of_a_query_are_refused(client, key, value):
    valid = {"args": [{}], "signature": []}
    filters = {"signature": PAIR, key: value}
    answer = client.post("/api/v1/query", json={"entity": "events", "filter": filters})
    expected = 200 if value in valid.get(key, []) else 400
    assert answer.status_code == expected, answer.text


@pytest.mark.parametrize(
    "declared", [f"event {NOTED};", f" event\n{NOTED} ; ", NOTED.replace("(", " (", 1)]
)
def test_a_signature_is_as_its_source_declares_it(client, declared):
    assert get(client, "/events", signature=declared) == get(client, "/events", signature=NOTED)


@pytest.mark.parametrize(("number", "status"), [(2**256 - 1, 200), (2**256, 400), (-1, 400)])
def test_integers_are_of_any_size(client, number, status):
    filters = {"signature": "E(uint256 indexed a)", "args": {"a": number}}
    answer = client.post("/api/v1/query", json={"entity": "events", "filter": filters})
    assert answer.status_code == status, answer.text


def test_a_signature_is_needed_and_others_names_are_not_known(client):
    require_parameter(client.get("/api/v1/events"), "signature")
    require_parameter(client.post("/api/v1/query", json={"entity": "events"}), "signature")
    body = {"entity": "events", "filter": {"signature": PAIR, "topic1": "0x"}}
    assert client.post("/api/v1/query", json=body).status_code == 400


def test_parameters_of_lists_go_before_names_of_arguments(client):
    signature = "Taken(uint256 indexed limit, address indexed address, bool indexed signature)"
    given = {"arg.limit": "1", "arg.address": ONE, "arg.signature": "true"}
    assert get(client, "/events", signature=signature, limit=2, **given)["events"] == []
    assert get(client, "/events", signature="E(uint256 indexed _a)", _a="7")["events"] == []
