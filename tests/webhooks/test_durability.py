"""What was sent stays recorded, whatever becomes of the database right afterwards."""

from tests.support import database, made_blocks, serving
from tests.support.receiver import Answer
from tests.support.webhooks import Webhooks


def test_what_was_sent_is_recorded_though_the_database_is_killed_on_receipt(
    own_postgres, authority, receiver
):
    """A fork could not revoke what nobody has recorded."""
    killed = []

    def kill_once(_, received):
        if not killed:
            own_postgres.kill()
            killed.append(received)
        return Answer()

    receiver.behaviour = kill_once
    own_postgres.make_template()
    webhooks = Webhooks(own_postgres.url("template_scan"), authority.bundle)
    owner = made_blocks.address("owner")
    webhooks.register(owner, receiver.url())
    webhooks.chain.append([made_blocks.Move(owner, made_blocks.address("other"))])
    with webhooks.delivering():
        serving.wait_until(lambda: killed)
    own_postgres.start()
    rows = database.execute(own_postgres.url("template_scan"), "SELECT id, sent FROM deliveries")
    assert rows == [(int(killed[0].delivery), True)]
    webhooks.close()
