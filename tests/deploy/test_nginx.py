"""deploy/nginx.conf beside the limits: slow clients, refusals in JSON, instances that are down."""

import json
import time
from pathlib import Path

import pytest
import requests

from tests.support import WAIT_S, serving, source_address


@pytest.fixture
def front(shared_server, tmp_path):
    with serving.nginx(tmp_path, [shared_server] * 3) as address:
        yield address


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),  # no Host
        (b"TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400),
        (b"GET /_scan/malformed HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: " + b"k" * 20_000 + b"\r\n\r\n", 431),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_refusals_are_json(front, request_bytes, status):
    head, _, body = serving.exchange(front, request_bytes).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"Content-Type: application/json" in head
    assert {"error", "code"} == set(json.loads(body))


def test_too_many_connections_of_one_client_are_refused_in_json(front):
    waiting = [serving.connect(front) for _ in range(100)]
    for connection in waiting:
        connection.sendall(b"POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
    time.sleep(0.2)
    response = requests.get(f"{front}/api/v1/x", timeout=WAIT_S)
    assert (response.status_code, response.json()["code"]) == (429, "rate_limited")
    for connection in waiting:
        connection.close()


@pytest.mark.parametrize("path", ["tokens?q=", "dex-trades?dex="])
def test_links_to_pages_of_a_long_query_fit_into_nginxs_buffer(front, path):
    answer = requests.get(f"{front}/api/v1/{path}{'%F0%9F%98%80' * 100}&page=2", timeout=WAIT_S)
    assert (answer.status_code, 'rel="first"' in answer.headers["Link"]) == (200, True)


def test_blockscouts_frontend_has_all_paths_but_scans(shared_server, tmp_path):
    of_frontend = "/ /api-docs /tx/0x1 /address/0x1/contract-verification /apis /assets/x.js /stats"
    of_scan = "/api/v1/x /api/v2/stats /api /v2/api /healthz /stats-service/api/v1/counters"
    included = (serving.ROOT / "deploy/nginx-blockscout.conf").read_text()

    def frontend(_environ, start_response):
        start_response("200 OK", [])
        return [b"a page of the frontend"]

    with serving.serving(frontend) as url:
        included = included.replace("127.0.0.1:3000", url.removeprefix("http://"))
        replaced = {"# include /etc/nginx/scan-blockscout.conf;": f"{included}#"}
        with serving.nginx(tmp_path, [shared_server] * 3, replaced) as front:
            bodies = {
                path: requests.get(front + path, timeout=WAIT_S).text
                for path in f"{of_frontend} {of_scan}".split()
            }
    pages = {path for path, body in bodies.items() if body == "a page of the frontend"}
    assert pages == {*of_frontend.split()}


def test_nginx_tells_people_by_a_page(tmp_path, shared_server):
    accepted = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    live = {"location / {": LIVE_HEALTH % shared_server}
    of_api = "api/v1/stats api v2/api?module=x bsc/api/v1/stats server/v2/x".split()
    with serving.nginx(tmp_path, [serving.NOWHERE] * 3, live) as front:
        page = requests.get(f"{front}/tx/0x1", headers=accepted, timeout=WAIT_S)
        others = [
            requests.get(f"{front}/{path}", headers=accepted, timeout=WAIT_S) for path in of_api
        ]
        others.append(requests.get(f"{front}/tx/0x1", timeout=WAIT_S))
        large, large_of_api = (
            requests.post(front + path, data=b"x" * 5_500_000, headers=accepted, timeout=WAIT_S)
            for path in ("/address/0x1/verify", "/api/v1/verify")
        )
    for answer, status, text in ((page, 503, "not available now"), (large, 413, "too large")):
        assert (answer.status_code, text in answer.text) == (status, True)
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert f"<h1>{status}</h1>" in answer.text and answer.headers["Retry-After"]
    assert {answer.status_code for answer in others} == {503}
    assert others[0].json()["code"] == "unavailable" and others[0].headers["Retry-After"] == "2"
    assert (large_of_api.status_code, large_of_api.json()["code"]) == (413, "too_large")


LIVE_HEALTH = "location = /healthz { proxy_pass %s; }\n    location / {"


def test_clients_that_dribble_hold_no_thread_of_an_instance(front):
    """Twice as many as there are threads, half way through their request's body."""
    slow = [serving.connect(front) for _ in range(16)]
    for connection in slow:
        connection.sendall(
            b"POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
    # Not after 15 s, when nginx gives them up.
    assert requests.get(f"{front}/healthz", timeout=WAIT_S).status_code == 200
    for connection in slow:
        connection.close()


def test_no_query_or_key_is_logged(shared_server, tmp_path):
    """Of Etherscan's form, searches and streams, also where no instance answers."""
    key = f"scan_{'0123456789abcdef' * 4}"
    paths = "api v2/api api/v1/blocks api/v1/stream socket/v2/websocket search bsc/search"
    for instances in ([shared_server] * 3, [serving.NOWHERE] * 3):
        live = {"location / {": LIVE_HEALTH % shared_server}
        with serving.nginx(tmp_path, instances, live) as front:
            for path in paths.split():
                url = f"{front}/{path}?module=none&apikey={key}"
                requests.get(url, headers={"Referer": url}, timeout=WAIT_S)
            requests.get(f"{front}/api&apikey={key}", timeout=WAIT_S)
            requests.post(f"{front}/api?apikey={key}", data=b"x" * 5_500_000, timeout=WAIT_S)
            serving.exchange(front, f"GET /api?apikey={key} HTTP/9.9\r\n\r\n".encode())
            serving.exchange(front, f"GET /?{key} {'a' * 20_000} HTTP/1.1\r\n\r\n".encode())
    text = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert key[:13] not in text and "?" not in text
    for path in paths.split():
        assert f'"GET /{path} HTTP/1.1" 503 ' in text
    assert f'"GET /api&apikey={key[:12]}... HTTP/1.1" 503 ' in text
    assert f" {serving.NOWHERE.removeprefix('http://')}" in text  # which instance failed


@pytest.mark.thorough
def test_a_frozen_instance_is_passed_over(shared_server, shared_database_url, tmp_path):
    """It still accepts connections; what it has received by then is not sent to another one."""
    shorter = {"proxy_read_timeout 15s;": "proxy_read_timeout 4s;"}
    shorter |= {"fail_timeout=5s": "fail_timeout=60s"}  # longer than a busy machine takes
    port = serving.free_port()
    with serving.gunicorn_started(shared_database_url, port) as frozen:
        instances = [serving.wait_for(port, frozen), shared_server, shared_server]
        with serving.nginx(tmp_path, instances, shorter) as front:
            workers = Path(f"/proc/{frozen.pid}/task/{frozen.pid}/children").read_text().split()
            with serving.frozen(*map(int, workers)):
                clients = [source_address.new_client() for _ in range(12)]
                first = serving.at_once(
                    12, lambda n: clients[n].get(f"{front}/healthz", timeout=WAIT_S)
                )
                answers = serving.at_once(
                    12, lambda n: clients[n].get(f"{front}/healthz", timeout=WAIT_S)
                )
                # A POST may have had its effect: no second instance receives it.
                posted = serving.at_once(
                    12, lambda n: clients[n].post(f"{front}/api/v1/keys", json={}, timeout=WAIT_S)
                )
    assert workers
    assert set(serving.statuses(first)) <= {200, 503}
    assert serving.statuses(answers) == {200: 12}
    assert set(serving.statuses(posted)) <= {400, 503}


@pytest.mark.thorough
def test_a_flood_is_refused_by_nginx_and_costs_the_instances_nothing(shared_server, tmp_path):
    """What the application's limits accept passes; unknown paths and preflights count, too."""
    with serving.nginx(tmp_path, [shared_server] * 3, {"rate=20r/s": "rate=1r/s"}) as front:
        flooder, other = source_address.new_client(), source_address.new_client()
        answers = [
            flooder.options(f"{front}/nothing") if n % 2 else flooder.get(f"{front}/nothing")
            for n in range(1300)
        ]
        assert {answer.status_code for answer in answers[:1120]} == {204, 404}
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused[-1].json()["code"] == "rate_limited"
        assert refused[-1].headers["Retry-After"] and "X-Request-Id" not in refused[-1].headers
        assert other.get(f"{front}/api/v1/nothing").status_code == 404


@pytest.fixture
def slow_instance():
    """An instance that writes a long file, of which nothing comes for two seconds; and the paths
    that it was asked for."""
    received = []

    def respond(environ, start_response):
        received.append(environ["PATH_INFO"])
        time.sleep(0 if environ["PATH_INFO"] == "/healthz" else 2)
        start_response("200 OK", [])
        return [b"{}"]

    with serving.serving(respond) as url:
        yield url, received


@pytest.mark.thorough
@pytest.mark.check
def test_only_files_may_take_long(slow_instance, tmp_path):
    replaced = {"proxy_read_timeout 15s;": "proxy_read_timeout 1s;"}
    files = [
        ("/api/v1/blocks", "*/*", 503),
        ("/api/v1/blocks?format=json", "*/*", 503),
        ("/api/v1/blocks?format=json", "text/csv", 503),
        ("/api/v1/blocks?format=csv", "*/*", 200),
        ("/bsc/api/v1/logs?topic0=0x1&format=ndjson", "*/*", 200),
        ("/api/v1/blocks", "application/json;q=0.1, text/csv", 200),
        ("/api/v1/blocks?limit=1", "application/x-ndjson", 200),
    ]
    with serving.nginx(tmp_path, [slow_instance[0]] * 3, replaced) as front:

        def ask(number):
            path, accept, _ = files[number]
            return requests.get(f"{front}{path}", headers={"Accept": accept}, timeout=WAIT_S)

        responses = serving.at_once(len(files), ask)
    assert [r.status_code for r in responses] == [status for _, _, status in files]


@pytest.mark.thorough
@pytest.mark.check
def test_a_slow_request_is_sent_to_one_instance(slow_instance, tmp_path):
    """What keeps one instance busy would keep the next one busy, too."""
    replaced = {
        "proxy_read_timeout 15s;": "proxy_read_timeout 1s;",
        "proxy_next_upstream_timeout 3s;": "proxy_next_upstream_timeout 500ms;",
    }
    path = f"/address/{tmp_path.name}"
    with serving.nginx(tmp_path, [slow_instance[0]] * 3, replaced) as front:
        assert requests.get(f"{front}{path}", timeout=WAIT_S).status_code == 503
    assert slow_instance[1].count(path) == 1
