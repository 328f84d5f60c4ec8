"""Names that other hosts keep (EIP-3668): contracts name the hosts, and anybody makes contracts."""

import ipaddress
import json
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from eth_abi import encode

from scan.extensions.names import gateways, name_services, node_names, primary_names
from scan.extensions.names.gateways import Gateways, Lookup, NoAnswer
from scan.extensions.names.tests.names_of_chain import HAS_SEARCH, served, service_of
from scan.outbound.http_client import AttemptTimeouts, HttpClient, tls_context
from tests.support import WAIT_S, lists, serving
from tests.support.receiver import Answer

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
SENDER = bytes(19) + b"\x01"


def answer_with(value):
    return Answer(200, (), json.dumps({"data": f"0x{value.hex()}"}).encode())


def says(address):
    return lambda *_: answer_with(encode(["address"], [address]))


@pytest.fixture
def with_gateways(ens, indexing, authority):
    """The service that asks gateways, by an interface."""

    def serve(interface):
        choice = name_services.Choice(service_of(interface, ens), True)
        return served(ens, indexing, ens.anvil, choice, ca_bundle=str(authority.bundle))

    return serve


@pytest.fixture(params=[*name_services.Interface])
def asking(request, with_gateways, monkeypatch):
    """That may reach gateways of this machine."""
    monkeypatch.setattr(gateways, "ALLOWED", LOOPBACK)
    return with_gateways(request.param)


@pytest.mark.parametrize(
    ("path", "begin", "members"),
    [("/names/{sender}/{data}.json", "/names/0x", set()), ("/names", "/names", {"data", "sender"})],
    ids=["GET", "POST"],
)
def test_a_name_is_what_its_gateway_answers(asking, receiver, path, begin, members):
    ens, grace = asking.ens, asking.ens.people[7]
    ens.resolve_by("grace.eth", ens.offchain([receiver.url(path)]))
    ens.choose(grace, "grace.eth")
    asking.follow()
    receiver.behaviour = says(grace)
    assert asking.lookup("grace.eth").json["address"] == grace
    assert asking.of(grace) == ("grace.eth", None)
    assert "grace.eth" in asking.page(f"/address/{grace}")
    assert not HAS_SEARCH or [r["value"] for r in asking.search("grace.eth")] == [grace]
    request = receiver.received[0]
    assert request.path.startswith(begin)
    assert json.loads(request.body or b"{}").keys() == members
    assert not {"Cookie", "Authorization", "Referer"} & set(request.headers)


@pytest.mark.thorough
def test_what_gateways_said_is_kept_for_a_while(asking, receiver):
    """Also that they said nothing: a slow one must not delay each page."""
    ens, grace = asking.ens, asking.ens.people[7]
    ens.resolve_by("kept.eth", ens.offchain([receiver.url("/{data}")]))
    ens.choose(grace, "kept.eth")
    asking.follow()
    receiver.behaviour = lambda *_: Answer(500)
    for _ in range(3):
        assert asking.of(grace) == (None, "off_chain")
        assert asking.lookup("kept.eth").status_code == 404
        asking.mine()
    assert len(receiver.received) == 2  # one of the address, one of the name


def test_lists_ask_no_gateways(asking, receiver):
    ens, heidi = asking.ens, asking.ens.people[8]
    ens.resolve_by("heidi.eth", ens.offchain([receiver.url("/{data}")]))
    ens.choose(heidi, "heidi.eth")
    ens.anvil.send(heidi, ens.people[0], value=1)
    asking.follow()
    receiver.behaviour = says(heidi)
    assert "heidi.eth" not in asking.page("/txs")
    assert receiver.received == []


@pytest.mark.thorough
def test_few_names_of_a_request_are_looked_up(asking, receiver):
    ens, people = asking.ens, asking.ens.people[:6]
    resolver = ens.offchain([receiver.url("/{data}")])
    for number, person in enumerate(people):
        ens.resolve_by(f"many{number}.eth", resolver)
        ens.choose(person, f"many{number}.eth")
    asking.follow()
    receiver.behaviour = lambda *_: Answer(404)
    records = lists.get(asking.client, "/addresses", addresses=",".join(people))["addresses"]
    assert [record["nameProblem"] for record in records] == ["off_chain"] * 6
    assert len(receiver.received) == node_names.MAX_LOOKUPS


MOST = gateways.MAX_NESTED


