"""Items' media from documents at URLs that anybody may have written."""

import ipaddress

import pytest

from scan.extensions.items import item_metadata, media_cache
from scan.outbound import http_client
from tests.support import WAIT_S, serving
from tests.support.receiver import Answer

pytestmark = pytest.mark.check

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
SHORT = http_client.AttemptTimeouts(total_s=1.0, connect_s=0.5)
CONTENT_ID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"


@pytest.fixture
def fetcher(authority):
    return http_client.HttpClient(http_client.tls_context(str(authority.bundle)), SHORT)


def read(media, uri):
    """What there is once nothing is pending any more."""
    serving.wait_until(lambda: not media.of(uri, 7).is_pending)
    return media.of(uri, 7)


def test_metadata_and_picture_come_from_the_gateway(fetcher, receiver):
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
    document = f'{{"name":"Seven","image":"ipfs://{CONTENT_ID}/7.svg"}}'.encode()
    folder = f"/ipfs/{CONTENT_ID}"
    bodies = {f"{folder}/{7:064x}.json": document, f"{folder}/7.svg": svg}
    receiver.behaviour = lambda _, received: Answer(200, (), bodies[received.path])
    media = media_cache.ItemMedia(fetcher, receiver.url("/"), LOOPBACK)
    uri = f"ipfs://{CONTENT_ID}/{{id}}.json"
    first = media.of(uri, 7)
    expected = (media_cache.PENDING, True, False)
    assert (first.problem, first.is_pending, first.is_of_chain) == expected
    item = read(media, uri)
    assert item.metadata is not None and item.metadata.name == "Seven"
    assert item.picture == ("image/svg+xml", svg)
    assert not item.is_of_chain
    assert media.of(uri, 7) == item and len(receiver.received) == 2


def test_a_contract_does_not_reach_what_the_gateway_may(fetcher, receiver):
    media = media_cache.ItemMedia(fetcher, receiver.url("/"), LOOPBACK)
    item = read(media, receiver.url("/secret"))
    assert item.problem is not None and "not allowed" in item.problem
    assert read(media, f"{receiver.url('/')}ipfs/../secret").metadata is None
    assert [request.path for request in receiver.received if "secret" in request.path] == []


def test_failures_are_kept_for_a_while(fetcher, receiver):
    receiver.behaviour = lambda *_: Answer(500)
    now = [0.0]
    media = media_cache.ItemMedia(fetcher, receiver.url(""), LOOPBACK, now=lambda: now[0])
    uri = f"ipfs://{CONTENT_ID}"
    failed = read(media, uri)
    assert failed.problem == "The server responded with status 500."
    assert not failed.is_of_chain  # the server may have it later, without a block
    assert media.of(uri, 7).problem is not None and len(receiver.received) == 1
    now[0] = 301.0
    receiver.behaviour = lambda *_: Answer(200, (), b'{"name":"back"}')
    item = read(media, uri)
    assert item.metadata is not None and item.metadata.name == "back"


def test_slow_servers_bound_what_waits(fetcher, receiver):
    """Only documents wait, never a request; the rest is refused."""
    receiver.behaviour = lambda handler, _: handler.server.closing.wait(WAIT_S) and None
    media = media_cache.ItemMedia(fetcher, receiver.url(""), LOOPBACK)
    problems = [
        media.of(f"ipfs://{CONTENT_ID}/{n}", 0).problem for n in range(media_cache.MAX_WAITING + 10)
    ]
    assert set(problems) == {media_cache.PENDING, media_cache.BUSY}


def document(name, *, is_chosen=False):
    return media_cache.Document(f"https://{name}/", 100, is_chosen)


def test_waiting_documents_are_bounded_by_site_and_in_all():
    documents = media_cache.DocumentQueue(now=lambda: 0.0)
    most, of_site = media_cache.MAX_WAITING, media_cache.MAX_WAITING_OF_SITE
    for site, count, accepted in (
        ("{}.one.example", most, of_site),
        ("site{}.example", 2, 2),
        ("more{}.example", 2 * most, most - of_site - 2),
    ):
        put = [documents.put(document(site.format(n))) for n in range(count)]
        assert sum(put) == accepted, site


def test_a_site_is_asked_no_more_than_its_rate():
    now = [0.0]
    documents = media_cache.DocumentQueue(now=lambda: now[0])

    def fetch(count, *, is_chosen=False):
        accepted = 0
        for number in range(count):
            if documents.put(document(f"{number}.one.example", is_chosen=is_chosen)):
                documents.done(documents.take(), 0.1)
                accepted += 1
        return accepted

    assert fetch(media_cache.DOCUMENTS_PER_MINUTE + 20) == media_cache.DOCUMENTS_PER_MINUTE
    assert fetch(10, is_chosen=True) == 10
    now[0] = 61.0
    assert fetch(media_cache.DOCUMENTS_PER_MINUTE + 20) == media_cache.DOCUMENTS_PER_MINUTE


def test_slow_sites_share_two_fetchers():
    now = [0.0]
    documents = media_cache.DocumentQueue(now=lambda: now[0])
    names = [f"slow{n}.com" for n in range(6)]
    for name in names:
        assert documents.put(document(name))
    for running in [documents.take() for _ in names]:
        documents.done(running, 8.0)
    for name in [*names, "quick.org", "quick.org"]:
        assert documents.put(document(name))
    assert documents.put(document("slow0.com", is_chosen=True))
    running = [documents.take() for _ in range(5)]
    expected = ["quick.org", "quick.org", "slow0.com", "slow0.com", "slow1.com"]
    assert sorted(one.site for one in running) == expected
    now[0] = media_cache.SLOW_FOR_S + 1
    assert {documents.take().site for _ in range(4)} == set(names[2:])


def test_sites_are_forgotten():
    now = [0.0]
    documents = media_cache.DocumentQueue(now=lambda: now[0])

    for number in range(media_cache.MAX_SITES):
        assert documents.put(document(f"site{number}.com"))
        documents.done(documents.take(), 0.1)
    assert not documents.put(document("one.more.com"))
    now[0] = 61.0
    assert documents.put(document("one.more.com"))


@pytest.mark.parametrize("uri", ["https://[", "https://a.example:x/", "https://" + "a" * 70_000])
def test_malformed_urls_do_not_wait(uri, fetcher):
    media = media_cache.ItemMedia(fetcher).of(uri, 7)
    assert media.problem is not None and media.problem.startswith("The URL is not allowed")


def test_without_a_fetcher_only_data_uris_are_read():
    media = media_cache.ItemMedia(None)
    assert media.of("https://example.com/7", 7).problem == media_cache.OFF
    item = media.of('data:,{"name":"on chain","image":"https://example.com/7.png"}', 7)
    assert item.metadata is not None and item.metadata.name == "on chain"
    assert (item.picture, item.problem) == (None, media_cache.OFF)
    item = media.of('data:,{"image":"data:;base64,PHN2ZyA+PC9zdmc+"}', 7)
    assert item.picture == ("image/svg+xml", b"<svg ></svg>")
    assert item.is_of_chain
    nested = "data:;base64," + "A" * 2 * item_metadata.MAX_DOCUMENT_BYTES
    assert media.of(nested, 7).metadata is None
