"""Registering, listing, changing and deleting webhooks."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.support import expected
from tests.support.made_blocks import Move, address
from tests.support.webhooks import insist

OWNER = address("owner")
OWNER_HEX = f"0x{OWNER.hex()}"
URL = "https://hooks.example.com/scan"


pytestmark = pytest.mark.usefixtures("public_names")


def create(webhooks, **body):
    registered = {"ownerAddress": OWNER_HEX, "url": URL, **body}
    return insist(lambda: webhooks.client.post("/api/v1/webhooks", json=registered))


def listed(webhooks, owner=OWNER_HEX):
    answer = webhooks.client.get("/api/v1/webhooks", query_string={"owner": owner})
    assert answer.status_code == 200
    return list(answer.get_json()["webhooks"])


def test_created_webhooks_are_listed_without_their_secrets(webhooks):
    answer = create(webhooks)
    created = answer.get_json()
    assert answer.status_code == 201
    assert set(created) == {"id", "secret", "message"}
    assert re.fullmatch("[0-9a-f]{64}", created["secret"])
    assert 0 < created["id"] < 2**53
    text = webhooks.client.get(f"/api/v1/webhooks?owner={OWNER_HEX}").get_data(as_text=True)
    assert created["secret"] not in text
    watched = {"watchAddress": "0x" + "Ab" * 20, "eventTypes": ["token_transfer", "tx"]}
    create(webhooks, **watched)
    create(webhooks, watchAddress=None)
    record, other, plain = listed(webhooks, OWNER_HEX.upper().replace("0X", "0x"))
    assert {name: other[name] for name in watched} == {**watched, "watchAddress": "0x" + "ab" * 20}
    assert plain["watchAddress"] == OWNER_HEX
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record.pop("createdAt"))
    unset = "lastTriggeredAt stoppedReason topics direction tokens minimumValue format".split()
    assert record == {
        **dict.fromkeys((*unset, "confirmations")),
        "id": created["id"],
        "url": URL,
        "watchAddress": OWNER_HEX,
        "eventTypes": ["tx"],
        "active": True,
        "failCount": 0,
        "addressCount": 1,
    }


def test_bad_input_is_refused_and_named_as_expected(webhooks):
    expected.compare(__file__, webhooks.client, {"owner": OWNER_HEX})
    for field, value in {
        "url": f"{URL}{'x' * 2048}",
        "watchAddresses": [OWNER_HEX] * 20_001,
        "tokens": [OWNER_HEX] * 101,
    }.items():
        answer = create(webhooks, eventTypes=["token_transfer"], **{field: value})
        assert (answer.status_code, answer.get_json()["field"]) == (400, field)
    assert listed(webhooks) == []


def test_a_name_that_leads_inside_is_refused_and_one_without_an_address_may_get_one_later(
    webhooks, names
):
    names["example.com"] = lambda _: ["93.184.215.14", "10.0.0.7"]
    answer = create(webhooks)
    assert (answer.status_code, answer.get_json()["field"]) == (400, "url")
    assert "10.0.0.7" not in answer.get_data(as_text=True)

    def fail(_):
        raise OSError("no such name")

    names["example.com"] = fail
    assert create(webhooks).status_code == 201
    assert create(webhooks, url="https://example.com:444/").status_code == 400


def test_the_eleventh_active_webhook_is_refused_whoever_asks_first(webhooks):
    with ThreadPoolExecutor(16) as pool:
        statuses = pool.map(lambda _: create(webhooks).status_code, range(16))
    assert sorted(statuses) == [201] * 10 + [409] * 6


def test_names_that_hang_take_no_more_threads_than_a_client_may_hold(webhooks, names):
    """Twelve requests held all eight threads for as long as the name server did not answer."""
    begun = []

    def hang(host):
        begun.append(host)
        raise OSError

    names["example.com"] = hang
    threads = webhooks.client.application.extensions["scan"].waiting_threads
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(threads.place("127.0.0.1"))
        assert create(webhooks).status_code == 201 and begun == []
    assert create(webhooks).status_code == 201 and begun == ["hooks.example.com"]


def test_malformed_owners_numbers_and_changes_are_refused(webhooks):
    number = create(webhooks).get_json()["id"]
    client, path = webhooks.client, "/api/v1/webhooks"
    answers = [
        *(client.patch(f"{path}/{number}", json={"active": bad}) for bad in (1, "true", None)),
        *(client.patch(f"{path}/{number}", json=body) for body in ({}, {"active": {}})),
        *(client.delete(f"{path}/{text}") for text in ("abc", "0", "-1", "1.0", "+1", "0x1")),
        *(client.delete(f"{path}/{text}") for text in (str(2**63), "1e3", "%31%00")),
    ]
    refused = [(answer.status_code, answer.get_json()["code"]) for answer in answers]
    assert set(refused) == {(400, "invalid_parameter")}, refused
    assert client.patch(f"{path}/5", json={"active": True}).status_code == 404
    assert listed(webhooks, f"0x{address('nobody').hex()}") == []


def test_a_webhook_is_deleted_once(webhooks):
    number = create(webhooks).get_json()["id"]
    answer = webhooks.client.delete(f"/api/v1/webhooks/{number}")
    assert (answer.status_code, answer.get_json()) == (200, {"success": True, "id": number})
    assert listed(webhooks) == []
    again = webhooks.client.delete(f"/api/v1/webhooks/{number}")
    assert (again.status_code, again.get_json()["code"]) == (404, "not_found")
    for method, path in (("GET", "deliveries"), ("POST", "test")):
        gone = webhooks.client.open(f"/api/v1/webhooks/{number}/{path}", method=method)
        assert gone.status_code == 404


def test_a_test_event_arrives_and_says_that_it_is_one(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url(), ["token_transfer"])
    answer = webhooks.client.post(f"/api/v1/webhooks/{hook.id}/test", headers=hook.headers)
    assert answer.status_code == 201
    with webhooks.delivering(confirmations=5):
        [received] = receiver.wait_for(1)
    assert received.is_signed_with(hook.secret)
    assert received.delivery == str(answer.get_json()["deliveryId"])
    assert (received.event["event"], received.event["data"]["test"]) == ("token_transfer", True)


def test_deliveries_are_listed_newest_first_with_how_they_went(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    hashes = [webhooks.chain.append([Move(OWNER, OWNER)])[0].hex() for _ in range(3)]
    with webhooks.delivering():
        receiver.wait_for(3)
    path = f"/api/v1/webhooks/{hook.id}/deliveries"
    page = webhooks.client.get(f"{path}?limit=2", headers=hook.headers).get_json()
    assert page["total"] == 3
    newest, second = page["deliveries"]
    assert newest["payload"]["data"]["hash"] == f"0x{hashes[2]}"
    assert second["payload"]["data"]["hash"] == f"0x{hashes[1]}"
    assert (newest["status"], newest["responseCode"], newest["attempts"]) == ("delivered", 204, 1)
    assert newest["error"] is None and newest["nextAttemptAt"] is None
    following = f"{path}?limit=2&cursor={page['next']}"
    last = webhooks.client.get(following, headers=hook.headers).get_json()
    assert [d["payload"]["data"]["hash"] for d in last["deliveries"]] == [f"0x{hashes[0]}"]
    assert (last["total"], last["next"]) == (3, None)
    for query in ("?limit=0", "?limit=101", "?page=0", "?cursor=x"):
        assert webhooks.client.get(path + query, headers=hook.headers).status_code == 400


def test_one_delivery_is_repeated_on_request_while_its_webhook_is_active(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OWNER)])
    with webhooks.delivering():
        receiver.wait_for(1)
    [delivery] = webhooks.deliveries(hook)
    path = f"/api/v1/webhooks/{hook.id}/deliveries"
    retry = f"{path}/{delivery['id']}/retry"
    assert webhooks.client.post(retry, headers=hook.headers).status_code == 202
    with webhooks.delivering():
        first, second = receiver.wait_for(2)
    assert (first.delivery, first.body) == (second.delivery, second.body)
    unknown = f"{path}/{delivery['id'] + 1}/retry"
    assert webhooks.client.post(unknown, headers=hook.headers).status_code == 404
    assert webhooks.client.post(f"{path}/zero/retry").status_code == 400
    other = webhooks.register(OWNER, receiver.url())
    foreign = f"/api/v1/webhooks/{other.id}/deliveries/{delivery['id']}"
    assert webhooks.client.get(foreign, headers=other.headers).status_code == 404
    assert webhooks.client.post(f"{foreign}/retry", headers=other.headers).status_code == 404
    webhooks.switch(hook, active=False)
    for refused in (retry, f"/api/v1/webhooks/{hook.id}/test"):
        assert webhooks.client.post(refused, headers=hook.headers).status_code == 400
