"""Whose webhooks may be seen and changed by whom."""

from functools import partial

from tests.support.wallets import key_request, new_wallet, owner_of

URL = "https://localhost:9?token=hunter2"


class Caller:
    """Asks from one address with a key of one wallet, a webhook's secret, or with neither."""

    def __init__(self, client, key=None, peer="127.0.0.1", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"X-API-Key": key} if key else {}
        self._open = partial(client.open, headers=headers, environ_base={"REMOTE_ADDR": peer})

    def ask(self, method, path, body=None):
        answer = self._open(f"/api/v1/webhooks{path}", method=method, json=body)
        return answer.status_code, answer.get_json()

    def create(self, owner):
        return self.ask("POST", "", {"ownerAddress": owner, "url": URL})

    def url_of(self, owner):
        [webhook] = self.ask("GET", f"?owner={owner}")[1]["webhooks"]
        return str(webhook["url"])


def claimed(client):
    """An owner who has a key, and a caller who sends it."""
    wallet = new_wallet()
    answer = client.post("/api/v1/keys", json=key_request(wallet))
    assert answer.status_code == 201
    return owner_of(wallet), Caller(client, answer.get_json()["key"])


def changes(number):
    """Every request about one webhook; the last one deletes it."""
    return [
        ("GET", f"/{number}/deliveries", None),
        ("POST", f"/{number}/test", None),
        ("POST", f"/{number}/deliveries/987654321/retry", None),
        ("PATCH", f"/{number}", {"active": True}),
        ("DELETE", f"/{number}", None),
    ]


def test_a_claimed_owner_is_served_only_with_its_own_key(webhooks):
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
    assert [own.ask(*change)[0] for change in changes(created["id"])] == [200, 201, 404, 200, 200]


def test_deleting_the_last_key_opens_the_owners_webhooks_to_nobody(webhooks):
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


def test_an_unclaimed_owner_needs_no_key_unless_the_operator_asks_for_one(webhooks):
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


MANAGED, REFUSED = [200, 201, 404, 200, 200], [403] * 5
STRANGER = "2001:db8:1:3::7"


def statuses(caller, number):
    return [caller.ask(*change)[0] for change in changes(number)]


def test_strangers_neither_see_nor_change_the_webhook_of_an_owner_without_a_key(webhooks):
    owner = owner_of(new_wallet())
    address = "2001:db8:1:2::7"
    registrant = Caller(webhooks.client, peer=address)
    created = registrant.create(owner)[1]
    _, foreign_key = claimed(webhooks.client)
    for stranger in (
        Caller(webhooks.client, peer=STRANGER),
        Caller(webhooks.client, peer=STRANGER, X_Webhook_Secret="f" * 64),
        Caller(webhooks.client, peer=STRANGER, X_Webhook_Secret=""),
        Caller(webhooks.client, peer=STRANGER, X_Webhook_Secret="é"),
        Caller(webhooks.client, peer=STRANGER, X_Forwarded_For=address),
        foreign_key,
    ):
        assert stranger.url_of(owner) == "https://localhost:9"
        assert statuses(stranger, created["id"]) == REFUSED
    neighbour = Caller(webhooks.client, peer="2001:db8:1:2::8")  # in the same /64
    with_secret = Caller(webhooks.client, peer=STRANGER, X_Webhook_Secret=created["secret"])
    for caller in (registrant, neighbour, with_secret):
        assert caller.url_of(owner) == URL
    assert statuses(with_secret, created["id"]) == MANAGED
    assert statuses(neighbour, registrant.create(owner)[1]["id"]) == MANAGED


def test_an_owner_that_gets_a_key_takes_its_webhooks_over(webhooks):
    wallet = new_wallet()
    owner, registrant = owner_of(wallet), Caller(webhooks.client)
    first, second = (registrant.create(owner)[1] for _ in range(2))
    key = webhooks.client.post("/api/v1/keys", json=key_request(wallet)).get_json()["key"]
    assert statuses(registrant, first["id"]) == [401] * 5
    assert registrant.ask("GET", f"?owner={owner}")[0] == 401
    with_secret = Caller(webhooks.client, X_Webhook_Secret=first["secret"])
    assert statuses(with_secret, second["id"]) == [401] * 5
    assert statuses(with_secret, first["id"]) == MANAGED
    assert Caller(webhooks.client, key).url_of(owner) == URL
    assert statuses(Caller(webhooks.client, key), second["id"]) == MANAGED


def test_whoever_comes_through_a_proxy_is_known_by_what_a_trusted_one_says(webhooks):
    """All clients of a proxy have its address, unless SCAN_TRUSTED_PROXIES names it."""
    for trusted, expected in ((0, (REFUSED, REFUSED)), (1, (MANAGED, REFUSED))):
        client = webhooks.another(trusted_proxies=trusted)
        same, another = (
            Caller(client, peer="127.0.0.1", X_Forwarded_For=f"9.9.9.9, {address}")
            for address in ("192.0.2.1", "192.0.2.2")
        )
        created = same.create(owner_of(new_wallet()))[1]
        assert statuses(another, created["id"]) == expected[1]
        assert statuses(Caller(client, X_Real_IP="192.0.2.1"), created["id"]) == REFUSED
        assert statuses(same, created["id"]) == expected[0]


def test_modes_of_ownership_hold_for_a_registrant(webhooks):
    owner = owner_of(new_wallet())
    created = Caller(webhooks.client).create(owner)[1]
    always, never = (webhooks.another(owner_auth=mode) for mode in ("always", "never"))
    assert statuses(Caller(always), created["id"]) == [401] * 5
    stranger = Caller(never, peer=STRANGER)
    assert (stranger.url_of(owner), statuses(stranger, created["id"])) == (URL, MANAGED)
    again = Caller(webhooks.client).create(owner)[1]
    assert statuses(Caller(always, X_Webhook_Secret=again["secret"]), again["id"]) == MANAGED
