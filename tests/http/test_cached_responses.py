"""Responses from the worker's loop: the same as a thread's, and counted alike."""

import re
import time
from collections import Counter
from contextlib import suppress

import orjson
import psycopg2
import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from scan.http.response_cache import CACHED_FOR_S
from tests.http.spellings import PATH, PATIENT, uncached
from tests.support import WAIT_S, database, http_client, serving


@pytest.fixture(scope="module")
def server(own_index):
    environment = {"RPC_URL": own_index.settings.rpc_urls[0], **PATIENT}
    with serving.gunicorn(
        own_index.url, SCAN_RATE_LIMIT_ANONYMOUS="100000/minute", **environment
    ) as address:
        yield address


def answered_by_the_loop(server, url, ask, *short_lived):
    """What `ask` returns of a client while every thread waits. Where a slow machine takes longer
    than the loop's cache lasts, a request waits for a thread, and all is tried once more."""
    answers = []

    def is_answered():
        with http_client.busy_threads(server, url, *short_lived), suppress(TimeoutError):
            client = http_client.Client(server)
            client.socket.settimeout(CACHED_FOR_S["/"])
            answers.append(ask(client))
        return bool(answers)

    serving.wait_until(is_answered)
    return answers[0]


def test_the_loop_and_threads_answer_alike(server, own_index, scenario):
    """In every kind of response about the chain: of a path, and of a body for /query."""
    block, transaction = scenario.truth.blocks[0], scenario.truth.transactions[0]
    token, person = scenario.truth.tokens[0]["address"], transaction["fromAddress"]
    paths = [
        "stats",
        "blocks?page=2&limit=3",
        f"blocks/{block['hash']}",
        f"transactions?address={person}",
        f"transactions/{transaction['hash']}",
        f"tokens/{token}/holders",
        f"addresses/{person}",
    ]
    filters = {"from": person, "blockFrom": 1}
    body = {"entity": "transactions", "filter": filters, "limit": 5, "orderBy": "asc"}
    questions = [(f"/api/v1/{path}", b"") for path in paths]
    questions.append(("/api/v1/query", orjson.dumps(body)))
    client = http_client.Client(server)
    first = [client.ask(*question) for question in questions]
    by_thread = [client.ask(*uncached(*question)) for question in questions]
    assert {one.status for one in first + by_thread} == {200}
    by_loop = answered_by_the_loop(
        server, own_index.url, lambda client: [client.ask(*question) for question in questions]
    )
    for question, *responses in zip(questions, first, by_thread, by_loop, strict=True):
        assert responses[0].lasting == responses[1].lasting == responses[2].lasting, question
        assert responses[0].body == responses[1].body == responses[2].body, question
        assert all(re.fullmatch("[0-9a-f]{16}", one["X-Request-Id"]) for one in responses)
    assert len({one["X-Request-Id"] for one in first + by_loop}) == 2 * len(questions)


def test_what_needs_no_thread_is_answered_while_all_are_busy(server, own_index):
    client = http_client.Client(server)
    malformed, unknown = "X-API-Key: nonsense\r\n", "X-API-Key: scan_" + "0" * 64 + "\r\n"
    assert client.ask(PATH, more=unknown).status == 401  # its look-up is remembered
    client.ask(PATH)

    def ask(client):
        for path in ("/", "/readyz", "/readyz/", "//readyz?x=1", "/?x=1"):  # nobody is charged
            assert client.ask(path).status == 200
        assert client.ask("/healthz").body == b'{"status":"alive"}'
        assert client.ask("/healthz", method="HEAD").status == 200
        for key in (malformed, unknown):
            assert client.ask("/api/v1/nothing", more=key).status == 401
        # The client's name of a request is taken where it is one.
        assert client.ask(PATH, more="X-Request-Id: mine.1\r\n")["X-Request-Id"] == "mine.1"
        assert client.ask(PATH, more="X-Request-Id: a b\r\n")["X-Request-Id"] != "a b"
        client.socket.sendall(b"GARBAGE\r\n\r\n")
        assert client.receive().status == 400

    answered_by_the_loop(server, own_index.url, ask, "/", "/readyz")


def test_what_is_not_about_the_chain_is_not_cached(server, own_index):
    others = [
        ("/api/v1/blocks/999999999", b""),
        ("/api/v1/keys?owner=0x" + "00" * 20, b""),
        ("/api/v1/query", b"{"),
    ]
    client = http_client.Client(server)
    for question in others * 2:
        client.ask(*question)
    with http_client.busy_threads(server, own_index.url):
        for question in others:
            asking = http_client.Client(server)
            asking.socket.settimeout(0.2)
            with pytest.raises(TimeoutError):
                asking.ask(*question)


