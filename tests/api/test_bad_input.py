"""What clients get wrong, and what is refused: exact status, code and field, always JSON."""

import re
from urllib.parse import quote

import pytest

from tests.support.openapi_document import OPERATIONS
from tests.support.refusals import (
    ADDRESS,
    HASH,
    HUGE,
    NOT_ADDRESSES,
    require_parameter,
    require_refusal,
)
from tests.support.value_names import shown

PAGED = ("/blocks", "/transactions", "/tokens")

NOT_COUNTS = [
    *("", " ", "0", "-1", "-0", "+1", "1 ", "1.0", "1e3", "1_000", "0x10", "1,2", "null"),
    *("1\0", "1\n", "%31", "\u0661", "\u00b2", "9223372036854775808", HUGE, "9" * 20_000),
]
NOT_BLOCKS = ("0x", "-1", "1.0", "Latest", HASH[:-1], HASH + "1", "1\0", "\u0661", HUGE, " 1", "+1")
NOT_HASHES = ("1", ADDRESS, HASH[:-1], HASH + "0", HASH[2:], "0x" + 64 * "z")
NOT_LIMITS = (*NOT_COUNTS, "101", "1000", "9223372036854775807")
OF_ADDRESSES = """
    /addresses/{} /addresses/{}/tokens /addresses/{}/items /tokens/{} /tokens/{}/holders
    /tokens/{}/items /tokens/{}/items/1
""".split()
NOT_TIMES = (
    *("", "x", "-1", "1.5", "2026-02-30", "2026-01-31T23:59:59", "2026-02-30T00:00:00Z"),
    *("2026-01-31 23:59:59Z", "2026-01-31T23:59:59+24:00", "1767225660000", "9" * 30, "\u00b2"),
    *("2026-W05-6", "2026-031", "20260131T235959Z", "2026-01-31T23:59", "2026-01-31T23:59.5Z"),
    *("2026-01-31T23:59:59+01:60", "1969-12-31", "1970-01-01T00:00:00+01:00", "2026-1-31"),
)
NO_PATHS = [value for value in NOT_ADDRESSES if value]


# By the name of the parameter: paths, and what has to be refused there.
@pytest.mark.parametrize(
    ("name", "paths", "queries"),
    [
        ("page", [*PAGED], [f"page={quote(value)}" for value in NOT_COUNTS]),
        ("limit", [*PAGED], [f"limit={quote(value)}" for value in NOT_LIMITS]),
        ("address", ["/transactions"], [f"address={quote(value)}" for value in NOT_ADDRESSES]),
        ("page", ["/transactions"], ["page=1&page=2", "page=%ff", "page=%C0%B1"]),
        ("limit", ["/transactions"], ["limit=5&limit=5", "limit=%ff%fe"]),
        ("address", ["/transactions"], [f"address={ADDRESS}&address={ADDRESS}", "address=%ff"]),
        (
            "address",
            [path.format(quote(value)) for path in OF_ADDRESSES for value in NO_PATHS],
            [""],
        ),
        ("block", [f"/blocks/{quote(value)}" for value in NOT_BLOCKS], [""]),
        ("hash", [f"/transactions/{value}" for value in NOT_HASHES], [""]),
        ("time", ["/blocks"], [f"time={quote(value)}" for value in NOT_TIMES]),
        ("timeFrom", ["/blocks"], [f"timeFrom={quote(value)}" for value in NOT_TIMES]),
        ("timeTo", ["/token-transfers"], [f"timeTo={quote(value)}" for value in NOT_TIMES]),
        ("nonce", ["/transactions"], [f"nonce={2**63}", "nonce=0x7", "nonce=-1", "nonce="]),
    ],
    ids=shown,
)
def test_values_that_are_refused_and_named(client, name, paths, queries):
    for path in paths:
        for query in queries:
            answer = client.get(f"/api/v1{path}?{query}")
            assert answer.status_code == 400, (path[:100], query[:100], answer.text)
            require_parameter(answer, name)


@pytest.mark.parametrize("value", ["01", "100"])
def test_limits_from_1_to_100_are_served(client, value):
    assert len(client.get(f"/api/v1/blocks?limit={value}").json["blocks"]) == int(value)


@pytest.mark.parametrize(
    "path",
    (
        *"/api/v3/stats /API/V1/stats //api/v1/stats /api/v1/%2e%2e/stats /static/app.py".split(),
        *(f"/api/v1/addresses/{ADDRESS}%2ftokens%2f1", "/api/v1/stats%00", "/%00", "/\u0661"),
        *("/%ff%fe", "/api/v1/" + 4000 * "a", "/api/v1/stats;x=1", "/favicon.png", "/.env"),
    ),
    ids=shown,
)
def test_a_path_that_is_not_there_is_not_found(client, path):
    for method in ("GET", "POST", "DELETE"):
        require_refusal(client.open(path, method=method), 404, "not_found")


