"""Submissions and look-ups that are refused, and how much of either is read."""

import uuid

import pytest

from scan.extensions.sourcify import interface
from scan.extensions.sourcify.tests.submissions import (
    CHAIN,
    SOURCE,
    STANDARD,
    deployed,
    get,
    is_error,
    standard_request,
    submit,
)
from scan.verification import metadata_request
from scan.verification.request import MAX_FILES, MAX_SOURCE_BYTES
from tests.support.many_functions import CHECKSUMMED


def test_a_contract_not_indexed_is_refused_after_a_wait(explorer, monkeypatch):
    monkeypatch.setattr(interface, "WAIT_FOR_CONTRACT_S", 0.2)
    refused = submit(explorer, CHECKSUMMED.lower(), standard_request())
    assert is_error(refused, 404, "contract_not_deployed")


ERRORS = [
    (f"/v2/contract/1/{CHECKSUMMED}", 404, "unsupported_chain"),
    (f"/v2/contract/0x7a69/{CHECKSUMMED}", 400, "invalid_parameter"),
    (f"/v2/contract/{'9' * 21}/{CHECKSUMMED}", 400, "invalid_parameter"),
    (f"/v2/contract/{'9' * 20}/{CHECKSUMMED}", 404, "unsupported_chain"),
    (f"/v2/contract/٣/{CHECKSUMMED}", 400, "invalid_parameter"),
    (f"/v2/contract/{CHAIN}/0x12", 400, "invalid_parameter"),
    *(
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?{query}", 400, "invalid_parameter")
        for query in """
                fields=abi&omit=abi fields=abi,all fields=abi, fields=nothing fields=abi.x
                fields=a.b.c fields=compilation. omit=compilation.x fields=%00 fields=abi&fields=abi
            """.split()
    ),
    *(
        (f"/v2/contracts/{CHAIN}?{query}", 400, "invalid_parameter")
        for query in ("limit=0", "limit=201", "sort=up", "afterMatchId=x", "other=1")
    ),
    ("/v2/contract/all-chains/0x12", 400, "invalid_parameter"),
    ("/v2/verify/1", 404, "job_not_found"),
    (f"/v2/verify/{uuid.UUID(int=0)}", 404, "job_not_found"),
    ("/v2/verify/%00", 404, "job_not_found"),
    ("/v2/contract/1", 404, "route_not_found"),
    ("/v2/contracts", 404, "route_not_found"),
    ("/v2/contracts/1", 404, "unsupported_chain"),
    (f"/v2/verify/{CHAIN}/{CHECKSUMMED}", 405, "method_not_allowed"),
]
UNDER_SERVER = [
    ("/server", 405, "method_not_allowed"),
    ("/server/v2/anything", 404, "route_not_found"),
    *((f"/server{path}", status, code) for path, status, code in ERRORS),
]


@pytest.mark.parametrize(("path", "status", "code"), ERRORS + UNDER_SERVER)
def test_errors_have_their_form(explorer, path, status, code):
    assert is_error(explorer.client.get(path), status, code)


@pytest.mark.parametrize(
    "changed",
    [
        {"stdJsonInput": None},
        {"stdJsonInput": "text"},
        {"stdJsonInput": {}},
        {"stdJsonInput": {"language": "Vyper", "sources": {}}},
        {"stdJsonInput": {**STANDARD, "x": "\ud800"}, "compilerVersion": "x"},
        {"compilerVersion": None},
        {"compilerVersion": "latest"},
        {"contractIdentifier": None},
        {"contractIdentifier": "Stored"},
        {"contractIdentifier": "a.sol:"},
        {"contractIdentifier": "a.sol:\ud800"},
        {"contractIdentifier": ["a.sol:A"]},
        {"creationTransactionHash": "0x12"},
    ],
    ids=lambda changed: str(changed)[:60].encode("ascii", "replace").decode(),
)
def test_malformed_submissions_are_refused(explorer, changed):
    response = submit(explorer, CHECKSUMMED, standard_request(**changed))
    assert is_error(response, 400, "invalid_parameter")