def test_a_client_that_has_a_response_is_sent_304(server, own_index):
    client = http_client.Client(server)
    whole = client.ask(PATH)
    tag = whole["ETag"]
    assert whole["Cache-Control"] == "no-cache" and re.fullmatch('"[^"]+"', tag)
    for condition in (tag, f"W/{tag}", f'"other", {tag}', f'W/"a",W/{tag} , "b"', "*"):
        more = f"If-None-Match: {condition}\r\n"
        for path, method in ((PATH, "GET"), (PATH, "HEAD"), (uncached(PATH)[0], "GET")):
            response = client.ask(path, more=more, method=method)
            assert (response.status, response.body, response["ETag"]) == (304, b"", tag)
            assert "X-RateLimit-Remaining" in response and "Content-Type" not in response
    with http_client.busy_threads(server, own_index.url):
        assert client.ask(PATH, more=f"If-None-Match: {tag}\r\n").status == 304


def test_equal_bytes_have_an_equal_tag_after_a_commit(own_index):
    """So that a client's old page is still the newest, where the new block did not change it."""
    client, page = own_index.client(), "/api/v1/blocks?page=2&limit=5&orderBy=asc"
    tag = client.get(page).headers["ETag"]
    database.execute(
        own_index.url,
        "UPDATE chain SET version = version + 1;"
        " SELECT pg_notify('scan_chain', 'chain ' || version) FROM chain",
    )
    later = "/api/v1/blocks?page=3&limit=5&orderBy=asc"
    # What is read of a version that the process has not heard of yet has no tag.
    serving.wait_until(lambda: "ETag" in client.get(later).headers)
    again = client.get(page, headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")
    assert client.get(later).headers["ETag"] != tag


@pytest.mark.parametrize("more", ["", "Accept-Encoding: gzip\r\n"], ids=["plain", "gzip"])
@pytest.mark.parametrize("path", ["/api/v1/blocks?limit=20", "/blocks", "/api/v1/blocks/latest"])
def test_head_has_the_headers_of_get_before_anybody_asked(server, path, more):
    client = http_client.Client(server)
    path, _ = uncached(path)
    head, whole = (client.ask(path, more=more, method=method) for method in ("HEAD", "GET"))
    assert head.lasting == whole.lasting and head.body == b"" != whole.body


def test_other_clients_are_sent_the_whole(server):
    client = http_client.Client(server)
    tag = client.ask(PATH)["ETag"]
    too_long = tag + 200 * ', "a"'
    for condition in ('"other"', tag[:-1], tag.strip('"'), "", f"{tag}x", '"*"', too_long):
        assert client.ask(PATH, more=f"If-None-Match: {condition}\r\n").status == 200
    body = b'{"entity":"blocks"}'
    for condition in (tag, "*"):
        response = client.ask("/api/v1/query", body, f"If-None-Match: {condition}\r\n")
        assert response.status == 200 and "ETag" not in response
        missing = client.ask("/api/v1/blocks/99999999", more=f"If-None-Match: {condition}\r\n")
        assert missing.status == 404


def test_both_ways_are_counted_once_and_for_one_route(server):
    def counts():
        time.sleep(CACHED_FOR_S["/metrics"] + 0.1)
        totals = Counter()
        metrics = requests.get(f"{server}/metrics", timeout=WAIT_S).text
        for family in text_string_to_metric_families(metrics):
            for sample in family.samples:
                if sample.name in ("scan_http_requests_total", "scan_http_request_seconds_count"):
                    labels = (sample.labels[k] for k in ("route", "method"))
                    totals[(sample.name, *labels, sample.labels.get("status", ""))] += sample.value
        return totals

    client, before = http_client.Client(server), counts()
    for _ in range(20):
        client.ask(PATH)
    for _ in range(5):
        client.ask(*uncached(PATH))
        client.ask("/api/v1/blocks?limit=x")
        client.ask("/api/v1/blocks", method="PUT", body=b"{}")
        client.ask("/healthz")
    counted = counts() - before
    total, seconds = "scan_http_requests_total", "scan_http_request_seconds_count"
    assert counted[total, "/api/v1/blocks", "GET", "200"] == 25
    assert counted[total, "/api/v1/blocks", "GET", "400"] == 5
    assert counted[total, "/healthz", "GET", "200"] == 5
    assert counted[total, "unknown", "other", "405"] == 5
    assert counted[seconds, "/api/v1/blocks", "GET", ""] == 30


@pytest.mark.long
def test_a_process_without_requests_reads_its_notifications(database_url):
    """Or its backend waits for it, and with that one whoever drops a database of the server."""
    with serving.gunicorn(database_url) as server:
        assert requests.get(f"{server}{PATH}", timeout=WAIT_S).ok  # cached, so it listens
        patient = psycopg2.connect(database_url, options="-c statement_timeout=60000")
        try:
            patient.autocommit = True
            with patient.cursor() as cursor:
                cursor.execute(
                    "SELECT count(pg_notify('scan_chain', 'other ' || repeat('x', 50) || number))"
                    " FROM generate_series(1, 10000) AS number"
                )
                cursor.execute("CREATE DATABASE dropped_soon")
                cursor.execute("DROP DATABASE dropped_soon")
        finally:
            patient.close()
