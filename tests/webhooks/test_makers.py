"""Where access needs a key, a webhook belongs to the key or the person that made it, and ends with
them; `scan webhooks` lists and ends all."""

import json

import pytest

from scan.setting_kinds import proxy_header
from tests.support import serving
from tests.support.database import made_key
from tests.support.made_blocks import Move, address
from tests.support.scan_command import scan
from tests.support.wallets import key_request, new_wallet, owner_of

OWNER, OTHER = address("owner"), address("other")
PRIVATE = {"access": "keys+wallets"}
GONE = "whoever made the webhook has no access any more"
URL = "https://127.0.0.1:9/T0K3N"


@pytest.fixture
def key(database_url):
    """Of no owner of a webhook."""
    return made_key(database_url, 1000)


@pytest.fixture
def private(webhooks):
    """Asks a private explorer by headers; a new client each time, from one address."""
    application = webhooks.another(
        **PRIVATE, trusted_proxies=1, proxy_user_header=proxy_header("X-Forwarded-User")
    ).application

    def ask(method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"X-Forwarded-For": "203.0.113.9", "Sec-Fetch-Site": "same-origin"}
        return application.test_client().open(
            f"/api/v1{path}", method=method, json=body, headers=headers
        )

    return ask


def made(private, url=URL, owner=OWNER, **headers):
    body = {"ownerAddress": f"0x{owner.hex()}", "url": url}
    created = private("POST", "/webhooks", body, **headers)
    assert created.status_code == 201, created.json
    return created.json


def listed(private, owner=OWNER, **headers):
    answer = private("GET", f"/webhooks?owner=0x{owner.hex()}", **headers)
    return [(w["id"], w["active"], w["stoppedReason"]) for w in answer.json["webhooks"]]


ENDS = {
    "revoked": "UPDATE api_keys SET active = false WHERE id = %s",
    "expired": "UPDATE api_keys SET expires_at = now() WHERE id = %s",
    "removed": "DELETE FROM api_keys WHERE id = %s",
}


@pytest.mark.parametrize(
    "end",
    [
        ENDS["revoked"],
        *[pytest.param(ENDS[name], marks=pytest.mark.thorough) for name in ("expired", "removed")],
    ],
)
def test_a_webhook_ends_with_its_key(webhooks, private, database_url, key, receiver, end):
    kept = made_key(database_url, 1000)
    ends = made(private, receiver.url("/ends"), X_API_Key=key.text)
    made(private, receiver.url("/stays"), X_API_Key=kept.text)
    with webhooks.delivering(**PRIVATE):
        webhooks.chain.append([Move(OWNER, OTHER)])
        receiver.wait_for(2)
        webhooks.execute(end, key.id)
        serving.wait_until(
            lambda: (ends["id"], False, GONE) in listed(private, X_API_Key=kept.text)
        )
        webhooks.chain.append([Move(OWNER, OTHER)])
        assert [r.path for r in receiver.wait_for(3)][2:] == ["/stays"]


@pytest.mark.thorough
def test_what_waits_when_deliveries_begin_is_not_sent_to_whom_has_no_access(
    webhooks, private, key, receiver
):
    made(private, receiver.url(), X_API_Key=key.text)
    webhooks.chain.append([Move(OWNER, OTHER)] * 5)
    webhooks.execute(ENDS["expired"], key.id)
    with webhooks.delivering(**PRIVATE):
        serving.wait_until(lambda: not webhooks.pending())
    assert receiver.received == []


@pytest.mark.thorough
def test_keys_by_wallets_end_the_webhooks_of_theirs(webhooks, private, key, receiver):
    """DELETE /keys, and in an open explorer a webhook is its owner's alone."""
    wallet = new_wallet()
    own = private("POST", "/keys", key_request(wallet), X_API_Key=key.text).json
    owner = bytes.fromhex(owner_of(wallet)[2:])
    webhook = made(private, owner=owner, X_API_Key=own["key"])
    opened = webhooks.client.post(
        "/api/v1/webhooks",
        json={"ownerAddress": owner_of(wallet), "url": URL},
        headers={"X-API-Key": own["key"]},
    )
    deleted = private("DELETE", f"/keys/{own['id']}", X_API_Key=own["key"])
    assert deleted.status_code == 200
    with webhooks.delivering():  # of an open explorer
        active = "SELECT id FROM webhooks WHERE active"
        serving.wait_until(lambda: webhooks.execute(active) == [(opened.json["id"],)])
    assert webhook["id"] != opened.json["id"]


