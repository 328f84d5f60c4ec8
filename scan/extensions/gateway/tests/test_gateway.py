"""What the gateway passes on, and what no client and no chain takes from the others."""

import os
import signal
from contextlib import ExitStack, contextmanager
from pathlib import Path
from select import select
from uuid import uuid4

import pytest
import requests

from scan.extensions.gateway.forwarding import LARGE_RESPONSE_BYTES, REQUESTS_OF_CLIENT
from tests.support import serving, several_chains

TARGETS = [
    ("//evil/x", 404),
    ("http://evil/eth/api/v1/blocks", 400),
    ("/eth//evil/x", 404),
    ("/eth/metrics/", 404),
    ("/%65th/metrics", 404),
    ("/eth/%6detrics", 404),
    ("/eth/%2e%2e/metrics", 404),
    ("/eth//metrics", 404),
    ("/eth/%2fmetrics", 404),
    ("/eth///metrics//", 404),
    ("/eth/eth/metrics", 404),
    ("/eth//eth/metrics", 404),
    ("/%65th/%65th//%6detrics", 404),
    ("/bsc%0d%0aX-Injected:%20x", 404),
    ("/%65th/api/v1/blocks/0", 200),
    ("/eth?a=%0d%0aX-Injected:x", 308),
]


@pytest.mark.parametrize(("target", "status"), TARGETS)
def test_the_gateway_reads_paths_as_the_chains_do(front, target, status):
    """Nobody gets to another host, a chain's metrics or a header of the response by a path."""
    request = f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    head, _, body = serving.exchange(front.gateway, request.encode()).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"\nX-Injected" not in head
    assert b"scan_chain_info" not in body


@pytest.mark.parametrize("start", [b"&" * 5_000_000, b"&chainid=" * 500_000])
def test_a_hostile_form_reaches_the_chain_that_refuses_it(front, start):
    """The gateway searches it for one field; the chain counts the fields before it parses them."""
    urlencoded = {"Content-Type": "application/x-www-form-urlencoded"}
    body = start + b"&chainid=1"
    answer = requests.post(f"{front.gateway}/api", data=body, headers=urlencoded, timeout=30)
    assert answer.json()["result"] == "A form must have at most 200 fields."


def test_the_gateway_passes_on_large_responses(front):
    path = "/eth/docs/swagger-ui-bundle.js"
    plain = {"Accept-Encoding": "identity"}
    direct = requests.get(f"{front.instances['eth']}{path}", headers=plain, timeout=20)
    passed = requests.get(f"{front.gateway}{path}", headers=plain, timeout=20)
    assert len(direct.content) > LARGE_RESPONSE_BYTES
    assert passed.content == direct.content
    changed = {name for name in passed.headers if passed.headers[name] != direct.headers[name]}
    assert changed <= {"Date", "X-Request-Id"}


def test_the_gateway_passes_on_streams(front):
    url = f"{front.gateway}/eth/api/v1/stream?types=heads"
    with requests.get(url, stream=True, timeout=20) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        front.anvils["eth"].mine()
        assert any(line.startswith(b"event: ") for line in lines)


def stream_of(front, address):
    url = f"{front.gateway}/eth/api/v1/stream?types=heads"
    headers = {"X-Forwarded-For": address, "Connection": "close"}
    return requests.get(url, headers=headers, stream=True, timeout=20)


@pytest.mark.long
def test_the_gateway_has_as_many_streams_as_the_service(front):
    """Eleven addresses with the ten that each may have leave the others theirs."""
    with ExitStack() as stack:
        for address in [f"192.0.2.{number // 10}" for number in range(110)]:
            stream = stack.enter_context(stream_of(front, address))
            assert stream.status_code == 200, stream.text
        assert stack.enter_context(stream_of(front, "192.0.2.1")).status_code == 429


def test_a_stream_ends_at_the_service_with_its_client(front):
    """The thread of the gateway that reads it waits for up to 15 s for the next line."""
    serving.wait_until(lambda: open_streams(front) == 0, timeout_s=20)
    with stream_of(front, "192.0.2.77"):
        serving.wait_until(lambda: open_streams(front) == 1, timeout_s=20)
    serving.wait_until(lambda: open_streams(front) == 0, timeout_s=5)


