"""Approvals beside the node: every pair that an event names, whichever logs are stored; where none
are, events that the node returns are read once, in parts, and in nobody's way."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.extensions.approvals import events, queries
from scan.extensions.approvals.tests.owner_chain import MOST, by_key, chain, key_of
from scan.extensions.logs.unstored_logs import MOST_STORED_AT_ONCE
from tests.support import WAIT_S, expected
from tests.support.explorer import behind
from tests.support.faulty_node import Reply, node_error, replacing
from tests.support.indexing import Indexing, sources
from tests.support.lists import get

__all__ = ["chain"]


@pytest.fixture(scope="module", params=["none", "all"])
def indexing(request, postgres, template, chain):
    with (
        postgres.cloned(template) as url,
        Indexing(url, chain.anvil.url, logs=request.param, until=chain.anvil.head()) as indexing,
    ):
        yield indexing


@pytest.fixture
def client(indexing, chain):
    """Whatever other tests have mined, or taken back, the index has what the node has."""
    indexing.wait_for(chain.anvil.head())
    return indexing.client()


def test_every_pair_is_what_the_node_says(client, indexing, chain):
    records = by_key(client, chain.owner, ended="true")
    assert len(records) == 16
    shown = {key: (r["amountNow"], r["unavailable"]) for key, r in records.items()}
    [burnt] = [key for key in records if key[0] == "item" and key[2] == "4"]
    assert shown.pop(burnt) == (None, "reverted")
    assert shown == {key: (str(chain.node_says(*key)), None) for key in shown}
    page = get(client, f"/addresses/{chain.owner}/approvals")
    assert page["source"] == {"none": "node", "all": "index"}[indexing.settings.logs]
    assert page["blockNumber"] == chain.anvil.head()


def test_what_is_in_force_has_its_risk_and_its_use_as_expected(client, chain):
    accounts = {"owner": chain.owner.lower(), "account": chain.anvil.accounts[5].lower()}
    names = {name: contract.address.lower() for name, contract in chain.contracts.items()}
    expected.compare(__file__, client, accounts | names)
    page = client.get(f"/address/{chain.owner}?tab=approvals").text
    assert page.count("unlimited") == 3
    records = [*by_key(client, chain.owner).values()]
    assert [bool(record["lastUse"]) for record in records] == [False] * 6 + [True] * 4
    for record in records:
        assert f'data-data="{record["revokeData"]}"' in page
        assert record["transactionHash"] in page


@pytest.mark.thorough
def test_no_function_of_a_hostile_token_takes_the_page(client, indexing, chain):
    """Ten thousand approvals of one owner by tokens that answer garbage, too much, nothing and
    never; what others approve to it stays found by its token."""
    victim = chain.anvil.accounts[8]
    with chain.undone():
        chain.do("coin", "approve", chain.address("one"), 5, sender=victim)
        for n in range(4):
            for first in (1, 2_001):
                arguments = (victim, first, 2_000 if n else 500)
                chain.do(f"boaster{n}", "boast", *arguments, gas=28_000_000)
        indexing.wait_for(chain.anvil.head())
        page = get(client, f"/addresses/{victim}/approvals", limit=100)
        assert page["total"] == 13_001
        assert {r["unavailable"] for r in page["approvals"]} <= {"malformed", "reverted", "unread"}
        for n, problem in ((0, "malformed"), (1, "malformed"), (2, "reverted"), (3, "reverted")):
            token = chain.address(f"boaster{n}")
            page = get(client, f"/addresses/{victim}/approvals", tokenAddress=token)
            assert {r["unavailable"] for r in page["approvals"]} == {problem}
            assert {r["atRisk"] for r in page["approvals"]} == {None}
        coin = chain.address("coin")
        page = get(client, f"/addresses/{victim}/approvals", tokenAddress=coin)
        [own] = page["approvals"]
        assert (own["amountNow"], own["unavailable"]) == ("5", None)


@pytest.mark.parametrize("indexing", ["all"], indirect=True)  # a node is read as time allows
def test_events_that_others_emit_push_out_none_of_the_owners_own(client, indexing, chain):
    everything = by_key(client, chain.owner, ended="true")
    with chain.undone():
        chain.do("boaster0", "boast", chain.owner, 1, 40, sender=chain.anvil.accounts[7])
        indexing.wait_for(chain.anvil.head())
        sources(client).get(events.ApprovalBounds).events = 30
        path = f"/addresses/{chain.owner}/approvals"
        page = get(client, path, ended="true", limit=100)
        assert page["completeFrom"] == chain.anvil.head() + 1
        shown = {key_of(record): record for record in page["approvals"][30:]}
        assert shown.keys() == everything.keys() and page["total"] == 30 + len(everything)
        coin = chain.address("coin")
        few = get(client, path, ended="true", tokenAddress=coin, limit=100)
        assert {key_of(r) for r in few["approvals"]} == {k for k in everything if k[1] == coin}


def test_a_node_away_leaves_what_is_stored(indexing, chain):
    """Without logs, those of the blocks whose events are read as stored."""
    down = node_error(-32000, "unavailable")
    with chain.undone():
        chain.do("coin", "approve", chain.address("one"), MOST)
        indexing.wait_for(chain.anvil.head())
        with behind(indexing.settings, down) as (alone, _):
            answer = alone.get(f"/api/v1/addresses/{chain.owner}/approvals")
            assert answer.status_code == 200, answer.text
            assert {r["unavailable"] for r in answer.json["approvals"]} == {"unread"}
            assert {r["inForce"] for r in answer.json["approvals"]} == {None}
            page = alone.get(f"/address/{chain.owner}?tab=approvals").text
            assert "The node did not return the current amounts of" in page
            assert "Amounts are read from the contracts" not in page


def test_events_are_read_from_the_node_once(clone, template, chain):
    """Those of older blocks alone, and after a fork anew: others are of stored blocks."""
    requests = []

    def note(calls, forward):
        ranges = [call["params"][0] for call in calls if call["method"] == "eth_getLogs"]
        requests.extend((int(r["fromBlock"], 16), int(r["toBlock"], 16)) for r in ranges)
        return Reply(body=forward(calls))

    def read(client):
        requests.clear()
        page = get(client, f"/addresses/{chain.owner}/approvals", ended="true", limit=100)
        return page["approvals"], [*requests]

    head = chain.anvil.head()
    with (
        Indexing(clone(template), chain.anvil.url, until=head) as indexing,
        behind(indexing.settings, note) as (client, _),
    ):
        everything, asked_for = read(client)
        assert asked_for == [(0, head - MOST_STORED_AT_ONCE)] and read(client) == (everything, [])
        with chain.undone():
            chain.do("coin", "approve", chain.anvil.accounts[9], 8)
            indexing.wait_for(head + 1)
            more, asked_for = read(client)
            assert asked_for == [] and len(more) == len(everything) + 1
        indexing.wait_for(chain.anvil.head())
        again, asked_for = read(client)
        assert again == everything
        assert asked_for == [(0, chain.anvil.head() - MOST_STORED_AT_ONCE)]


@pytest.mark.thorough
def test_a_node_behind_the_index_takes_no_event_out(clone, template, chain):
    """For as long as they were cached; a balancer sent it to another node than the headers."""
    spender = chain.anvil.accounts[9]

    def spenders(client):
        page = get(client, f"/addresses/{chain.owner}/approvals", limit=100)
        return {record["spender"] for record in page["approvals"]}

    with chain.undone():
        chain.do("coin", "approve", spender, 8)
        head = chain.anvil.head()
        behind_index = replacing(
            "eth_getLogs", lambda logs: [log for log in logs if int(log["blockNumber"], 16) < head]
        )
        with (
            Indexing(clone(template), chain.anvil.url, until=head) as indexing,
            behind(indexing.settings, behind_index) as (client, node),
        ):
            assert spender in spenders(client)
            node.fault = None
            chain.anvil.mine(5)
            indexing.wait_for(head + 5)
            assert spender in spenders(client)
        with (
            Indexing(
                clone(template), chain.anvil.url, until=head + 5, stores_bodies=False
            ) as indexing,
            behind(indexing.settings) as (client, node),
        ):
            node.fault = replacing(
                lambda call: call["params"][:1] == [hex(head)], None
            )  # a whole batch is of one node
            refused = client.get(f"/api/v1/addresses/{chain.owner}/approvals")
            assert refused.status_code == 502 and "not at the same chain" in refused.text
            node.fault = None
            assert spender in spenders(client)


@pytest.mark.thorough
def test_events_that_the_node_owes_hold_no_other_owners_page(clone, template, chain):
    """All instances had one lock, inside of which the first one waited for the node."""
    request, answers = threading.Event(), threading.Event()

    def owe_events(calls, forward):
        if chain.owner.removeprefix("0x") in str(calls) and "eth_getLogs" in str(calls):
            request.set()
            answers.wait(WAIT_S)
        return Reply(body=forward(calls))

    other = chain.anvil.accounts[7]
    indexing = Indexing(clone(template), chain.anvil.url).run_until(chain.anvil.head())
    with behind(indexing.settings, owe_events) as (client, _), ThreadPoolExecutor(1) as pool:
        owner = client.application.test_client()
        first = pool.submit(owner.get, f"/address/{chain.owner}?tab=approvals")
        assert request.wait(WAIT_S)
        page = client.get(
            f"/address/{other}?tab=approvals", environ_base={"REMOTE_ADDR": "192.0.2.7"}
        )
        assert (page.status_code, first.done()) == (200, False)
        answers.set()


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
