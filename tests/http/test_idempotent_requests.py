"""Requests with an Idempotency-Key: what is sent again makes nothing twice."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from scan.http import idempotent_requests
from tests.support import WAIT_S
from tests.support.database import made_key
from tests.support.made_blocks import address
from tests.support.wallets import key_request, new_wallet

OWNER = address("owner")
URL = "https://hooks.example.com/scan"
BODY = {"ownerAddress": f"0x{OWNER.hex()}", "url": URL}


pytestmark = pytest.mark.usefixtures("public_names")


def post(client, path="/webhooks", body=BODY, key="one", peer="127.0.0.1", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(
        f"/api/v1{path}",
        json=body,
        headers={"Idempotency-Key": key, **named},
        environ_base={"REMOTE_ADDR": peer},
    )


def registered(webhooks):
    return webhooks.execute("SELECT count(*) FROM webhooks")[0][0]


def test_the_same_request_has_the_same_answer_in_every_process(webhooks):
    first = post(webhooks.client)
    again = post(webhooks.another())
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.data == again.data
    assert first.headers["Location"] == again.headers["Location"]
    assert registered(webhooks) == 1
    other = post(webhooks.client, key="two")
    assert (other.status_code, registered(webhooks)) == (201, 2)


def test_another_request_with_the_key_is_refused(webhooks):
    created = post(webhooks.client).get_json()
    path = f"/webhooks/{created['id']}/test"
    for changed in (
        {"body": BODY | {"url": f"{URL}/2"}},
        {"path": path},
        {"X_Webhook_Secret": "5"},
    ):
        refused = post(webhooks.client, **changed)
        assert (refused.status_code, refused.get_json()["code"]) == (422, "idempotency_key_reused")
    assert registered(webhooks) == 1


@pytest.mark.thorough
def test_keys_are_each_clients_own(webhooks):
    key = {"X_API_Key": made_key(webhooks.settings.database_url, 1000).text}
    answers = [post(webhooks.client), post(webhooks.client, peer="203.0.113.9")]
    answers.append(post(webhooks.client, **key))
    assert {answer.status_code for answer in answers} == {201}, [a.get_json() for a in answers]
    assert len({answer.get_json()["id"] for answer in answers}) == 3
    assert post(webhooks.client, peer="203.0.113.77", **key).data == answers[2].data


def test_of_many_at_once_one_makes_it_and_the_others_are_told(webhooks, names):
    begun, may_end = threading.Event(), threading.Event()

    def hang(_):
        begun.set()
        may_end.wait(WAIT_S)
        return ["93.184.215.14"]

    names["example.com"] = hang
    clients = [webhooks.client, *(webhooks.another() for _ in range(3))]
    with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        stack.callback(may_end.set)
        first = pool.submit(post, clients[0])
        begun.wait(WAIT_S)
        others = [post(client) for client in clients[1:]]
        may_end.set()
        made = first.result()
    assert {other.status_code for other in others} == {409}
    assert {other.get_json()["code"] for other in others} == {"request_in_progress"}
    assert others[0].headers["Retry-After"] == "1"
    assert [post(client).data for client in clients[1:]] == [made.data] * 3
    assert registered(webhooks) == 1


@pytest.mark.thorough
def test_what_failed_may_be_repeated_also_corrected(webhooks):
    wrong = post(webhooks.client, body=BODY | {"url": 5})
    assert (wrong.status_code, registered(webhooks)) == (400, 0)
    webhooks.execute("ALTER TABLE webhook_secrets RENAME TO away")
    assert post(webhooks.client).status_code == 503
    webhooks.execute("ALTER TABLE away RENAME TO webhook_secrets")
    assert (post(webhooks.client).status_code, registered(webhooks)) == (201, 1)


@pytest.mark.thorough
def test_a_process_that_dies_leaves_the_key_free_after_a_minute(webhooks):
    post(webhooks.client)
    webhooks.execute("UPDATE idempotent_requests SET answer = NULL, ends_at = now() + '1 minute'")
    assert post(webhooks.client).get_json()["code"] == "request_in_progress"
    webhooks.execute("UPDATE idempotent_requests SET ends_at = ends_at - interval '1 minute'")
    assert (post(webhooks.client).status_code, registered(webhooks)) == (201, 2)


def test_every_post_that_makes_something_has_it(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url(), watchAddresses=[])
    below, secret = f"/webhooks/{hook.id}", {"X_Webhook_Secret": hook.secret}
    test = post(webhooks.client, f"{below}/test", None, **secret)
    assert post(webhooks.client, f"{below}/test", None, **secret).data == test.data
    assert len(webhooks.deliveries(hook)) == 1
    path = f"{below}/deliveries/{test.get_json()['deliveryId']}/retry"
    retried = [post(webhooks.client, path, None, key="two", **secret) for _ in range(2)]
    assert [answer.status_code for answer in retried] == [202, 202]
    add = {"add": [f"0x{OWNER.hex()}"]}
    added = [post(webhooks.client, f"{below}/addresses", add, "3", **secret) for _ in range(2)]
    assert [answer.get_json()["added"] for answer in added] == [1, 1]
    rotated = [
        post(webhooks.client, f"{below}/rotate-secret", None, "4", **secret) for _ in range(2)
    ]
    assert rotated[0].data == rotated[1].data and rotated[0].status_code == 200
    span = {"timeFrom": 0}
    new = {"X_Webhook_Secret": rotated[0].get_json()["secret"]}
    assert post(webhooks.client, f"{below}/replay", span, "5", **new).status_code == 202
    assert webhooks.execute("SELECT count(*) FROM idempotent_requests") == [(5,)]


def test_a_signed_request_for_a_key_that_is_sent_again_gets_the_key(webhooks):
    body = key_request(new_wallet())
    first = post(webhooks.client, "/keys", body)
    assert (first.status_code, post(webhooks.client, "/keys", body).data) == (201, first.data)
    assert post(webhooks.client, "/keys", body, key="two").status_code == 409
    record = webhooks.client.get(first.headers["Location"])
    assert record.get_json()["keyPrefix"] == first.get_json()["keyPrefix"]


@pytest.mark.thorough
def test_who_reads_the_table_learns_no_secret(webhooks):
    created = post(webhooks.client).get_json()
    key = post(webhooks.client, "/keys", key_request(new_wallet()), "2").get_json()["key"]
    rows = webhooks.execute("SELECT answer, t::text FROM idempotent_requests t")
    for answer, text in rows:
        for secret in (created["secret"], key):
            assert secret.encode() not in bytes(answer)
            assert secret.encode().hex() not in text and secret not in text


@pytest.mark.thorough
def test_answers_are_bounded_for_a_network_and_end(webhooks):
    post(webhooks.client)
    webhooks.execute(
        "INSERT INTO idempotent_requests (key_hash, client, request_hash, answer, ends_at)"
        " SELECT sha256(n::text::bytea), client, request_hash, answer, ends_at"
        " FROM idempotent_requests, generate_series(2, %s) AS n",
        idempotent_requests.MAX_ANSWERS,
    )
    full = [post(webhooks.client, key="two"), post(webhooks.client, key="3", peer="127.0.0.200")]
    assert [answer.get_json()["code"] for answer in full] == ["limit_reached"] * 2
    assert post(webhooks.client).status_code == 201
    assert post(webhooks.client, key="two", peer="203.0.113.9").status_code == 201
    assert registered(webhooks) == 2
    webhooks.execute("UPDATE idempotent_requests SET ends_at = now()")
    assert post(webhooks.client).status_code == 201
    [(kept,)] = webhooks.execute("SELECT count(*) FROM idempotent_requests")
    assert (kept, registered(webhooks)) == (idempotent_requests.MAX_ANSWERS - 9, 3)


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["", "é", "x" * 256, "a b"])
def test_keys_are_short_and_visible(webhooks, key):
    refused = post(webhooks.client, key=key)
    assert (refused.status_code, refused.get_json()["field"]) == (400, "Idempotency-Key")