@pytest.mark.thorough
@pytest.mark.parametrize(("depth", "status"), [(MOST, 200), (MOST + 1, 404)])
def test_nested_lookups_end(asking, receiver, depth, status):
    ens, alice = asking.ens, asking.ens.people[0]
    ens.resolve_by("deep.eth", ens.offchain([receiver.url("/{data}")], depth=depth))
    asking.follow()
    receiver.behaviour = says(alice)
    assert asking.lookup("deep.eth").status_code == status
    assert len(receiver.received) == min(depth, MOST)


def test_a_lookup_that_names_another_sender_is_not_made(asking, receiver):
    """By a registry: a universal resolver makes a batch of lookups of whatever it calls."""
    ens, alice = asking.ens, asking.ens.people[0]
    ens.resolve_by("wrong.eth", ens.offchain([receiver.url("/{data}")], sender=alice))
    asking.follow()
    receiver.behaviour = says(alice)
    asking.lookup("wrong.eth")
    assert not any(f"{alice}" in request.path for request in receiver.received)


def test_private_addresses_are_refused(ens, with_gateways, receiver):
    urls = [
        *(receiver.url("/{data}"), receiver.url("/{data}", host="127.0.0.1")),
        *("http://localhost/{data}", "https://169.254.169.254/{data}", "https://[::1]/{data}"),
        *("https://user:word@localhost/{data}", "file:///etc/passwd", "data:application/json,{}"),
        *(gateways.BATCH_URL + "x", "\u202e"),
    ]
    named = with_gateways(name_services.Interface.REGISTRY)
    for number, url in enumerate(urls):
        ens.resolve_by(f"inside{number}.eth", ens.offchain([url]))
    named.follow()
    for number in range(len(urls)):
        answer = named.lookup(f"inside{number}.eth")
        assert answer.status_code == 404, urls[number]
        assert "EIP-3668" in answer.json["error"]
    assert receiver.received == []


def endless(handler, _received):
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.closing.is_set():
        handler.wfile.write(b" " * 65_536)


@pytest.fixture
def hasty(authority):
    timeouts = AttemptTimeouts(total_s=1.0, connect_s=1.0)
    return Gateways(HttpClient(tls_context(str(authority.bundle)), timeouts), LOOPBACK)


def ask(client, urls, data=b"\x01"):
    lookup = Lookup(SENDER, [url.encode() for url in urls], data, b"1234", b"")
    return client.answer(lookup, time.monotonic() + 3.0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(endless, id="endless"),
        pytest.param(lambda *_: Answer(403, (), b"{}"), id="refused"),
        pytest.param(lambda *_: Answer(500, (), b"{}"), id="broken"),
        pytest.param(lambda *_: Answer(200, (), b"<html>"), id="no JSON"),
        pytest.param(lambda *_: Answer(200, (), b"[]"), id="a list"),
        pytest.param(lambda *_: Answer(200, (), b'{"data":7}'), id="no data"),
        pytest.param(lambda *_: Answer(200, (), b'{"data":"0x1"}'), id="half a byte"),
        pytest.param(lambda *_: Answer(200, (), b"[" * 100_000), id="nested"),
        pytest.param(lambda *_: Answer(200, (), b"1" * 400_000), id="digits"),
    ],
)
def test_hostile_gateways_give_no_answer(hasty, receiver, behaviour):
    receiver.behaviour = behaviour
    with pytest.raises(NoAnswer) as failure:
        ask(hasty, [receiver.url("/{data}")])
    assert str(failure.value).isprintable() and len(str(failure.value)) < 100


@pytest.mark.thorough
def test_the_next_gateway_is_tried_after_a_fault_and_not_after_a_refusal(hasty, receiver):
    urls = [receiver.url(f"/{number}/{{data}}") for number in range(6)]
    answers = {"0": Answer(500), "1": answer_with(b"\x07")}
    receiver.behaviour = lambda _, received: answers[received.path.split("/")[1]]
    assert ask(hasty, urls) == b"\x07"
    answers["0"] = Answer(404)
    with pytest.raises(NoAnswer):
        ask(hasty, urls)
    assert len(receiver.received) == 3
    receiver.behaviour = lambda *_: Answer(500)
    with pytest.raises(NoAnswer):
        ask(hasty, urls)
    assert len(receiver.received) == 3 + gateways.MAX_URLS


def batch(*urls):
    requests = [(SENDER, [url], bytes([number])) for number, url in enumerate(urls)]
    return gateways.QUERY + encode(["(address,string[],bytes)[]"], [requests])


