"""How many webhooks there may be, and how much one block or one queue may hold."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.indexer import derivation
from tests.support.made_blocks import Move, address
from tests.support.serving import wait_until
from tests.support.wallets import key_request, new_wallet, owner_of
from tests.support.webhooks import ANOTHER, CLIENT, URL, assert_bytes_are_counted, create

OWNER, OTHER = address("owner"), address("other")


def owners(count):
    return [f"0x{address(f'owner {number}').hex()}" for number in range(count)]


def change(webhooks, hook, active, client):
    return webhooks.client.patch(
        f"/api/v1/webhooks/{hook['id']}",
        json={"active": active},
        headers={"X-Webhook-Secret": hook["secret"]},
        environ_base={"REMOTE_ADDR": client},
    ).status_code


def test_a_client_without_keys_has_twenty_active_webhooks_whoever_asks_first(webhooks):
    with ThreadPoolExecutor(8) as pool:
        created = list(pool.map(lambda owner: create(webhooks, owner, CLIENT), owners(26)))
    assert sorted(status for status, _ in created) == [201] * 20 + [409] * 6
    assert {body["code"] for status, body in created if status == 409} == {"limit_reached"}
    assert create(webhooks, owners(30)[29], ANOTHER)[0] == 201
    hooks = [body for status, body in created if status == 201]
    assert change(webhooks, hooks[0], False, CLIENT) == 200
    assert create(webhooks, owners(31)[30], CLIENT)[0] == 201
    assert change(webhooks, hooks[0], True, CLIENT) == 409
    assert change(webhooks, hooks[0], True, ANOTHER) == 409  # it is counted for who registered it
    assert change(webhooks, hooks[1], False, ANOTHER) == 200
    assert change(webhooks, hooks[0], True, ANOTHER) == 200


def test_a_stranger_with_throw_away_wallets_leaves_places_to_the_owner_and_to_others(webhooks):
    def key_of(wallet):
        request = key_request(wallet)
        return webhooks.client.post("/api/v1/keys", json=request).get_json()["key"]

    def watch(wallet, key, watched, client=CLIENT):
        return create(webhooks, owner_of(wallet), client, key, watchAddress=watched)[0]

    victim, neighbour = new_wallet(), new_wallet()
    watched, key = owner_of(victim), key_of(victim)
    strangers = [(wallet, key_of(wallet)) for wallet in (new_wallet() for _ in range(6))]
    registered = [watch(*strangers[n // 10], watched) for n in range(60)]
    assert registered == [201] * 20 + [409] * 40
    others = f"0x{OTHER.hex()}"
    assert watch(*strangers[5], others) == 409  # whatever it watches
    assert watch(*strangers[5], owner_of(strangers[5][0])) == 201  # but its own
    assert watch(neighbour, key_of(neighbour), watched, ANOTHER) == 201
    webhooks.execute("UPDATE api_keys SET created_at = now() - interval '8 days'")
    assert watch(*strangers[5], watched) == 409
    assert watch(*strangers[5], others) == 201
    webhooks.execute("UPDATE webhooks SET client_address = '192.0.2.' || mod(id, 250)")
    for number, owner in enumerate(owners(79)):
        assert create(webhooks, owner, f"10.1.0.{number}", watchAddress=watched)[0] == 201
    assert watch(neighbour, key_of(neighbour), watched, "192.0.2.3") == 409
    hooks = [create(webhooks, watched, CLIENT, key) for _ in range(11)]
    assert [status for status, _ in hooks] == [201] * 10 + [409]
    hook = hooks[0][1]
    for active, status in ((False, 200), (True, 200)):
        assert change(webhooks, hook, active, CLIENT) == status


def test_an_address_is_watched_by_a_hundred_active_webhooks(webhooks):
    watched = f"0x{OWNER.hex()}"
    with ThreadPoolExecutor(8) as pool:
        clients = [f"10.1.0.{number}" for number in range(106)]
        created = pool.map(
            lambda owner, client: create(webhooks, owner, client, watchAddress=watched)[0],
            *(owners(106), clients),
        )
    assert sorted(created) == [201] * 100 + [409] * 6
    assert create(webhooks, watched, ANOTHER, watchAddress=f"0x{OTHER.hex()}")[0] == 201


@pytest.mark.parametrize("measure", ["events", "bytes"])
def test_a_queue_that_is_full_stops_its_webhook_alone(webhooks, receiver, monkeypatch, measure):
    webhooks.chain.append()
    webhooks.register(OWNER, URL)
    webhooks.chain.append([Move(OTHER, OWNER)])
    [(size,)] = webhooks.execute("SELECT octet_length(body) FROM event_bodies")
    webhooks.execute("DELETE FROM webhooks")
    most = {"events": 5, "bytes": 5 * size}[measure]
    monkeypatch.setitem(derivation.LIMITS, f"queue_{measure}", most)
    hook, other = (webhooks.register(owner, receiver.url()) for owner in (OWNER, OTHER))
    for _ in range(4):
        webhooks.chain.append([Move(OWNER, address("nobody"))])
    assert webhooks.record(OWNER, hook)["active"]
    webhooks.chain.append([Move(OWNER, OTHER)])
    webhooks.chain.append([Move(OWNER, OTHER)])
    record = webhooks.record(OWNER, hook)
    expected = (False, derivation.LIMITS[f"queue_{measure}_reason"])
    assert (record["active"], record["stoppedReason"]) == expected
    assert webhooks.record(OTHER, other)["active"]
    assert pending_counts(webhooks) == {hook.id: 5, other.id: 2}
    assert_bytes_are_counted(webhooks)
    with webhooks.delivering():
        wait_until(lambda: not webhooks.pending())
    assert pending_counts(webhooks) == {hook.id: 0, other.id: 0}
    webhooks.switch(hook, active=True)
    record = webhooks.record(OWNER, hook)
    assert (record["active"], record["stoppedReason"]) == (True, None)


# Owners and client addresses of webhooks that have one event less each than the victim's.
@pytest.mark.parametrize(
    "others",
    [
        [(f"owner {n}", CLIENT) for n in range(7)],  # of one client
        [(f"owner {n}", f"2001:db8:0:{n}::1") for n in range(7)],  # subnets of one network
        [("owner", f"198.51.{n}.1") for n in range(7)],  # networks of one owner
        [("owner", "203.0.113.7")] * 7,  # the victim's address
        # The victim's name, and another network; then one owner and one network of others.
        [("victim", CLIENT)] * 4 + [(f"owner {n}", "198.51.100.1") for n in range(4)],
        [("owner", f"198.51.{n}.1") for n in range(4)] + [(f"owner {n}", CLIENT) for n in range(4)],
    ],
)
def test_who_exceeds_the_share_of_an_owner_or_a_network_is_stopped_first(
    webhooks, monkeypatch, others
):
    """A block has room for 100 events, of which the victim has 20, and a quiet owner one."""
    monkeypatch.setitem(derivation.LIMITS, "block_events", 100)
    victim, quiet = ("victim", "203.0.113.7"), ("quiet", others[0][1])
    hooks = []
    for n, (name, client) in enumerate([victim, *others, quiet]):
        owner, watched = (f"0x{address(text).hex()}" for text in (name, f"watched {n}"))
        hooks.append(create(webhooks, owner, client, watchAddresses=[watched])[1]["id"])
    events = [20, *[19] * len(others), 1]
    webhooks.chain.append(
        [
            Move(OTHER, address(f"watched {n}"))
            for n, count in enumerate(events)
            for _ in range(count)
        ]
    )
    counts = pending_counts(webhooks)
    assert (counts[hooks[0]], counts[hooks[-1]]) == (20, 1)
    assert 80 < sum(counts.values()) <= 100
    active = {id_ for (id_,) in webhooks.execute("SELECT id FROM webhooks WHERE active")}
    assert {id_ for id_, count in counts.items() if count} == active


def pending_counts(webhooks):
    """What the queues say they hold."""
    return dict(webhooks.execute("SELECT webhook_id, pending_count FROM delivery_queues"))
