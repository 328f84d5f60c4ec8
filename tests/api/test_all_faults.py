"""A body with several faults is told all of them at once."""

import pytest

from scan.parameters import MAX_FAULTS

ADDRESS = "0x" + "ab" * 20
PROBLEM = {"Accept": "application/problem+json"}
FAULTS = {
    "/webhooks": (
        {"ownerAddress": 5, "url": "ftp://10.0.0.1", "eventTypes": [], "topics": 1, "nonsense": 1},
        "nonsense ownerAddress eventTypes topics url",
    ),
    "/webhooks, narrowed": (
        {
            "url": "x",
            "eventTypes": ["log"],
            "tokens": [ADDRESS],
            "direction": "in",
            "format": "fax",
        },
        "ownerAddress url format direction tokens",
    ),
    "/keys": (
        {"ownerAddress": "0x1", "label": 5, "signature": "no", "timestamp": "now"},
        "ownerAddress label signature timestamp",
    ),
    "/query": (
        {
            "entity": "transactions",
            "filter": {"from": 1, "to": 2, "x": 3},
            "limit": 0,
            "offset": -1,
        },
        "x from to limit offset",
    ),
    "/verify": (
        {"address": "0x1", "runs": "many", "viaIR": 7, "license": "\n", "compilerVersion": "new"},
        "sourceCode address license runs viaIR compilerVersion",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_all_faults_of_a_body_are_told_at_once(client, case):
    body, fields = FAULTS[case]
    path = f"/api/v1{case.partition(',')[0]}"
    refused = client.post(path, json=body)
    answer = refused.get_json()
    assert refused.status_code == 400
    assert [fault["field"] for fault in answer["errors"]] == fields.split()
    assert {fault["code"] for fault in answer["errors"]} == {"invalid_parameter"}
    assert {"error": answer["error"], "field": answer["field"], "code": answer["code"]} == answer[
        "errors"
    ][0]
    problem = client.post(path, json=body, headers=PROBLEM)
    assert problem.content_type == "application/problem+json"
    for fault, other in zip(problem.get_json()["errors"], answer["errors"], strict=True):
        pointer = {"pointer": f"#/{other['field']}", "detail": other["error"]}
        assert fault == other | pointer


def test_one_fault_is_told_as_ever(client):
    body = client.post("/api/v1/query", json={"entity": "blocks", "limit": 0}).get_json()
    assert body.keys() == {"error", "code", "field"}


def test_faults_are_bounded_and_their_pointers_escaped(client):
    """30,000 unknown keys are compared with no more known ones than twenty are."""
    body = {f"a/b~{number}": number for number in range(10_000)}
    answer = client.post("/api/v1/webhooks", json=body, headers=PROBLEM).get_json()
    assert len(answer["errors"]) == MAX_FAULTS
    assert answer["errors"][0]["pointer"] == "#/a~1b~00"