@pytest.mark.thorough
def test_a_batch_is_made_here_and_says_what_failed(hasty, receiver):
    receiver.behaviour = lambda _, received: (
        Answer(404) if received.path == "/no/0x01" else answer_with(b"\x07")
    )
    data = batch(receiver.url("/yes/{data}"), receiver.url("/no/{data}"), gateways.BATCH_URL)
    failed = [
        bytes.fromhex("01800152") + encode(["uint16", "string"], words)
        for words in ((404, "a gateway refused"), (500, "no gateway answered"))
    ]
    answer = encode(["bool[]", "bytes[]"], [[False, True, True], [b"\x07", *failed]])
    assert ask(hasty, [gateways.BATCH_URL], data) == answer


def array_of(length, *words):
    return b"".join(number.to_bytes(32) for number in (32, length, *words))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "data",
    [
        b"",
        gateways.QUERY,
        b"1234" + batch("https://a.example"),
        batch(*["https://a.example"] * (gateways.MAX_BATCHED + 1)),
        gateways.QUERY + array_of(2**255),
        # Four thousand pointers to one request of 100 KB.
        gateways.QUERY + array_of(4000, *[0] * 4000) + bytes(100_000),
    ],
    ids=range(6),
)
def test_malformed_batches_are_refused(hasty, data):
    with pytest.raises(NoAnswer):
        ask(hasty, [gateways.BATCH_URL], data)


OF_LOOKUP = ["address", "string[]", "bytes", "bytes4", "bytes"]
MALFORMED_LOOKUPS = {
    "empty": b"",
    "selector": b"\x55\x6f\x18\x30",
    "ones": b"\x55\x6f\x18\x30" + b"\xff" * 320,
    "another sender": b"\x55\x6f\x18\x30" + encode(OF_LOOKUP, [bytes(20), [], b"", b"", b""]),
    "many": b"\x55\x6f\x18\x30" + encode(OF_LOOKUP, [SENDER, ["a"] * 10_000, b"", b"", b""]),
}


@pytest.mark.parametrize("returned", MALFORMED_LOOKUPS.values(), ids=MALFORMED_LOOKUPS)
def test_malformed_lookups_are_refused(returned):
    with pytest.raises(NoAnswer):
        Lookup.of_revert(returned, SENDER)


@pytest.mark.thorough
def test_no_gateway_is_asked_when_the_time_is_over(hasty, receiver):
    lookup = Lookup(SENDER, [receiver.url("/{data}").encode()], b"", b"1234", b"")
    with pytest.raises(NoAnswer):
        hasty.answer(lookup, time.monotonic() - 1.0)
    assert receiver.received == []


@pytest.mark.check
@pytest.mark.parametrize("name", ["data", "sender"])
def test_a_long_url_is_not_made(name):
    contract = bytes([7]) * 20
    url = b"https://gateway.example/" + f"{{{name}}}".encode() * 5_000
    lookup = Lookup(contract, [url], bytes(100_000), b"\1\2\3\4", b"")
    tracemalloc.start()
    try:
        with pytest.raises(NoAnswer):  # before a fetcher would be asked
            Gateways(None, ()).answer(lookup, time.monotonic() + 60)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


@pytest.fixture
def patient(monkeypatch):
    """A client that gave its place back pauses until the test ends, on a busy machine, too."""
    monkeypatch.setattr(primary_names, "PAUSE_FACTOR", 1e6)


@pytest.mark.thorough
@pytest.mark.usefixtures("patient")
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
    client = asking.client.application.test_client()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.get, "/api/v1/names/slow.eth")
        receiver.wait_for(1)
        try:
            assert asking.lookup("second.eth").status_code == 404
            assert len(receiver.received) == 1
        finally:
            answered.set()
        assert slow.result(WAIT_S).status_code == 200
    assert asking.lookup("second.eth").json["address"] == alice


@pytest.mark.thorough
@pytest.mark.usefixtures("patient")
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
        peer = {"REMOTE_ADDR": client}
        client = asking.client.application.test_client()
        return client.get(f"/api/v1/names/new{number}.eth", environ_base=peer).status_code

    receiver.behaviour = slowly
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(look_up, 0, "192.0.2.1")
        receiver.wait_for(1)
        second = pool.submit(look_up, 1, "192.0.2.2")
        receiver.wait_for(2)
        answered[1].set()
        assert second.result(WAIT_S) == 200
        third = pool.submit(look_up, 2, "192.0.2.2")
        serving.wait_until(lambda: third.done() or len(receiver.received) > 2)
        answered[3].set()
        try:
            assert look_up(3, "192.0.2.3") == 200
        finally:
            for event in answered:
                event.set()
        assert (first.result(WAIT_S), third.result(WAIT_S)) == (200, 404)
