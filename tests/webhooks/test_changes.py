"""One webhook: read, changed, and where its deliveries go meanwhile."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg2
import pytest

from tests.support import WAIT_S
from tests.support.made_blocks import Move, address
from tests.support.receiver import Answer
from tests.support.serving import wait_until

OWNER, OTHER = address("owner"), address("other")
TOPIC = "0x" + "a" * 64
URL = "https://hooks.example.com/scan"


@pytest.fixture(autouse=True)
def public_names(names):
    inside = {"inside.example.com": ["10.0.0.7"]}
    names["example.com"] = lambda host: inside.get(host, ["93.184.215.14"])
    names["telegram.org"] = lambda _: ["149.154.167.220"]


@pytest.fixture
def hook(webhooks):
    return webhooks.register(OWNER, URL)


def ask(webhooks, hook, method="GET", json=None, path="", **options):
    path = f"/api/v1/webhooks/{hook.id}{path}"
    options = {"headers": hook.headers, **options}
    return webhooks.client.open(path, method=method, json=json, **options)


def changed(webhooks, hook, **body):
    answer = ask(webhooks, hook, "PATCH", body)
    assert answer.status_code == 200, answer.get_json()
    assert answer.get_json() == ask(webhooks, hook).get_json()
    return answer.get_json()


def test_a_webhook_is_read_by_who_may_change_it(webhooks, hook):
    answer = ask(webhooks, hook)
    assert answer.status_code == 200
    assert answer.get_json() == webhooks.record(OWNER, hook) | {"url": URL}
    assert hook.secret not in answer.get_data(as_text=True)
    stranger = {"headers": {}, "environ_base": {"REMOTE_ADDR": "203.0.113.9"}}
    refused = ask(webhooks, hook, **stranger)
    assert (refused.status_code, refused.get_json()["code"]) == (403, "owner_mismatch")
    assert ask(webhooks, hook._replace(id=5)).status_code == 404


def test_what_a_registration_takes_can_be_changed(webhooks, hook):
    before = ask(webhooks, hook).get_json()
    values = {
        "url": "https://other.example.com/scan",
        "watchAddress": f"0x{OTHER.hex()}",
        "eventTypes": ["log", "token_transfer"],
        "topics": [TOPIC, None, [TOPIC]],
        "tokens": [f"0x{OTHER.hex()}"],
        "direction": "in",
        "minimumValue": "7",
        "confirmations": 3,
        "format": "slack",
    }
    assert changed(webhooks, hook, **values) == before | values
    one = changed(webhooks, hook, minimumValue={"coin": "5"}, direction=None)
    assert one == before | values | {"minimumValue": {"coin": "5"}, "direction": None}
    nothing = dict.fromkeys(["topics", "tokens", "direction", "minimumValue", "confirmations"])
    back = changed(webhooks, hook, **nothing, watchAddress=None, eventTypes=None, format=None)
    assert back == before | {"url": values["url"]}


@pytest.mark.thorough
def test_no_change_brings_more_webhooks_to_an_address_than_registrations(webhooks, hook):
    """The hundred and first of an address is refused, and one of ten of an owner is none more."""
    others = [
        webhooks.register(address(f"owner {number}"), URL, watch_address=OTHER)
        for number in range(100)
    ]
    moved = ask(webhooks, hook, "PATCH", {"watchAddress": f"0x{OTHER.hex()}"})
    assert (moved.status_code, moved.get_json()["code"]) == (409, "limit_reached")
    record = ask(webhooks, hook).get_json()
    assert (record["active"], record["watchAddress"]) == (True, f"0x{OWNER.hex()}")
    changed(webhooks, others[0], watchAddress=f"0x{OWNER.hex()}")
    for _ in range(9):
        webhooks.register(OWNER, URL)
    assert changed(webhooks, hook, watchAddress=f"0x{OTHER.hex()}")["active"]


def meanwhile(names, act):
    """Have `act` happen while the name of slow.example.com is looked up: until then the change has
    seen what the webhook was before."""

    def look_up(host):
        if host == "slow.example.com":
            act()
        return ["93.184.215.14"]

    names["example.com"] = look_up
    return "https://slow.example.com/"


def test_addresses_that_are_added_during_a_change_count(webhooks, names):
    addresses = [f"0x{number:040x}" for number in range(1, 1_002)]
    hook = webhooks.register(OWNER, URL, watchAddresses=addresses[:1_000])
    more = {"add": addresses[1_000:]}
    slow = meanwhile(names, lambda: ask(webhooks, hook, "POST", more, "/addresses"))
    dear = ask(webhooks, hook, "PATCH", {"eventTypes": ["log"], "url": slow})
    assert (dear.status_code, dear.get_json()["code"]) == (409, "limit_reached")
    assert ask(webhooks, hook).get_json()["eventTypes"] == ["tx"]


@pytest.mark.thorough
def test_a_webhook_that_moves_while_it_is_activated_is_counted_where_it_is(webhooks, hook, names):
    changed(webhooks, hook, active=False)
    for number in range(100):
        webhooks.register(address(f"owner {number}"), URL, watch_address=OTHER)
    url = meanwhile(names, lambda: changed(webhooks, hook, watchAddress=f"0x{OTHER.hex()}"))
    answer = ask(webhooks, hook, "PATCH", {"active": True, "url": url})
    assert (answer.status_code, answer.get_json()["code"]) == (409, "limit_reached")


def test_a_deletion_locks_the_queue_before_anything_else(webhooks, hook):
    """Beside a retry or a test of the same webhook it ended in a deadlock, a refusal after 1 s."""
    locked = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    holder = psycopg2.connect(webhooks.settings.database_url)
    with closing(holder), ThreadPoolExecutor(1) as pool, holder.cursor() as cursor:
        cursor.execute("SELECT FROM delivery_queues WHERE webhook_id = %s FOR UPDATE", [hook.id])
        deletion = pool.submit(ask, webhooks, hook, "DELETE")
        wait_until(lambda: webhooks.execute(locked))
        cursor.execute("SELECT FROM webhooks WHERE id = %s FOR UPDATE NOWAIT", [hook.id])
        holder.rollback()
        assert deletion.result(WAIT_S).status_code == 200


def test_a_change_has_the_rules_of_a_registration_and_changes_nothing_else(webhooks):
    hook = webhooks.register(OWNER, URL, direction="in")
    before = ask(webhooks, hook).get_json()
    bodies = {
        "an inner address": ({"url": "https://10.0.0.1/"}, "url"),
        "a name that leads inside": ({"url": "https://inside.example.com/"}, "url"),
        "plain http": ({"url": "http://hooks.example.com/"}, "url"),
        "topics of no log": ({"topics": [TOPIC]}, "topics"),
        "event types without the direction's": ({"eventTypes": ["dex_trade"]}, "direction"),
        "no chat": ({"format": "telegram"}, "url"),
        "another owner": ({"ownerAddress": f"0x{OTHER.hex()}"}, "ownerAddress"),
        "a list": ({"watchAddresses": [f"0x{OTHER.hex()}"]}, "watchAddresses"),
        "not active, and no text": ({"active": False, "url": 5}, "url"),
    }
    answers = {name: ask(webhooks, hook, "PATCH", body) for name, (body, _) in bodies.items()}
    refused = {name: (a.status_code, a.get_json()["field"]) for name, a in answers.items()}
    assert refused == {name: (400, field) for name, (_, field) in bodies.items()}
    assert ask(webhooks, hook).get_json() == before
    telegram = "https://api.telegram.org/bot1/sendMessage?chat_id=1"
    chat = changed(webhooks, hook, url=telegram, format="telegram")
    assert (chat["url"], chat["format"]) == (telegram, "telegram")


def test_only_events_of_the_next_blocks_are_of_the_new_address(webhooks, hook):
    changed(webhooks, hook, watchAddress=f"0x{OTHER.hex()}")
    webhooks.chain.append([Move(OWNER, OWNER)])
    [sent] = webhooks.chain.append([Move(OTHER, OTHER)])
    [delivery] = webhooks.deliveries(hook)
    assert delivery["payload"]["data"]["hash"] == f"0x{sent.hex()}"


def test_deliveries_that_wait_go_to_the_new_url_also_during_a_lease(webhooks, receiver):
    """The sender held the old url for as long as it had something to send, up to five seconds."""
    hook = webhooks.register(OWNER, receiver.url("/old"))
    webhooks.chain.append([Move(OWNER, OWNER) for _ in range(20)])

    def answer(_handler, received):
        time.sleep(0.1)
        return Answer()

    receiver.behaviour = answer
    with webhooks.delivering():
        receiver.wait_for(2)
        assert ask(webhooks, hook, "PATCH", {"url": receiver.url("/new")}).status_code == 200
        were_old = len(receiver.received) + 1  # the one that is on its way
        receiver.wait_for(20)
    paths = [received.path for received in receiver.received]
    assert len({received.delivery for received in receiver.received}) == 20
    assert paths.count("/old") <= were_old < 10
    assert paths == sorted(paths, reverse=True)


def test_no_event_is_lost_where_its_form_changes_while_it_is_sent(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    for _ in range(30):
        webhooks.chain.append([Move(OWNER, OWNER)])
    receiver.behaviour = lambda *_: [time.sleep(0.05), Answer()][1]
    with webhooks.delivering():
        receiver.wait_for(2)
        assert ask(webhooks, hook, "PATCH", {"format": "slack"}).status_code == 200
        wait_until(lambda: webhooks.pending() == 0)
    signed = [r for r in receiver.received if b'"event"' in r.body]
    told = b"".join(r.body for r in receiver.received if b'"event"' not in r.body)
    assert len(signed) + told.count(b"ETH") >= 30


def test_what_is_made_says_where_it_is(webhooks, receiver):
    body = {"ownerAddress": f"0x{OWNER.hex()}", "url": receiver.url()}
    made = webhooks.client.post("/api/v1/webhooks", json=body)
    record = webhooks.client.get(made.headers["Location"])
    assert (made.status_code, record.get_json()["id"]) == (201, made.get_json()["id"])
    sent = webhooks.client.post(f"{made.headers['Location']}/test")
    delivery = webhooks.client.get(sent.headers["Location"])
    assert (sent.status_code, delivery.get_json()["id"]) == (201, sent.get_json()["deliveryId"])
    below = webhooks.another(base_path="/eth").post("/eth/api/v1/webhooks", json=body)
    assert below.headers["Location"].startswith("/eth/api/v1/webhooks/")
