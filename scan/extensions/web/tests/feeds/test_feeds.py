"""Atom feeds: valid for a reader, with what the lists have, through forks."""

import feedparser
import pytest

from scan.ethereum.blocks import EventLog
from tests.support import indexing, made_blocks
from tests.support.database import execute, store_all_logs
from tests.support.serving import wait_until

ANNA, BERT = made_blocks.address("anna"), made_blocks.address("bert")
OF_ANNA = f"/address/0x{ANNA.hex()}/feed"
OF_TOKEN = f"/token/0x{made_blocks.TOKEN.hex()}/feed"
OF_EVENTS = f"/address/0x{made_blocks.TOKEN.hex()}/events/feed"


def read(client, path, **more):
    """A feed that a reader finds nothing wrong with."""
    answer = client.get(path, **more)
    assert answer.status_code == 200, answer.data
    assert answer.content_type == "application/atom+xml; charset=utf-8"
    feed = feedparser.parse(answer.data, sanitize_html=False)
    assert (feed.bozo, feed.version) == (False, "atom10")
    assert feed.feed.id.startswith("urn:uuid:") and feed.feed.title and feed.feed.updated_parsed
    assert feed.feed.author and {link.rel for link in feed.feed.links} == {"self", "alternate"}
    ids = [entry.id for entry in feed.entries]
    assert len({*ids}) == len(ids) and all(one.startswith("urn:uuid:") for one in ids)
    assert all(entry.title and entry.link and entry.updated_parsed for entry in feed.entries)
    return feed


@pytest.fixture
def chain(database_url, chain):
    store_all_logs(database_url)
    return chain


def test_feeds_have_what_the_lists_have(client):
    holder = client.get("/api/v1/token-transfers?limit=1").json["transfers"][0]
    own, token = holder["fromAddress"], holder["tokenAddress"]
    sent = client.get(f"/api/v1/transactions?address={own}&limit=50").json["transactions"]
    path = f"/api/v1/token-transfers?address={own}&limit=50"
    moved = client.get(path).json["transfers"]
    hashes = [
        ("/tx/" + r.get("hash", r.get("transactionHash")), r["timestamp"]) for r in (*sent, *moved)
    ]
    newest = sorted(hashes, key=lambda pair: pair[1], reverse=True)[:50]
    feed = read(client, f"/address/{own}/feed")
    assert [entry.updated for entry in feed.entries] == [time for _, time in newest]
    assert {entry.link for entry in feed.entries} <= {path for path, _ in hashes}
    path = f"/api/v1/token-transfers?tokenAddress={token}&limit=50"
    listed = client.get(path).json["transfers"]
    feed = read(client, f"/token/{token.upper().replace('0X', '0x')}/feed")
    hashes = [record["transactionHash"] for record in listed]
    assert [entry.link for entry in feed.entries] == [f"/tx/{hash_}" for hash_ in hashes]
    assert listed[0]["toAddress"] in feed.entries[0].content[0].value


def test_entries_of_removed_blocks_vanish_with_their_ids(chain, database_url):
    def feeds():
        fresh = indexing.client_over(database_url)
        return {path: read(fresh, path) for path in (OF_ANNA, OF_TOKEN, OF_EVENTS)}

    def ids(feed):
        return {entry.id for entry in feed.entries}

    chain.append([made_blocks.Move(ANNA, BERT, tokens=5)])
    kept = feeds()
    log = EventLog(0, 0, made_blocks.TOKEN, (b"\1" * 32,), b"\2")
    chain.append([made_blocks.Move(ANNA, BERT, tokens=7)], [log])
    before = feeds()
    assert [len(feed.entries) for feed in before.values()] == [4, 2, 1]
    chain.unwind(0)
    assert [*map(ids, feeds().values())] == [*map(ids, kept.values())]
    chain.append([made_blocks.Move(ANNA, BERT, tokens=7)], [log])
    for path, after in feeds().items():
        assert after.feed.id == before[path].feed.id
        assert ids(after) & ids(before[path]) == ids(kept[path])
        assert len(after.entries) == len(before[path].entries)


def test_a_reader_that_has_the_newest_feed_gets_304(chain, database_url):
    client = indexing.client_over(database_url)
    chain.append([made_blocks.Move(ANNA, BERT, tokens=5)])
    client.get("/api/v1/stats")  # from then on the application knows how old the newest block is
    for path in (OF_ANNA, OF_TOKEN, OF_EVENTS, "/verified-contracts/feed"):
        etag = client.get(path).headers["ETag"]
        again = client.get(path, headers={"If-None-Match": etag})
        assert (again.status_code, again.data) == (304, b"")
    chain.append([made_blocks.Move(BERT, ANNA)])
    wait_until(lambda: client.get(OF_ANNA, headers={"If-None-Match": etag}).status_code == 200)


def test_hostile_names_are_text(explorer, hostile, chain, database_url):
    """What XML cannot have is replaced."""
    for path in (f"/token/{hostile}/feed", f"/address/{hostile}/feed", "/verified-contracts/feed"):
        raw = explorer.client.get(path).data
        assert b"<script" not in raw and b"<svg" not in raw and "\u202e".encode() not in raw
        assert read(explorer.client, path).entries or "address" in path
    chain.append([made_blocks.Move(ANNA, BERT)])
    label = "]]>\x01\x1b\ufffe\uffff&<b>"
    execute(database_url, "INSERT INTO labels (address, label) VALUES (%s, %s)", BERT, label)
    [entry] = read(indexing.client_over(database_url), OF_ANNA).entries
    assert "]]>" in entry.title and "\ufffe" not in entry.title


def test_pages_link_their_feeds(client, explorer, hostile):
    for page, feeds in (
        (f"/address/{hostile}", [f"/address/{hostile}/feed"]),
        (f"/address/{hostile}?tab=events", [f"/address/{hostile}/feed"]),  # no logs are stored
        (f"/token/{hostile}", [f"/token/{hostile}/feed"]),
        ("/verified-contracts", ["/verified-contracts/feed"]),
        ("/", []),
    ):
        html = explorer.client.get(page).get_data(as_text=True)
        for feed in feeds:
            assert 'type="application/atom+xml" title=' in html
            assert html.count(f'href="{feed}"') == 2  # for programs, and for people
        assert html.count("application/atom+xml") == len(feeds)


def test_what_has_no_feed_is_refused(client, explorer):
    nobody = "0x" + "12" * 20
    assert read(client, f"/address/{nobody}/feed").entries == []
    for path, status in (
        (f"/token/{nobody}/feed", 404),
        (f"/address/{nobody}/nothing/feed", 404),
        (f"/address/{nobody}/events/feed", 404),  # whose logs are not stored
        ("/address/0x1/feed", 400),
        (f"/address/{nobody}/feed?page=2", 400),
    ):
        assert client.get(path).status_code == status, path
