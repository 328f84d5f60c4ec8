"""Submissions and look-ups that are refused, and how much of either is read."""

import pytest

from scan.extensions.sourcify import interface
from scan.extensions.sourcify.tests.submissions import (
    CHAIN,
    SOURCE,
    STANDARD,
    deployed,
    is_error,
    standard_request,
    submit,
)
from scan.verification import metadata_request
from scan.verification.request import MAX_FILES, MAX_SOURCE_BYTES
from tests.support import expected
from tests.support.many_functions import CHECKSUMMED


def test_a_contract_not_indexed_is_refused_after_a_wait(explorer, monkeypatch):
    monkeypatch.setattr(interface, "WAIT_FOR_CONTRACT_S", 0.2)
    refused = submit(explorer, CHECKSUMMED.lower(), standard_request())
    assert is_error(refused, 404, "contract_not_deployed")


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
    for data, status, code in (
        (b"{", 400, "invalid_json"),
        (b"[]", 400, "invalid_json"),
        (b'{"stdJsonInput":' + b"[" * 20_000, 400, "invalid_json"),
        (b'{"stdJsonInput":' + b"[" * 90_000, 413, "invalid_parameter"),
        (b" " * 6_000_000, 413, "invalid_parameter"),
    ):
        answer = client.post(path, data=data, content_type="application/json")
        assert is_error(answer, status, code), data[:20]
    other = deployed(explorer, SOURCE.replace("4711", "4750"))
    body = standard_request("// " + "x" * 2_000_000)
    assert is_error(submit(explorer, other, body), 413, "invalid_parameter")


def test_the_interface_is_charged_like_the_others(explorer):
    path = f"/v2/contract/{CHAIN}/{CHECKSUMMED}"
    response = explorer.client.get(path)
    assert int(response.headers["X-RateLimit-Remaining"]) > 0
    refused = explorer.client.get(path, headers={"X-API-Key": "scan_unknown"})
    assert is_error(refused, 401, "invalid_api_key")
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_refusals_are_as_expected(explorer):
    expected.compare(__file__, explorer.client, {"checksummed": CHECKSUMMED})
