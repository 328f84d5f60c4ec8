"""A body with several faults is told all of them at once."""

from scan.parameters import MAX_FAULTS

PROBLEM = {"Accept": "application/problem+json"}


def test_all_faults_of_a_body_are_told_at_once(client):
    """Those of other bodies are in tests/expected/refusals.txt."""
    body = {"ownerAddress": 5, "url": "ftp://10.0.0.1", "eventTypes": [], "topics": 1}
    refused = client.post("/api/v1/webhooks", json={**body, "nonsense": 1})
    answer = refused.get_json()
    assert refused.status_code == 400
    assert [fault.pop("code") for fault in answer["errors"]] == ["invalid_parameter"] * 5
    fields = [fault["field"] for fault in answer["errors"]]
    assert fields == "nonsense ownerAddress eventTypes topics url".split()
    assert answer["errors"][0].items() <= answer.items()
    problem = client.post("/api/v1/webhooks", json={**body, "nonsense": 1}, headers=PROBLEM)
    assert problem.content_type == "application/problem+json"
    for fault, other in zip(problem.get_json()["errors"], answer["errors"], strict=True):
        assert fault.items() >= {"pointer": f"#/{other['field']}", "detail": other["error"]}.items()


def test_faults_are_bounded_and_their_pointers_escaped(client):
    """30,000 unknown keys are compared with no more known ones than twenty are."""
    body = {f"a/b~{number}": number for number in range(10_000)}
    answer = client.post("/api/v1/webhooks", json=body, headers=PROBLEM).get_json()
    assert len(answer["errors"]) == MAX_FAULTS
    assert answer["errors"][0]["pointer"] == "#/a~1b~00"
