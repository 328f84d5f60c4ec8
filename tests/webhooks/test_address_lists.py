"""Webhooks with a list of addresses, and events that are narrowed or wait for confirmations."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg2
import pytest

from scan.ethereum.blocks import EventLog
from scan.hex import to_hex
from scan.rate_limits.client_address import network_around
from scan.webhooks import registration
from tests.support import WAIT_S
from tests.support.made_blocks import TOKEN, Move, address
from tests.support.serving import wait_until
from tests.support.wallets import key_request, new_wallet, owner_of
from tests.support.webhooks import CLIENT, create, insist

URL = "https://localhost:9/"
OWNER, SHOP, ANNA, BERT = (address(name) for name in ("owner", "shop", "anna", "bert"))
WEBHOOKS = "/api/v1/webhooks"


def texts(*addresses):
    return [to_hex(address) for address in addresses]


def with_list(webhooks, *addresses, **more):
    return webhooks.register(OWNER, URL, watchAddresses=texts(*addresses), **more)


def change(webhooks, hook, **body):
    path = f"{WEBHOOKS}/{hook.id}/addresses"
    answer = webhooks.client.post(path, json=body, headers=hook.headers)
    return answer.status_code, answer.get_json()


def listed(webhooks, hook, query=""):
    path = f"{WEBHOOKS}/{hook.id}/addresses{query}"
    return webhooks.client.get(path, headers=hook.headers).get_json()


def events(webhooks, hook):
    """What a webhook gets: type, watched address, value."""
    payloads = [delivery["payload"] for delivery in webhooks.deliveries(hook)]
    return [(p["event"], p["data"]["watchAddress"], p["data"].get("value")) for p in payloads]


def test_a_list_changes_from_the_next_block_on(webhooks):
    hook = with_list(webhooks)
    webhooks.chain.append([Move(SHOP, ANNA, value=1)])
    assert change(webhooks, hook, add=texts(ANNA, ANNA, BERT)) == (
        200,
        {"added": 2, "removed": 0, "addressCount": 2},
    )
    webhooks.chain.append([Move(SHOP, ANNA, value=2)])
    assert change(webhooks, hook, add=texts(BERT, SHOP), remove=texts(ANNA, OWNER)) == (
        200,
        {"added": 1, "removed": 1, "addressCount": 2},
    )
    webhooks.chain.append([Move(OWNER, ANNA, value=3), Move(OWNER, SHOP, value=4)])
    assert events(webhooks, hook) == [("tx", to_hex(ANNA), "2"), ("tx", to_hex(SHOP), "4")]


def test_a_list_is_read_by_pages(webhooks):
    addresses = [address(f"customer {number}") for number in range(250)]
    hook = with_list(webhooks, *addresses)
    pages, query = [], "?limit=100"
    while query:
        page = listed(webhooks, hook, query)
        assert page["total"] == 250
        pages.append(page["addresses"])
        query = page["next"] and f"?limit=100&cursor={page['next']}"
    assert [len(page) for page in pages] == [100, 100, 50]
    assert [text for page in pages for text in page] == sorted(texts(*addresses))


def test_events_are_narrowed(webhooks):
    """Of webhooks that are registered so, and of those that are changed."""
    hooks = []
    every = {"sent", "received", "transfer sent", "transfer received", "other", "self", "large"}
    narrowed = [
        ({}, every),
        ({"direction": "in"}, {"received", "transfer received", "self", "large"}),
        ({"direction": "out"}, {"sent", "transfer sent", "other", "self"}),
        ({"minimumValue": str(2**256 - 1)}, {"large"}),
        ({"tokens": [to_hex(SHOP)]}, {"sent", "received", "other", "self", "large"}),
        ({"direction": "in", "minimumValue": "41"}, {"self", "large"}),
        ({"minimumValue": {to_hex(TOKEN): "21"}}, every - {"transfer sent"}),
        (
            {"minimumValue": {"coin": "11", to_hex(TOKEN): "41", to_hex(SHOP): "9"}},
            {"received", "self", "large"},
        ),
    ]
    for number, (narrowing, _) in enumerate(narrowed):
        common = {"watchAddresses": texts(ANNA), "event_types": ["tx", "token_transfer"]}
        owner = address(f"owner {number}")
        hook = webhooks.register(owner, URL, **common, **narrowing)
        changed = webhooks.register(owner, URL, **common, direction="out")
        path, body = f"{WEBHOOKS}/{changed.id}", {"direction": None, **narrowing}
        answer = webhooks.client.patch(path, json=body, headers=changed.headers)
        assert {name: answer.get_json()[name] for name in narrowing} == narrowing
        hooks.append((hook, changed))
    webhooks.chain.append()
    webhooks.chain.append(
        [
            Move(ANNA, SHOP, value=10, tokens=20),
            Move(SHOP, ANNA, value=30, tokens=40),
            Move(ANNA, BERT, value=5),
            Move(ANNA, ANNA, value=50),
            Move(SHOP, ANNA, value=2**256 - 1),
        ]
    )
    names = {
        ("tx", "10"): "sent",
        ("tx", "30"): "received",
        ("token_transfer", "20"): "transfer sent",
        ("token_transfer", "40"): "transfer received",
        ("tx", "5"): "other",
        ("tx", "50"): "self",
        ("tx", str(2**256 - 1)): "large",
    }
    sent = [
        [{names[type_, value] for type_, _, value in events(webhooks, hook)} for hook in pair]
        for pair in hooks
    ]
    assert sent == [[expected] * 2 for _, expected in narrowed]


def test_logs_of_a_list_are_those_of_its_addresses(webhooks):
    hook = with_list(webhooks, ANNA, BERT, eventTypes=["log"])
    logs = [EventLog(0, n, emitter, (), b"") for n, emitter in enumerate((ANNA, SHOP, BERT))]
    webhooks.chain.append([Move(SHOP, SHOP)], logs)
    assert [watched for _, watched, _ in events(webhooks, hook)] == texts(ANNA, BERT)


def test_a_webhook_waits_for_confirmations_of_its_own(webhooks, receiver):
    hooks = {
        wait: webhooks.register(OWNER, receiver.url(f"/{wait}"), confirmations=wait)
        for wait in (None, 0, 2)
    }
    with webhooks.delivering(confirmations=1):
        webhooks.chain.append([Move(OWNER, SHOP)])
        receiver.wait_for(1)
        webhooks.chain.append()
        receiver.wait_for(2)
        webhooks.chain.append()
        receiver.wait_for(3)
    assert [request.path for request in receiver.received] == ["/0", "/None", "/2"]
    assert webhooks.record(OWNER, hooks[2])["confirmations"] == 2


def test_a_list_has_bounds(webhooks, monkeypatch):
    monkeypatch.setattr(registration, "MAX_ADDRESSES", 3)
    monkeypatch.setattr(registration, "MAX_ADDRESSES_PER_OWNER", 5)
    hook = with_list(webhooks, ANNA, BERT, SHOP)
    status, body = change(webhooks, hook, add=texts(OWNER))
    assert (status, body["code"]) == (409, "limit_reached")
    assert listed(webhooks, hook)["total"] == 3
    assert change(webhooks, hook, add=texts(OWNER), remove=texts(ANNA))[0] == 200
    owner = to_hex(OWNER)
    assert create(webhooks, owner, CLIENT, watchAddresses=texts(ANNA, BERT, SHOP))[0] == 409
    assert create(webhooks, owner, CLIENT, watchAddresses=texts(ANNA, BERT))[0] == 201
    # Others' lists take nobody's places.
    assert create(webhooks, to_hex(ANNA), CLIENT)[0] == 201


def test_a_list_of_a_webhook_of_logs_is_shorter(webhooks):
    emitters = [f"0x{number:040x}" for number in range(registration.MAX_ADDRESSES_WITH_LOGS + 1)]
    for kind, status in (("log", 409), ("tx", 201)):
        fields = {"eventTypes": [kind], "watchAddresses": emitters}
        assert create(webhooks, to_hex(OWNER), CLIENT, **fields)[0] == status
    fields = {"eventTypes": ["log"], "watchAddresses": emitters[1:]}
    assert create(webhooks, to_hex(OWNER), CLIENT, **fields)[0] == 201


def test_lists_from_a_network_have_a_tenth_of_what_others_leave(webhooks):
    """Whoever owns them, as with keys that are old, wherever they are activated, and stopped ones,
    too."""
    neighbour, elsewhere = "192.0.2.77", "198.51.100.1"
    wallet = new_wallet()
    key = webhooks.client.post("/api/v1/keys", json=key_request(wallet)).get_json()["key"]
    webhooks.execute("UPDATE api_keys SET created_at = now() - interval '8 days'")
    lists, owner = {"watchAddresses": texts(ANNA, BERT)}, owner_of(wallet)
    assert create(webhooks, to_hex(OWNER), CLIENT, **lists)[0] == 201
    webhooks.execute("UPDATE webhooks SET address_count = 995000")
    second = create(webhooks, owner, neighbour, key, **lists)[1]
    for active in (False, True):
        moved = webhooks.client.patch(
            f"{WEBHOOKS}/{second['id']}",
            json={"active": active},
            headers={"X-API-Key": key},
            environ_base={"REMOTE_ADDR": elsewhere},
        )
        assert moved.status_code == 200
    webhooks.execute("UPDATE webhooks SET active = false")
    for another in (owner, to_hex(BERT)):
        status, body = create(webhooks, another, CLIENT, key, **lists)
        assert (status, body["code"]) == (409, "limit_reached")
    assert create(webhooks, to_hex(BERT), CLIENT)[0] == 201  # one address is no list
    assert create(webhooks, to_hex(BERT), elsewhere, **lists)[0] == 201
    webhooks.execute(
        "UPDATE webhooks SET address_count = 895001 WHERE client_address = %s", elsewhere
    )
    status, body = create(webhooks, to_hex(ANNA), elsewhere, **lists)
    assert (status, "may count as 900,000" in body["error"]) == (409, True)
    private = webhooks.another(owner_auth="never")
    body = {"ownerAddress": to_hex(ANNA), "url": URL, **lists}
    assert private.post(WEBHOOKS, json=body).status_code == 201


def test_a_list_that_grows_counts_and_one_with_logs_for_more(webhooks):
    others, hook = with_list(webhooks, SHOP), with_list(webhooks, SHOP)
    webhooks.execute("UPDATE webhooks SET client_address = %s, address_count = 5999", CLIENT)
    webhooks.execute("UPDATE webhooks SET address_count = 994000 WHERE id = %s", others.id)
    assert change(webhooks, hook, add=texts(ANNA))[0] == 200
    status, body = change(webhooks, hook, add=texts(BERT))
    assert (status, body["code"]) == (409, "limit_reached")
    webhooks.execute("UPDATE webhooks SET address_count = 988000 WHERE id = %s", others.id)
    for count, status in ((61, 409), (60, 201)):
        emitters = [f"0x{number:040x}" for number in range(count)]
        fields = {"eventTypes": ["log"], "watchAddresses": emitters}
        assert create(webhooks, to_hex(ANNA), CLIENT, **fields)[0] == status


@pytest.mark.parametrize(
    "client", ["192.0.2.1", "2001:db8:1:2::/64", "unknown", "::/64", "255.255.255.255", ""]
)
def test_statements_know_the_network_of_a_client(webhooks, client):
    assert webhooks.execute("SELECT client_network(%s)", client) == [(network_around(client),)]


def test_a_list_is_deleted_beside_indexing(webhooks):
    """While one of its addresses is locked, so that the deletion waits, a block is written that
    another webhook of the address, and this one if it still were active, have an event of."""
    hook, other = with_list(webhooks, ANNA, BERT), webhooks.register(ANNA, URL)
    path = f"{WEBHOOKS}/{hook.id}"

    def waiting():
        rows = webhooks.execute(
            "SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database()"
        )
        return {re.findall("DELETE FROM [a-z_]+|$", query)[0] for (query,) in rows}

    def delete():
        return insist(lambda: webhooks.client.delete(path, headers=hook.headers))

    holder = psycopg2.connect(webhooks.settings.database_url)
    with closing(holder), ThreadPoolExecutor(2) as pool:
        holder.cursor().execute("SELECT FROM webhook_addresses FOR UPDATE")
        deletion = pool.submit(delete)
        wait_until(waiting)
        block = pool.submit(webhooks.chain.append, [Move(SHOP, ANNA)])
        seen = [waiting()]
        wait_until(lambda: seen.append(waiting()) or block.done())
        holder.rollback()
        assert deletion.result(WAIT_S).status_code == 200
    assert set().union(*seen) <= {"DELETE FROM webhook_addresses"}
    assert len(events(webhooks, other)) == 1
    assert webhooks.execute("SELECT count(*) FROM webhook_addresses") == [(0,)]


def test_a_wrong_change_of_a_list_is_refused(webhooks):
    one, hook = webhooks.register(OWNER, URL), with_list(webhooks, BERT)
    both = {"add": texts(ANNA), "remove": texts(ANNA)}
    for body in ({}, {"add": None}, {"add": ["x"]}, both, {"add": [to_hex(ANNA)] * 1_001}):
        assert change(webhooks, hook, **body)[0] == 400, body
    assert change(webhooks, one, add=texts(ANNA))[0] == 400  # it has no list
    assert change(webhooks, hook._replace(secret="wrong"), add=texts(ANNA))[0] == 403
    assert listed(webhooks, hook)["addresses"] == texts(BERT)


def test_a_test_event_is_of_an_address_of_the_list(webhooks):
    for hook, watched in ((with_list(webhooks, ANNA), ANNA), (with_list(webhooks), OWNER)):
        path = f"{WEBHOOKS}/{hook.id}/test"
        assert webhooks.client.post(path, headers=hook.headers).status_code == 201
        assert [watched_ for _, watched_, _ in events(webhooks, hook)] == texts(watched)
