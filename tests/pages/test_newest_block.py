"""What every page says of the newest block: when it is from, and why nothing newer is shown;
and /status."""

import re
import time

import pytest

from scan.http import index_version
from tests.support.database import execute
from tests.support.indexing import Indexing, client_over
from tests.support.serving import wait_until


@pytest.mark.check
def test_the_nodes_head_decides_and_not_the_clock():
    def staleness(age_s, lag, quiet_after_s):
        made_s = time.time() - age_s
        return index_version.Position(1, 9, "", made_s, lag, quiet_after_s).staleness

    assert [staleness(age_s, 0, None) for age_s in (5, 50, 1e9)] == ["", "", ""]
    assert [staleness(900, lag, None) for lag in (1, 10, 11)] == ["", "", "behind"]
    assert [staleness(age_s, None, None) for age_s in (25, 35)] == ["", "unknown"]
    assert [staleness(age_s, 0, 120.0) for age_s in (90, 130)] == ["", "quiet"]
    assert staleness(25, 1000, 0.5) == index_version.Position(-1, -1).staleness == ""


def test_a_page_says_of_when_its_newest_block_is(client, scenario):
    """That every page does so test_every_page.py looks for."""
    newest = scenario.truth.blocks[0]
    shown = f'<a href="/block/{newest["number"]}">{newest["number"]}</a>'
    text = client.get("/block/0").text
    assert f'Newest block {shown}, <time datetime="{newest["timestamp"]}"' in text
    assert f"The newest indexed block, {shown}, is from" in text


def test_what_is_made_without_the_database_names_no_block(indexed, scenario):
    """The newest block that was read may be an old one by then."""
    client = indexed.client()
    assert 'id="stale"' in client.get("/block/0").text  # the scenario's blocks are old
    for path in ("/no/such/page", "/docs/", "/tx/0x12"):
        text = client.get(path, headers={"Accept": "text/html"}).text
        assert "<footer>" in text and "Newest block" not in text and 'id="stale"' not in text, path


def test_the_pulse_of_the_home_page_is_charged_once_a_version(indexed):
    client = indexed.client(rate_limit_pages="3/minute")
    answers = [client.get("/live") for _ in range(9)]
    assert {answer.status_code for answer in answers} == {200}
    assert ["X-RateLimit-Remaining" in answer.headers for answer in answers[-6:]] == 6 * [False]
    again = client.get("/live", headers={"If-None-Match": answers[-1].headers["ETag"]})
    assert again.status_code == 304
    others = [client.get(f"/live?page={number}").status_code for number in range(5)]
    assert others[-1] == 429


def test_a_quiet_devnet_is_not_called_stale_and_a_chain_that_stopped_is_quiet(database_url, anvil):
    """A page that is cached says so, too, although no block comes and the version stays the same;
    and no longer once the node is back."""
    for seconds in (1, 1, 300, 1, 600, 1):
        anvil.call("evm_increaseTime", seconds)
        anvil.mine()
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        for _ in range(2):
            assert 'id="stale"' not in client.get("/tokens").text
        anvil.call("anvil_mine", hex(40), hex(12))
        indexing.wait_for(anvil.head())
        quiet = "The chain is quiet: its newest block"  # once the notification has come
        wait_until(lambda: quiet in client.get("/tokens").text)
        assert "age_seconds" in (metrics := client.get("/metrics").text)
        assert "scan_quiet_after_seconds 120.0" in metrics


def test_a_cached_page_says_when_the_node_is_gone(database_url, anvil, monkeypatch):
    monkeypatch.setattr(index_version, "READ_AGAIN_S", 0.0)
    monkeypatch.setattr(index_version, "LEAST_STALE_S", -1e9)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        for _ in range(2):
            fresh = client.get("/tokens")
            assert 'id="stale"' not in fresh.text
    known, unknown = (anvil.head(), 304, False), (None, 200, True)
    for path, (head, status, is_told) in (
        ("/blocks", unknown),
        ("/txs", known),
        ("/contracts", unknown),
    ):
        execute(database_url, "UPDATE indexer_status SET checked_at = now(), node_head = %s", head)
        client.get(path)  # that is not in the cache
        again = client.get("/tokens", headers={"If-None-Match": fresh.headers["ETag"]})
        assert again.status_code == status
        assert ("and the node&#39;s is not known: later activity" in again.text) is is_told


@pytest.mark.thorough
def test_years_that_datetime_does_not_know_are_served_everywhere(anvil, database_url):
    """As of chains that count milliseconds. The dates are those of PostgreSQL."""
    me, person = anvil.accounts[:2]
    coin = anvil.deploy(me, "Coin", "Coin", "COIN", 18)
    anvil.call("anvil_removeBlockTimestampInterval")
    for time_s in (253_402_300_800, 8_000_000_000_000):
        anvil.call("evm_setNextBlockTimestamp", time_s)
        hash_ = anvil.transact(me, coin, "mint", person, 5)
        anvil.mine()
    endless = {"stream", "events", "websocket"}
    etherscan_lists = [
        f"module=account&action=txlist&address={me}",
        f"module=account&action=tokentx&address={person}",
        f"module=logs&action=getLogs&address={coin.address}",
        "module=stats&action=dailytx&startdate=2023-01-01&enddate=9999-12-31",
    ]
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        [newest, earlier] = client.get("/api/v1/blocks?limit=2").json["blocks"]
        times = [earlier["timestamp"], newest["timestamp"]]
        assert times == ["10000-01-01T00:00:00Z", "255479-11-28T14:13:20Z"]
        assert f'<time datetime="{times[1]}" data-age>' in client.get("/block/0").text
        values = {"block": newest["number"], "transaction": hash_, "hash": hash_, "owner": person}
        values |= {"transaction_hash": hash_, "address": coin.address, "address_hash": person}
        paths = [
            re.sub(r"<(?:\w+:)?(\w+)>", lambda m: str(values.get(m[1], 1)), rule.rule)
            for rule in client.application.url_map.iter_rules()
            if "GET" in rule.methods and not endless & {*rule.rule.split("/")}
        ]
        for path in [*paths, *map("/api?{}".format, etherscan_lists)]:
            assert client.get(path).status_code != 500, path


def test_every_page_leads_to_the_state_of_the_index(client):
    state = client.get("/readyz").json
    page = client.get("/status").text
    assert f'href="/block/{state["indexedBlock"]}"' in page
    assert f"<dd>{state['chainId']}</dd>" in page and f"<dd>{state['version']}</dd>" in page
    assert '<a class="json" href="/readyz">' in page
    assert '<a href="/status">Status</a>' in client.get("/").text


def test_the_state_of_the_index_is_what_the_indexer_reported(clone, indexed_template):
    url = clone(indexed_template)
    report = (
        "INSERT INTO indexer_status (problem, checked_at, node_head)"
        " VALUES (nullif(%s, ''), now(), (SELECT max(number) FROM blocks))"
    )
    problem = '<p class="problem">no &lt;b&gt;node</p>'
    execute(url, "DELETE FROM indexer_status")
    page = client_over(url).get("/status").text
    assert "The indexer has not reported yet." in page
    execute(url, report, "")
    page = client_over(url).get("/status").text
    assert "The index is up to date with the node." in page and problem not in page
    execute(url, "DELETE FROM indexer_status")
    execute(url, report, "no <b>node")
    page = client_over(url).get("/status").text
    assert problem in page and "New blocks may not be indexed until this ends." in page
