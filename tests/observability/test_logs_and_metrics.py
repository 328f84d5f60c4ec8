"""What operators see: log lines with request ids and without secrets, and metrics."""

import io
import json
import logging
import math
import os
import re
import sys

import pytest
import requests
from gunicorn.config import Config
from prometheus_client.parser import text_string_to_metric_families

from scan.observability import logs, metrics
from scan.server.responses import GunicornLogs
from scan.settings import Settings
from tests.support import WAIT_S, indexing, serving, wallets

NODE = "https://user:pa55word@node.example/v3/0a1b2c3d4e5f?token=s3cret"
AS_JSON = pytest.mark.parametrize("lines", ["json"], indirect=True)


@pytest.fixture(params=["text", "json"])
def lines(request):
    """What the root logger writes in either format, and requests with it."""
    logs.configure(Settings(rpc_urls=(NODE,), log_format=request.param))
    [handler, *_], stream = logging.getLogger().handlers, io.StringIO()
    handler.setStream(stream)
    return stream


def test_every_line_of_a_request_has_its_id(client, lines):
    answer = client.get("/nothing", headers={"X-Request-Id": "from-the-client.1"})
    assert answer.headers["X-Request-Id"] == "from-the-client.1"
    assert all("from-the-client.1" in line for line in lines.getvalue().splitlines())
    logging.getLogger("scan.elsewhere").warning("afterwards")
    assert "from-the-client.1" not in lines.getvalue().splitlines()[-1]


@pytest.mark.parametrize("given", ["", "a b", 65 * "a", "x\ty", '"}', "ü"])
def test_an_id_that_could_break_a_line_is_replaced(client, given):
    answer = client.get("/healthz", headers={"X-Request-Id": given.encode().decode("latin-1")})
    assert answer.headers["X-Request-Id"] != given
    assert len(answer.headers["X-Request-Id"]) == 16


TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@AS_JSON
@pytest.mark.parametrize(
    ("traceparent", "trace_id"),
    [
        (f"00-{TRACE}-{SPAN}-01", TRACE),
        (f"cc-{TRACE}-{SPAN}-01-what=ever", TRACE),
        (f"00-{TRACE}-{SPAN}-01-more", None),
        (f"ff-{TRACE}-{SPAN}-01", None),
        (f"00-{TRACE.upper()}-{SPAN}-01", None),
        (f"00-{'0' * 32}-{SPAN}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        ("", None),
    ],
)
def test_lines_have_the_trace_of_their_request(lines, client, traceparent, trace_id):
    client.get("/api/v1/blocks?limit=1", headers={"traceparent": traceparent})
    [line] = map(json.loads, lines.getvalue().splitlines())
    assert line.get("traceId") == trace_id
    assert (line["path"], line["status"]) == ("/api/v1/blocks", 200)


@AS_JSON
def test_every_line_of_a_request_has_its_fields(lines):
    """Also those that are written before there is a status."""
    client = indexing.client_over("postgresql://nobody@127.0.0.1:1/gone")
    headers = {"X-Request-Id": "one", "traceparent": f"00-{TRACE}-{SPAN}-01"}
    client.get("/api/v1/blocks/a%0Ab", headers=headers)
    assert client.get("/api/v1/stats", headers=headers).status_code == 503
    written = [*map(json.loads, lines.getvalue().splitlines())]
    of_requests = [line for line in written if line.get("requestId") == "one"]
    assert {line["path"] for line in of_requests} == {"/api/v1/blocks/a%0Ab", "/api/v1/stats"}
    assert {line["traceId"] for line in of_requests} == {TRACE}
    assert any("status" not in line for line in of_requests)


@pytest.mark.check
def test_lines_below_the_level_are_left_out(monkeypatch):
    for text, least in (("warning", logging.WARNING), ("debug", logging.DEBUG)):
        monkeypatch.setenv("SCAN_LOG_LEVEL", text)
        GunicornLogs(Config())
        for name in ("scan.database", "gunicorn.error"):
            assert logging.getLogger(name).getEffectiveLevel() == least


def log_fault(reason, message, *values):
    """With its traceback, as code that catches a fault logs it."""
    try:
        raise ValueError(reason)
    except ValueError:
        logging.getLogger("scan").exception(message, *values)


@pytest.mark.check
@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"cannot reach {NODE}", "0a1b2c3d4e5f"),
        ("postgresql://scan:pa55word@db/scan refused", "pa55word"),
        (f"the key scan_{64 * 'a'} is unknown", 57 * "a"),
        ("signature 0x" + 65 * "ab", 20 * "ab"),
        ("secret " + 32 * "cd", 20 * "cd"),
    ],
)
def test_secrets_are_hidden(lines, text, secret):
    log_fault(text, "failed: %s", text)
    assert "failed: " in lines.getvalue()
    assert secret not in lines.getvalue()


