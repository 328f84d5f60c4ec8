"""What was sent stays recorded, whatever becomes of the database right afterwards."""

from collections.abc import Iterator

import pytest

from tests.support.database import Postgres, execute
from tests.support.made_blocks import Move, address
from tests.support.receiver import Answer, Authority, Handler, Received, Receiver
from tests.support.webhooks import Webhooks, wait_until

OWNER, OTHER = address("owner"), address("other")


@pytest.fixture
def server() -> Iterator[Postgres]:
    """A server of this test's own, to be killed."""
    server = Postgres()
    try:
        yield server
    finally:
        server.stop()


def test_what_was_sent_is_recorded_though_the_database_is_killed_on_receipt(
    server: Postgres, authority: Authority, receiver: Receiver
) -> None:
    """A fork could not revoke what nobody has recorded."""
    killed: list[Received] = []

    def kill_once(_: Handler, received: Received) -> Answer:
        if not killed:
            server.kill()
            killed.append(received)
        return Answer()

    receiver.behaviour = kill_once
    server.make_template()
    webhooks = Webhooks(server.url("template_scan"), authority.bundle)
    webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering():
        wait_until(lambda: killed)
    server.start()
    sent = execute(server.url("template_scan"), "SELECT id, sent FROM deliveries")
    assert sent == [(int(killed[0].delivery), True)]
    webhooks.close()