@pytest.mark.parametrize("query", ["&&=&", "_=" + HUGE, "_cache_buster=1&_=2"])
def test_query_strings_that_mean_nothing(client, query):
    assert client.get(f"/api/v1/blocks?{query}").status_code == 200


# These say first that there is no such token or event, or that they need a parameter.
@pytest.mark.parametrize(
    ("method", "path"),
    [
        (method, path)
        for method, path, _ in OPERATIONS
        if path.startswith("/api/v1/")
        and not path.endswith(("/transfers", "/transfers/sums", "/events", "/events/{event}"))
    ],
)
def test_unknown_parameters_are_refused(client, method, path):
    """POST /query?limits=100 would return 25 records."""
    values = {
        "address": ADDRESS,
        "other": ADDRESS,
        "transaction_hash": HASH,
        "operation_hash": HASH,
    }
    filled = re.sub("{([a-z_]+)}", lambda name: values.get(name[1], "1"), path)
    given = {} if method in ("post", "patch") else None
    for name in ("adress", "%00", "Page", 200 * "a"):
        answer = client.open(f"{filled}?{name}=1&{name}=2", method=method.upper(), json=given)
        require_parameter(answer, name.replace("%00", "\0")[:50])
        assert "more than once" not in answer.json["error"]


@pytest.mark.parametrize("standard", ["ERC-20", "ERC20", "erc20", "bep-20"])
def test_a_type_of_token_is_understood_by_its_standard(client, standard):
    answer, same = (
        client.get(f"/api/v1/token-transfers?tokenType={text}").json for text in (standard, "BEP20")
    )
    assert answer["transfers"] == same["transfers"] != []
    query = {"entity": "token_transfers", "filter": {"tokenType": standard}}
    assert client.post("/api/v1/query", json=query).json["data"] == same["transfers"]
    require_parameter(client.get(f"/api/v1/token-transfers?tokenType={standard}0"), "tokenType")


def test_errors_have_the_form_of_rfc_9457_where_it_is_accepted(client):
    path, accept = "/api/v1/blocks?limit=0", "application/problem+json, application/json;q=0.5"
    plain, problem = client.get(path), client.get(path, headers={"Accept": accept})
    assert problem.headers["Content-Type"] == "application/problem+json"
    about = {"type": "about:blank", "title": "Bad Request", "status": 400}
    assert problem.json == {**about, "detail": plain.json["error"], **plain.json}
    assert plain.headers["Content-Type"] == "application/json"
    for other in (
        "application/json, application/problem+json;q=0.5",
        "application/problem+json;q=0",
    ):
        unasked = client.get(path, headers={"Accept": other})
        assert unasked.headers["Content-Type"] == "application/json"
    good = client.get("/api/v1/blocks", headers={"Accept": accept})
    assert good.headers["Content-Type"] == "application/json"


def test_the_path_of_the_api_names_its_document(client):
    for path in ("/api/v1", "/api/v1/"):
        openapi = client.get(path).json["openapi"]
        assert client.get(openapi).json["openapi"].startswith("3.")


def test_the_newest_block_has_a_name(client, scenario):
    newest = client.get("/api/v1/blocks?limit=1").json["blocks"][0]
    latest = client.get("/api/v1/blocks/latest").json
    assert latest == {**latest, **newest, "confirmations": 1}


@pytest.mark.parametrize("change", [str.upper, str.lower, str.title])
def test_any_letter_case_names_the_same(client, scenario, change):
    for address in list(scenario.truth.addresses)[:5]:
        spelling = change(address)
        assert client.get(f"/api/v1/addresses/{spelling}").json["address"] == address
        answer = client.get("/api/v1/transactions", query_string={"address": spelling}).json
        assert answer == client.get(f"/api/v1/transactions?address={address}").json
    block, transaction = scenario.truth.blocks[0], scenario.truth.transactions[0]
    assert client.get(f"/api/v1/blocks/{change(block['hash'])}").json["hash"] == block["hash"]
    assert client.get(f"/api/v1/transactions/{change(transaction['hash'])}").status_code == 200


def test_a_trailing_slash_does_not_matter(client):
    for path in (*PAGED, "/stats", "/blocks/0"):
        assert client.get(f"/api/v1{path}/").data == client.get(f"/api/v1{path}").data


@pytest.mark.parametrize("path", ("/healthz", "/readyz", *(f"/api/v1{path}" for path in PAGED)))
def test_other_methods_are_told_which_there_are(client, path):
    for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "FOO"):
        answer = client.open(path, method=method)
        require_refusal(answer, 405, "method_not_allowed")
        assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("value", ["%FF", "%ED%A0%80", "a%C3", "%F0%28%8C%28", "%C0%AE"])
def test_a_search_that_is_not_utf8(client, value):
    """Read with replacements it would be a search for something else."""
    require_parameter(client.get(f"/api/v1/search?q={value}"), "q")
    require_refusal(client.get(f"/api/v1/search?{value}=1"), 400, "invalid_parameter")
    assert client.get(f"/api/v1/search?q=a&_x={value}").status_code == 200
