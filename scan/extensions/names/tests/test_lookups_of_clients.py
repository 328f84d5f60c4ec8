"""Names that other hosts keep: how many lookups clients have at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.extensions.names import primary_names
from scan.extensions.names.tests.gateway_service import asking, says
from tests.support import WAIT_S
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough

__all__ = ["asking"]


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A client that gave its place back pauses until the test ends, on a busy machine, too."""
    monkeypatch.setattr(primary_names, "PAUSE_FACTOR", 1e6)


def test_a_client_has_one_lookup_at_a_time(asking, receiver):
    """Whoever names a slow host holds one thread, and others' names are read meanwhile."""
    ens, alice = asking.ens, asking.ens.people[0]
    for name in ("slow.eth", "second.eth"):
        ens.resolve_by(name, ens.offchain([receiver.url("/{data}")]))
    asking.follow()
    answered = threading.Event()

    def slowly(handler, received):
        assert answered.wait(WAIT_S)
        return says(alice)(handler, received)

    receiver.behaviour = slowly
    statuses = []
    client = asking.client.application.test_client()
    slow = threading.Thread(
        target=lambda: statuses.append(client.get("/api/v1/names/slow.eth").status_code)
    )
    slow.start()
    receiver.wait_for(1)
    try:
        assert asking.lookup("second.eth").status_code == 404
        assert len(receiver.received) == 1
    finally:
        answered.set()
        slow.join(WAIT_S)
    assert statuses == [200]
    assert asking.lookup("second.eth").json["address"] == alice


def test_two_clients_with_ever_new_names_leave_a_place_to_others(asking, receiver):
    ens, alice = asking.ens, asking.ens.people[0]
    for number in range(4):
        ens.resolve_by(f"new{number}.eth", ens.offchain([receiver.url(f"/{number}/{{data}}")]))
    asking.follow()
    answered = [threading.Event() for _ in range(4)]

    def slowly(handler, received):
        assert answered[int(received.path[1])].wait(WAIT_S)
        return says(alice)(handler, received)

    def look_up(number, client):
        test_client = asking.client.application.test_client()
        path = f"/api/v1/names/new{number}.eth"
        return test_client.get(path, environ_base={"REMOTE_ADDR": client}).status_code

    receiver.behaviour = slowly
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(look_up, 0, "192.0.2.1")
        receiver.wait_for(1)
        second = pool.submit(look_up, 1, "192.0.2.2")
        receiver.wait_for(2)
        answered[1].set()
        assert second.result(WAIT_S) == 200
        third = pool.submit(look_up, 2, "192.0.2.2")
        wait_until(lambda: third.done() or len(receiver.received) > 2)
        answered[3].set()
        try:
            assert look_up(3, "192.0.2.3") == 200
        finally:
            for event in answered:
                event.set()
        assert (first.result(WAIT_S), third.result(WAIT_S)) == (200, 404)
