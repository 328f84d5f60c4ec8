"""The line of a request for a file that finds no place."""

from scan.extensions.exports.list_files import MAX_OPEN, FilePlaces
from tests.observability.test_logs_and_metrics import lines

__all__ = ["lines"]


def test_a_refused_line_has_the_reason(client, lines):
    """A limit of one client is its own fault, 429, and one of the service is 503."""
    places = client.application.extensions["scan"].sources.get(FilePlaces).open
    reasons = []
    for holders in (["127.0.0.1"], [f"192.0.2.{number}" for number in range(MAX_OPEN)]):
        assert all(map(places.take, holders))
        refused = client.get("/api/v1/blocks?format=csv")
        assert int(refused.headers["Retry-After"]) > 0
        reasons.append((refused.status_code, refused.json["code"], refused.json["error"]))
        for holder in holders:
            places.give_back(holder)
    assert client.get("/txs?limit=7").status_code == 400
    first, second, third = (line for line in lines.getvalue().splitlines() if "GET" in line)
    assert [reason[:2] for reason in reasons] == [(429, "rate_limited"), (503, "unavailable")]
    for line, (_, code, sentence) in zip((first, second), reasons, strict=True):
        assert f"{code}: {sentence}" in line
    assert "invalid_parameter" in third and "limit=7" not in third