MALFORMED_METADATA = [
    {},
    {"metadata": {}},
    {"metadata": {}, "sources": []},
    {"metadata": {"settings": {}}, "sources": {}},
    {"metadata": {"settings": {"compilationTarget": {}}}, "sources": {}},
    {"metadata": {"settings": {"compilationTarget": {"a": "b"}}}, "sources": {}},
    {
        "metadata": {"settings": {"compilationTarget": {"a": 5}}, "sources": {"a": 5}},
        "sources": {"a": "\ud800"},
    },
    {
        "metadata": {
            "settings": {"compilationTarget": {"a": "b"}},
            "sources": {"a": {"content": "contract b {}"}},
            "compiler": {},
        },
        "sources": {},
    },
]


@pytest.mark.parametrize(
    "body", MALFORMED_METADATA, ids=lambda body: str(body)[:60].encode("ascii", "replace").decode()
)
def test_malformed_metadata_is_refused(explorer, body):
    response = submit(explorer, CHECKSUMMED, body, "/v2/verify/metadata")
    assert is_error(response, 400, "invalid_parameter")


def test_sources_of_a_standard_json_are_counted_before_they_are_rewritten(explorer, monkeypatch):
    given = {**STANDARD, "sources": {f"{number}.sol": {} for number in range(MAX_FILES + 1)}}
    monkeypatch.setattr(interface, "json", None)
    response = submit(explorer, CHECKSUMMED, standard_request(stdJsonInput=given))
    assert is_error(response, 400, "invalid_parameter")


@pytest.mark.parametrize(
    ("metadata_sources", "sources", "status"),
    [
        ({}, {f"{number}.sol": "" for number in range(MAX_FILES + 1)}, 400),
        ({f"{number}.sol": {} for number in range(MAX_FILES + 1)}, {}, 400),
        ({}, {"a.sol": "é" * (MAX_SOURCE_BYTES // 4), "b.sol": "x" * MAX_SOURCE_BYTES}, 413),
    ],
    ids=["sources", "sources of the metadata", "bytes"],
)
def test_sources_are_counted_before_they_are_hashed(
    explorer, monkeypatch, metadata_sources, sources, status
):
    settings = {"compilationTarget": {"a.sol": "A"}}
    metadata = {"settings": settings, "sources": metadata_sources, "compiler": {"version": "0.8.0"}}
    monkeypatch.setattr(metadata_request, "keccak256", None)
    body = {"metadata": metadata, "sources": sources}
    response = submit(explorer, CHECKSUMMED, body, "/v2/verify/metadata")
    assert response.status_code == status and "sources" in response.json["message"]


def test_bodies_are_json_of_a_bounded_size(explorer, stored):
    path, client = f"/v2/verify/{CHAIN}/{stored}", explorer.client
    assert is_error(client.post(path, data="{"), 415, "invalid_parameter")
    json_type = {"Content-Type": "application/json"}
    assert is_error(client.post(path, data="{", headers=json_type), 400, "invalid_json")
    assert is_error(client.post(path, data="[]", headers=json_type), 400, "invalid_json")
    for levels, status, code in ((20_000, 400, "invalid_json"), (90_000, 413, "invalid_parameter")):
        deep = b'{"stdJsonInput":' + b"[" * levels
        assert is_error(client.post(path, data=deep, headers=json_type), status, code)
    large = b" " * 6_000_000
    assert is_error(client.post(path, data=large, headers=json_type), 413, "invalid_parameter")
    other = deployed(explorer, SOURCE.replace("4711", "4750"))
    body = standard_request("// " + "x" * 2_000_000)
    assert is_error(submit(explorer, other, body), 413, "invalid_parameter")


def test_the_interface_is_charged_like_the_others(explorer):
    assert explorer.app.extensions["scan"].limiter is not None
    response = get(explorer, f"/v2/contract/{CHAIN}/{CHECKSUMMED}")
    assert int(response.headers["X-RateLimit-Remaining"]) > 0
    refused = explorer.client.get(
        f"/v2/contract/{CHAIN}/{CHECKSUMMED}", headers={"X-API-Key": "scan_unknown"}
    )
    assert is_error(refused, 401, "invalid_api_key")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
