"""Events that the node returns where no logs are stored: once, in parts, and in nobody's way."""

import threading
from concurrent.futures import ThreadPoolExecutor

from app import create_app
from scan.extensions.approvals import events, queries
from scan.extensions.approvals.tests.owner_chain import by_key, key_of
from tests.support.faulty_node import FaultyNode, Reply, node_error
from tests.support.indexing import Indexing, settings_for
from tests.support.lists import get


def test_events_are_read_from_the_node_once(postgres, template, chain):
    """After a block its events alone, after a fork all of them; every page read all again."""
    asked = []

    def note(calls, forward):
        ranges = [call["params"][0] for call in calls if call["method"] == "eth_getLogs"]
        asked.extend((int(r["fromBlock"], 16), int(r["toBlock"], 16)) for r in ranges)
        return Reply(body=forward(calls))

    def read(client):
        asked.clear()
        page = get(client, f"/addresses/{chain.owner}/approvals", ended="true", limit=100)
        return page["approvals"], [*asked]

    snapshot, head = chain.anvil.snapshot(), chain.anvil.head()
    with (
        FaultyNode(chain.anvil.url) as node,
        postgres.cloned(template) as url,
        Indexing(url, chain.anvil.url, until=head) as indexing,
    ):
        node.fault = note
        client = create_app(settings_for(url, node.url)).test_client()
        everything, asked_for = read(client)
        assert asked_for == [(0, head)] and read(client) == (everything, [])
        try:
            chain.do("coin", "approve", chain.anvil.accounts[9], 8)
            indexing.wait_for(head + 1)
            more, asked_for = read(client)
            assert asked_for == [(head + 1, head + 1)] and len(more) == len(everything) + 1
        finally:
            chain.replace_since(snapshot)
        indexing.wait_for(chain.anvil.head())
        again, asked_for = read(client)
        assert again == everything and asked_for == [(0, chain.anvil.head())]


def test_events_that_the_node_owes_hold_no_other_owners_page(postgres, template, chain):
    """All instances had one lock, inside of which the first one waited for the node."""
    asked, answers = threading.Event(), threading.Event()

    def owe_events(calls, forward):
        if chain.owner.removeprefix("0x") in str(calls) and "eth_getLogs" in str(calls):
            asked.set()
            answers.wait(60)
        return Reply(body=forward(calls))

    other = chain.anvil.accounts[7]
    with (
        FaultyNode(chain.anvil.url) as node,
        postgres.cloned(template) as url,
        ThreadPoolExecutor(1) as pool,
    ):
        indexing = Indexing(url, chain.anvil.url).run_until(chain.anvil.head())
        node.fault = owe_events
        app = create_app(settings_for(indexing.settings.database_url, node.url))
        first = pool.submit(app.test_client().get, f"/address/{chain.owner}?tab=approvals")
        assert asked.wait(60)
        with app.test_client() as client:
            page = client.get(
                f"/address/{other}?tab=approvals", environ_base={"REMOTE_ADDR": "192.0.2.7"}
            )
        assert (page.status_code, first.done()) == (200, False)
        answers.set()


def test_events_of_the_node_begin_where_its_time_ends(postgres, template, chain, monkeypatch):
    asked = []

    def refuse_wide(calls, forward):
        for call in calls:
            if call["method"] == "eth_getLogs":
                first, last = (int(call["params"][0][end], 16) for end in ("fromBlock", "toBlock"))
                asked.append(last - first + 1)
                if last - first >= 5:
                    return node_error(-32602, "block range is too wide")(calls, forward)
        return Reply(body=forward(calls))

    with FaultyNode(chain.anvil.url) as node, postgres.cloned(template) as url:
        indexing = Indexing(url, chain.anvil.url).run_until(chain.anvil.head())
        whole = by_key(create_app(indexing.settings).test_client(), chain.owner, ended="true")
        monkeypatch.setattr("scan.extensions.approvals.events.MOST_EVENTS", 9)
        node.fault = refuse_wide
        client = create_app(settings_for(url, node.url)).test_client()
        page = get(client, f"/addresses/{chain.owner}/approvals", ended="true", limit=100)
        assert max(asked) > 5 and 0 < page["completeFrom"] <= chain.anvil.head()
        shown = [key_of(r) for r in page["approvals"]]
        assert shown == [*whole][: len(shown)] and 5 < len(shown) < len(whole)
        asked.clear()
        get(client, f"/addresses/{chain.owner}/approvals", ended="true", limit=2, page=2)
        assert not asked  # kept until there is another block


def test_an_approval_begins_with_the_event_that_its_uses_lower():
    amounts = [30, 70, 100, 100, 40, 0, 500]  # from the newest
    approvals = [
        events.Event(9 - n, 0, 0, "allowance", b"token", b"spender", None, amount)
        for n, amount in enumerate(amounts)
    ]
    [(newest_event, since)] = queries.newest(approvals)
    assert (newest_event.amount, since.amount, since.block_number) == (30, 100, 7)
    items = [events.Event(n, 0, 0, "item", b"token", bytes([n]), 5, 1) for n in (9, 8)]
    [(newest_event, since)] = queries.newest(items)
    assert newest_event == since == items[0]