def open_streams(front):
    text = requests.get(f"{front.instances['eth']}/metrics", timeout=10).text
    [line] = [line for line in text.splitlines() if line.startswith("scan_streams ")]
    return float(line.split()[1])


def test_limits_count_the_clients_address(front):
    """Behind a trusted proxy the gateway takes its word for it, and nobody else's."""
    path = "/v2/api?chainid=56&module=block&action=eth_block_number"
    remaining = []
    for headers in (
        {"X-Forwarded-For": "192.0.2.1"},
        {"X-Forwarded-For": "203.0.113.9, 192.0.2.1", "X-Scan-Limit-Key": "address"},
        {"X-Forwarded-For": "2001:db8:0:1::7"},
        {"X-Forwarded-For": "2001:db8:0:1::8", "Forwarded": "for=192.0.2.9"},
    ):
        answer = requests.get(f"{front.gateway}{path}", headers=headers, timeout=10)
        assert "X-Accel-Redirect" not in answer.headers
        remaining.append(int(answer.headers["X-RateLimit-Remaining"]))
    assert remaining == [9999, 9998, 9999, 9998]


def test_other_chains_go_on_while_one_hangs(front):
    """One hundred requests to a frozen service take nothing that others need."""
    block = {"module": "block", "action": "eth_block_number"}
    with ExitStack() as stack:
        stack.enter_context(frozen(front.processes["bsc"].pid))
        connections = [stack.enter_context(serving.connect(front.gateway)) for _ in range(100)]
        for connection in connections:
            connection.sendall(b"GET /bsc/api/v1/blocks HTTP/1.1\r\nHost: x\r\n\r\n")
        refused = len(connections) - REQUESTS_OF_CLIENT
        serving.wait_until(lambda: len(select(connections, [], [], 0)[0]) == refused)
        answer = several_chains.of_form(front.gateway, "/api", chainid="56", **block)
        assert (answer["status"], answer["message"]) == ("0", "NOTOK")
        assert "earlier requests" in answer["result"]  # of this client, at that chain
        answer = several_chains.of_form(front.gateway, "/api", chainid="1", **block)
        assert answer["result"] == hex(front.anvils["eth"].head())


@contextmanager
def frozen(arbiter):
    """Both processes of gunicorn: its arbiter would replace a worker that hangs."""
    workers = Path(f"/proc/{arbiter}/task/{arbiter}/children").read_text().split()
    processes = [arbiter, *map(int, workers)]
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


@pytest.mark.parametrize("behind", ["nginx", "gateway"])
def test_other_chains_go_on_while_one_is_dead(front, tmp_path, behind):
    of_dead = {**front.instances, "bsc": f"http://127.0.0.1:{serving.free_port()}"}
    with several_chains.fronted(front._replace(instances=of_dead), tmp_path) as own:
        require_one_dead_chain(own, own.url if behind == "nginx" else own.gateway)


def require_one_dead_chain(front, base):
    named = {"module": "block", "action": "eth_block_number", "chainid": "56"}
    query = requests.get(f"{base}/v2/api", params=named, timeout=20).json()
    for answer in (query, several_chains.of_form(base, "/v2/api", **named)):
        assert (answer["status"], answer["message"]) == ("0", "NOTOK")
        assert answer["result"].endswith("try again shortly.")
    contract = requests.get(f"{base}/v2/contract/56/{'0x' + 40 * '1'}", timeout=20)
    assert (contract.status_code, contract.json()["customCode"]) == (503, "unavailable")
    for path in (f"verify/{uuid4()}", f"contract/all-chains/{'0x' + 40 * '1'}"):
        assert requests.get(f"{base}/v2/{path}", timeout=20).status_code == 503
    blocks = requests.get(f"{base}/bsc/api/v1/blocks", timeout=20)
    assert (blocks.status_code, blocks.json()["code"]) == (503, "unavailable")
    listed = requests.get(f"{base}/v2/chainlist", timeout=20).json()["result"]
    assert [chain["status"] for chain in listed] == [1, 0]
    ready = requests.get(f"{front.gateway}/readyz", timeout=20)
    assert (ready.status_code, ready.json()["status"]) == (503, "unavailable")
    assert "bsc: does not answer" in ready.json()["problem"]
    answer = several_chains.of_form(base, "/api", **named | {"chainid": "1"})
    assert answer["result"] == hex(front.anvils["eth"].head())