@pytest.mark.thorough
def test_webhooks_of_before_end_where_access_needs_a_key(webhooks, private, key, receiver):
    """Strangers have made them; who has access takes one over by activating it."""
    hook = webhooks.register(OWNER, receiver.url())
    with webhooks.delivering(**PRIVATE):
        serving.wait_until(lambda: listed(private, X_API_Key=key.text) == [(hook.id, False, GONE)])
        path, by_secret = f"/webhooks/{hook.id}", {"X_Webhook_Secret": hook.secret}
        assert private("PATCH", path, {"active": True}, **by_secret).status_code == 401
        activated = private("PATCH", path, {"active": True}, X_API_Key=key.text, **by_secret)
        assert activated.json["active"] is True
        webhooks.chain.append([Move(OWNER, OTHER)])
        receiver.wait_for(1)
        webhooks.execute(ENDS["revoked"], key.id)
        serving.wait_until(lambda: not webhooks.execute("SELECT FROM webhooks WHERE active"))


@pytest.mark.thorough
def test_whoever_made_a_webhook_changes_it_and_a_neighbour_does_not(private, database_url, key):
    """From one address, as of an office."""
    neighbour = made_key(database_url, 1000)
    makers = ({"X_API_Key": key.text}, {"X_Forwarded_User": "anna"})
    others = ({"X_API_Key": neighbour.text}, {"X_Forwarded_User": "bert"})
    of_owner = f"/webhooks?owner=0x{OWNER.hex()}"
    for maker in makers:
        hook = made(private, **maker)
        path = f"/webhooks/{hook['id']}"
        for other in (*others, *(m for m in makers if m != maker)):
            refused = private("PATCH", path, {"active": False}, **other)
            assert (refused.status_code, refused.json["code"]) == (403, "owner_mismatch")
            assert "T0K3N" not in private("GET", of_owner, **other).text
        assert private("GET", of_owner, **maker).text.count("T0K3N") == 1
        assert private("PATCH", path, {"active": False}, **maker).status_code == 200
        assert private("DELETE", path, **others[0], X_Webhook_Secret=hook["secret"]).json


@pytest.mark.thorough
def test_a_session_s_webhook_is_of_its_key(webhooks, private, key):
    application = webhooks.another(access="keys").application
    person = application.test_client()
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert person.post("/sign-in", data={"key": key.text}, headers=own).status_code == 303
    body = {"ownerAddress": f"0x{OWNER.hex()}", "url": URL}
    created = person.post("/api/v1/webhooks", json=body, headers=own)
    assert created.status_code == 201
    assert webhooks.execute("SELECT maker_key, maker_user FROM webhooks") == [(key.id, None)]


@pytest.mark.thorough
def test_an_operator_lists_and_ends_webhooks(webhooks, private, database_url, key):
    by_key = made(private, X_API_Key=key.text)["id"]
    by_person = made(private, owner=OTHER, X_Forwarded_User="anna smith")["id"]
    _, *lines = scan("webhooks", "list", DATABASE_URL=database_url).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [str(by_person), str(by_key)]
    assert lines[0].endswith("  anna smith") and f" {key.id} " in lines[1]
    assert "T0K3N" not in "".join(lines)
    of_person = scan(
        "webhooks", "list", "--json", "--user", "anna smith", DATABASE_URL=database_url
    )
    of_owner = scan(
        "webhooks", "list", "--json", "--owner", f"0x{OWNER.hex()}", DATABASE_URL=database_url
    )
    assert json.loads(of_person.stdout)["user"] == "anna smith"  # one line
    assert json.loads(of_owner.stdout)["id"] == by_key
    webhooks.chain.append([Move(OTHER, OTHER)])
    ended = scan("webhooks", "remove", str(by_person), "3", DATABASE_URL=database_url)
    assert (ended.returncode, ended.stdout) == (1, f"ended {by_person}\n")
    assert webhooks.pending() == 0
    reason = "an operator ended the webhook"
    assert listed(private, OTHER, X_API_Key=key.text) == [(by_person, False, reason)]
    left = scan("webhooks", "list", "--json", DATABASE_URL=database_url).stdout
    assert json.loads(left)["id"] == by_key
