"""Whose webhooks may be seen and changed by whom."""

from typing import Any

from flask.testing import FlaskClient

from tests.support.wallets import key_request, new_wallet, owner_of
from tests.support.webhooks import Webhooks

URL = "https://localhost:9/"


class Caller:
    """Asks with a key of one wallet, or with none."""

    def __init__(self, client: FlaskClient, key: str | None = None) -> None:
        self._client = client
        self._headers = {} if key is None else {"X-API-Key": key}

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        answer = self._client.open(
            f"/api/v1/webhooks{path}", method=method, json=body, headers=self._headers
        )
        return answer.status_code, answer.get_json()

    def create(self, owner: str) -> tuple[int, Any]:
        return self.ask("POST", "", {"ownerAddress": owner, "url": URL})


def claimed(client: FlaskClient) -> tuple[str, Caller]:
    """An owner who has a key, and a caller who sends it."""
    wallet = new_wallet()
    answer = client.post("/api/v1/keys", json=key_request(wallet))
    assert answer.status_code == 201
    return owner_of(wallet), Caller(client, answer.get_json()["key"])


def changes(number: int) -> list[tuple[str, str, Any]]:
    """Every request about one webhook; the last one deletes it."""
    return [
        ("GET", f"/{number}/deliveries", None),
        ("POST", f"/{number}/test", None),
        ("POST", f"/{number}/deliveries/987654321/retry", None),
        ("PATCH", f"/{number}", {"active": True}),
        ("DELETE", f"/{number}", None),
    ]


def test_a_claimed_owner_is_served_only_with_its_own_key(webhooks: Webhooks) -> None:
    owner, own = claimed(webhooks.client)
    _, foreign = claimed(webhooks.client)
    nobody = Caller(webhooks.client)
    status, created = own.create(owner)
    assert status == 201
    for caller, expected in (
        (nobody, (401, "missing_api_key")),
        (foreign, (403, "owner_mismatch")),
    ):
        for status, body in (caller.create(owner), caller.ask("GET", f"?owner={owner}")):
            assert (status, body["code"]) == expected
    for method, path, body in changes(created["id"]):
        assert nobody.ask(method, path, body)[0] == 401
        assert foreign.ask(method, path, body)[0] == 404
    _, listed = own.ask("GET", f"?owner={owner}")
    assert [w["id"] for w in listed["webhooks"]] == [created["id"]]
    statuses = [own.ask(*change)[0] for change in changes(created["id"])]
    assert statuses == [200, 201, 404, 200, 200]


def test_deleting_the_last_key_opens_the_owners_webhooks_to_nobody(webhooks: Webhooks) -> None:
    wallet = new_wallet()
    key = webhooks.client.post("/api/v1/keys", json=key_request(wallet)).get_json()
    own, nobody = Caller(webhooks.client, key["key"]), Caller(webhooks.client)
    _, created = own.create(owner_of(wallet))
    deleted = webhooks.client.delete(f"/api/v1/keys/{key['id']}", headers={"X-API-Key": key["key"]})
    assert deleted.status_code == 200
    assert nobody.ask("GET", f"?owner={owner_of(wallet)}")[0] == 401
    assert nobody.create(owner_of(wallet))[0] == 401
    for method, path, body in changes(created["id"]):
        assert nobody.ask(method, path, body)[0] == 401
    again = webhooks.client.post("/api/v1/keys", json=key_request(wallet)).get_json()
    assert Caller(webhooks.client, again["key"]).ask("DELETE", f"/{created['id']}")[0] == 200


def test_an_unclaimed_owner_needs_no_key_unless_the_operator_asks_for_one(
    webhooks: Webhooks,
) -> None:
    claimed_owner, own = claimed(webhooks.client)
    unclaimed = owner_of(new_wallet())
    for caller in (Caller(webhooks.client), own):
        status, created = caller.create(unclaimed)
        assert (status, caller.ask("GET", f"?owner={unclaimed}")[0]) == (201, 200)
        assert caller.ask("DELETE", f"/{created['id']}")[0] == 200
    for mode, statuses in (("always", (401, 401)), ("never", (200, 201))):
        nobody = Caller(webhooks.another(owner_auth=mode))
        for owner in (claimed_owner, unclaimed):
            assert (nobody.ask("GET", f"?owner={owner}")[0], nobody.create(owner)[0]) == statuses
