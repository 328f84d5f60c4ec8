"""Tags of responses that are made anew each time, as beside a development node."""

import pytest

from tests.support.lists import most

NEVER_KEPT = ["/api/v1/addresses/{}", "/api/v1/search?q={}", "/api/v1/openapi.json", "/api/v1"]


@pytest.mark.parametrize("path", NEVER_KEPT)
def test_equal_bytes_have_an_equal_tag_wherever_they_come_from(client, scenario, path):
    path = path.format(most(scenario.truth.transactions, "fromAddress"))
    first = client.get(path)
    tag = first.headers["ETag"]
    assert first.status_code == 200 and first.data
    again = client.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
    assert client.head(path).headers["ETag"] == tag
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_what_changes_or_is_refused_has_no_tag(client):
    for response in (
        client.get("/api/v1/blocks/99999999"),
        client.get("/readyz"),
        client.post("/api/v1/query", json={"entity": "blocks"}),
        client.post("/api/v1/decode", json={"data": "0x18160ddd"}),
        client.delete("/api/v1/webhooks/5"),
    ):
        assert "ETag" not in response.headers, response.request.path