def test_a_conversation_about_secrets_leaves_none_in_the_log(database_url, lines):
    """Keys, signatures and webhook secrets through the API, with a node that does not answer."""
    node = "http://127.0.0.1:1/v3/0a1b2c3d4e5f"
    logging.getLogger().handlers[0].setLevel(logging.DEBUG)
    client = indexing.client_over(database_url, node)
    request = wallets.key_request(wallets.new_wallet())
    key = client.post("/api/v1/keys", json=request).json["key"]
    owner, authorized = request["ownerAddress"], {"X-API-Key": key}
    hook = {"ownerAddress": owner, "url": "https://hooks.example.com/path-of-the-receiver"}
    created = client.post("/api/v1/webhooks", json=hook, headers=authorized)
    client.get(f"/api/v1/webhooks?owner={owner}", headers={"X-API-Key": key[:-1] + "0"})
    client.post("/api/v1/keys", json=request)
    secrets = [key, request["signature"], created.json["secret"], "0a1b2c3d4e5f"]
    assert created.status_code == 201 and lines.getvalue()
    assert [secret for secret in secrets if secret in lines.getvalue()] == []


LINE_ENDS = "\n", "\r\n", "\x0b", "\x1c", "\x85", "\u2028", "\u2029"
UNSEEN = "\x1b[2J", "\x7f", "\u202e", "\U000e0001"
EVERY_TEXT = pytest.mark.parametrize("text", LINE_ENDS + UNSEEN, ids=ascii)


def forged_with(text, lines):
    """A line that is forged with it, and all that is logged of a fault with that reason and of a
    record with that field: no line begins otherwise than Scan's own, and no character moves the
    cursor."""
    forged = f'foo"}} 1{text}2026-01-01T00:00:00.000Z ERROR scan.forged: ☃'
    log_fault(forged, "since block %d headers have %s", 7, forged)
    logging.getLogger("scan").error("after", extra={"fields": {"reason": forged}})
    written = lines.getvalue()
    assert not re.search(r"^(?![ {]|....-..-..T[^ ]+ ERROR scan: )", written.strip(), re.M)
    assert re.sub(r"[\n -~☃]", "", written) == "" and "☃" in written
    return forged, written


@pytest.mark.parametrize("lines", ["text"], indirect=True)
@pytest.mark.check
@EVERY_TEXT
def test_no_text_can_begin_a_line_or_move_the_cursor(lines, text):
    _, written = forged_with(text, lines)
    assert "\n  ValueError: foo" in written


@AS_JSON
@pytest.mark.check
@EVERY_TEXT
def test_no_text_can_begin_a_line_of_json_or_leave_it(lines, text):
    forged, written = forged_with(text, lines)
    first, second = map(json.loads, written.splitlines())
    assert forged in first["message"] and second["reason"] == forged


def test_query_strings_are_not_logged(client, lines):
    client.get("/api/v1/blocks?apikey=tell-nobody")
    assert "tell-nobody" not in lines.getvalue()


def scrape(client):
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def value(families, sample, **labels):
    found = [
        s.value
        for family in families.values()
        for s in family.samples
        if s.name == sample and labels.items() <= s.labels.items()
    ]
    return sum(found)


def test_what_nobody_serves_makes_no_new_series(client):
    for number in range(5):
        client.open(f"/nothing/{number}", method=f"ODD{number}")
    series = {
        tuple(sample.labels.values())
        for sample in scrape(client)["scan_http_requests"].samples
        if sample.labels["route"] == "unknown" and sample.labels["status"] == "404"
    }
    assert series
    assert not any("ODD" in label for labels in series for label in labels)


def test_the_state_of_the_index_is_told(client):
    families = scrape(client)
    head = client.get("/api/v1/stats").json["latestBlock"]
    assert value(families, "scan_head_block") == head
    assert value(families, "scan_lag_blocks") == 0
    assert value(families, "scan_database_up") == 1
    assert value(families, "scan_head_age_seconds") != 0
    assert value(families, "scan_rpc_calls_total", method="eth_chainId") > 0
    assert value(families, "scan_indexed_blocks_total") >= head


@pytest.mark.check
def test_a_process_whose_loop_hangs_is_not_alive(monkeypatch):
    monkeypatch.setattr(metrics, "_alive_until", math.inf)
    beat = metrics.beat
    # An indexer that another test has left running in this process beats, too.
    monkeypatch.setattr(metrics, "beat", lambda *_: None)
    port = serving.free_port()
    metrics.serve("127.0.0.2", port)
    url = f"http://127.0.0.2:{port}/healthz"

    def status():
        return requests.get(url, timeout=WAIT_S).status_code

    assert status() == 200  # it starts
    beat(-1.0)
    assert status() == 503
    beat(math.inf)
    assert status() == 200
    beat()
    assert status() == 200


@pytest.mark.parametrize("command", ["index", "deliver"])
def test_indexer_and_deliverer_name_their_chain_and_are_alive(own_index, scenario, command):
    port = serving.free_port()
    environment = {"DATABASE_URL": own_index.url, "RPC_URL": scenario.anvil.url}
    environment |= {"PATH": os.defpath, "SCAN_CHAIN_NAME": "A chain"}
    scan = [sys.executable, "-m", "scan", command, "--metrics-port", str(port)]
    with serving.ending(scan, env=environment, cwd=serving.ROOT) as process:
        url = serving.wait_for(port, process)
        told = 'scan_chain_info{chain_id="31337",name="A chain"} 1.0'
        serving.wait_until(lambda: told in requests.get(f"{url}/metrics", timeout=WAIT_S).text)
        answer = requests.get(f"{url}/healthz", timeout=WAIT_S)
        assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


def test_metrics_answer_without_a_database():
    families = scrape(indexing.client_over("postgresql://127.0.0.1:1/none"))
    assert value(families, "scan_database_up") == 0
    assert families["scan_database_up"].samples
