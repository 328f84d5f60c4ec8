"""The bundled demo chain, replayed and indexed as `make run` does it, and the commands of
the documents, run with it."""

import json
import os
import re
import shutil
import sys
import time
from collections import namedtuple
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import requests

from app import create_app
from scan.extensions.demo import demo_chain, demo_run, replay
from scan.extensions.demo.demo_node import RECORDING, DemoNode
from scan.extensions.demo.demo_run import LINKS
from scan.extensions.demo.tests.conftest import DEMO
from tests.support import WAIT_S, expected
from tests.support.documents import (
    POSTGRES,
    RUN_HERE,
    SLOW,
    STRICT_CURL,
    answers_below,
    is_shortened,
)
from tests.support.indexing import Indexing, settings_for
from tests.support.scan_run import scan_run
from tests.support.serving import completed, gunicorn

STARTED_AT = 1_800_000_000
RECORDED_BLOCKS, SILENT_S = 722, 120.0


@pytest.fixture(scope="module")
def demo(postgres, template):
    """As it starts, before blocks are added."""
    node = DemoNode(demo_chain.DemoChain(replay.read_lines(RECORDING), ended_at=STARTED_AT))
    with postgres.cloned(template) as url, Indexing(url, node.url) as indexing:
        demo_run.load(indexing.settings)
        indexing.wait_for(node.recording.head)
        yield indexing.client()
    node.stop()


def query(demo, entity):
    return list(demo.post("/api/v1/query", json={"entity": entity, "limit": 100}).json["data"])


def test_the_recording_is_small_and_long_enough(demo_node):
    largest_bytes = 3 * 1024 * 1024
    assert DEMO.stat().st_size <= largest_bytes
    assert demo_node.recording.head >= 300


def test_every_endpoint_is_asked_once(demo):
    """With what the demo chain has; each answer is held against the OpenAPI document as well."""
    token = next(t["address"] for t in query(demo, "tokens") if t["type"] == "BEP721")
    [item] = demo.get(f"/api/v1/tokens/{token}/items?limit=1").json["items"]
    newest = query(demo, "transactions")[0]["hash"]
    known = {"address": token, "token_id": item["tokenId"], "transaction_hash": newest}
    known |= {"path": "index.html", "address_hash": token}
    for rule in demo.application.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(known.get(match[1], "1")), rule.rule)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            body = {} if method in ("POST", "PUT", "PATCH") else None
            assert demo.open(path, method=method, json=body).status_code < 500, (method, path)


@pytest.mark.thorough
def test_every_fragment_of_a_contracts_page_is_on_the_page_that_it_leads_to(demo):
    """Of the newest contracts, and where a function was called without a script."""
    html = {}
    for contract in demo.get("/api/v1/contracts?limit=8").json["contracts"]:
        path = f"/address/{contract['address']}"
        for view in ("", "&view=read", "&view=write"):
            html[f"{path}?tab=contract{view}"] = demo.get(f"{path}?tab=contract{view}").text
        read = html[f"{path}?tab=contract&view=read"]
        for function in re.findall(r'name="function" value="([^"]+)"', read)[:1]:
            called = demo.post(f"{path}/call", data={"function": function}).text
            assert called.count(' id="0x') == read.count(' id="0x'), (path, function)
            assert len(called) < len(read) + 10_000
            html[f"{path}/call"] = called
    links = []
    for page, text in html.items():
        for link in re.findall(r'<a[^>]* href="([^"]*#[^"]+)"', text):
            target, _, fragment = unescape(link).partition("#")
            links.append((target or page, fragment))
    html |= {target: demo.get(target).text for target in {t for t, _ in links} - html.keys()}
    assert len(links) > 100 and len(html) > 20
    for target, fragment in links:
        ids = (f'id="{fragment}"', f"id={fragment}>")
        assert any(text in html[target] for text in ids), (target, fragment)


def test_a_verified_proxy_is_read_by_its_implementation(demo):
    """Which refuses `proxiableUUID` to it: a function without a value has its form on the page."""
    result, *_ = demo.get("/api/v1/search?q=Harbor Savings").json["results"]
    path = f"/address/{result['value']}"
    values = demo.get(f"/api/v1/contracts/{result['value']}/values").json["values"]
    failed = [value["function"] for value in values if value.get("error")]
    assert "proxiableUUID()" in failed and len(failed) < len(values)
    read = demo.get(f"{path}?tab=contract&view=read").text
    called = demo.post(f"{path}/call", data={"function": "proxiableUUID()"}).text
    for html in (read, called):
        assert html.count("<dt><code>") >= len(values)
        for function in failed:
            assert f'name="function" value="{function}"' in html
    assert '<details class="function" open>' in called


@pytest.mark.thorough
def test_failed_calls_have_reasons_and_traces(demo):
    answer = demo.post(
        "/api/v1/query", json={"entity": "transactions", "filter": {"status": False}, "limit": 100}
    )
    errors = {}
    for row in answer.json["data"]:
        path = f"/api/v1/transactions/{row['hash']}"
        error = demo.get(path).json["error"]
        assert error["kind"] != "unknown" and not error["approximate"]
        errors[error["name"] or error["kind"]] = path
    assert {"TooDark", "NotYours", "WentDark", "Panic", "Error", "out_of_gas"} <= errors.keys()
    trace = demo.get(f"{errors['TooDark']}/trace").json
    lit = [frame["function"]["name"] for frame in trace["frames"]]
    assert lit[0] == "march" and lit[1:] == ["light"] * (len(lit) - 1)
    assert demo.get(f"{errors['TooDark']}/state-changes").json["accountCount"] > 0
    page = demo.get(errors["TooDark"].replace("/api/v1/transactions", "/tx")).text
    assert "TooDark" in page and "Procession" in page


@pytest.mark.thorough
def test_failures_have_their_lines_and_the_newest_transactions_their_gas_by_line(demo):
    failed = {"entity": "transactions", "filter": {"status": False}, "limit": 100}
    rows = demo.post("/api/v1/query", json=failed).json["data"]
    callees = {row["hash"]: row["toAddress"] for row in rows}
    names = {
        to: demo.get(f"/api/v1/contracts/{to}").json["contractName"] for to in {*callees.values()}
    }
    of_verified = [hash_ for hash_, to in callees.items() if names[to] is not None]
    assert of_verified
    for hash_ in of_verified:
        location = demo.get(f"/api/v1/transactions/{hash_}").json["error"]["location"]
        assert location["line"] or location["function"], hash_


def test_a_transaction_waits_in_the_pool_and_approvals_are_in_force(demo):
    result, *_ = demo.get("/api/v1/search?q=Patient saver").json["results"]
    path = f"/api/v1/addresses/{result['value']}/pending-transactions"
    first, second = demo.get(path).json["pendingTransactions"]
    assert (first["queued"], second["queued"]) == (False, True)
    page = demo.get(f"/tx/{first['hash']}").text
    assert "pending" in page and "Patient saver" in page
    approved = {"entity": "logs", "filter": {"topic0": "Approval"}, "limit": 100}
    logs = demo.post("/api/v1/query", json=approved).json["data"]
    owners = {log["event"]["arguments"][0]["value"] for log in logs}
    approvals = [
        approval
        for owner in owners
        for approval in demo.get(f"/api/v1/addresses/{owner}/approvals").json["approvals"]
    ]
    assert {approval["unavailable"] for approval in approvals} == {None}


def test_two_clicks_lead_from_the_home_page_to_what_the_demo_shows(demo):
    """By the links of pages alone."""
    # The demo with the links of its operator.
    settings = demo.application.extensions["scan"].settings
    linked = create_app(demo_run.with_links(settings)).test_client()
    home = links_of(linked, "/")
    [failed] = [path for path in home if path.startswith("/txs?status=false")]
    first = next(path for path in links_of(linked, failed) if is_transaction(path))
    assert re.search(r"\.sol#L[0-9]+", linked.get(first).text)
    newest = next(path for path in home if is_transaction(path))
    [gas] = {path for path in links_of(linked, newest) if path.endswith("?tab=gas")}
    assert gas.startswith("/tx/") and linked.get(gas).status_code == 200
    shown = {"storage": "totalDeposits", "approvals": "Amount", "pending": "?tab=pending"}
    for tab, text in shown.items():
        [path] = [path for path in home if path.endswith(f"?tab={tab}")]
        page = linked.get(path)
        assert page.status_code == 200 and text in page.text, tab
    assert any(">proven</a>" in linked.get(path).text for path in home if path in LINKS.values())


def is_transaction(path):
    return re.fullmatch("/tx/0x[0-9a-f]{64}", path) is not None


def links_of(client, path):
    return [unescape(link) for link in re.findall('href="([^"]+)"', client.get(path).text)]


def test_accounts_and_slots_are_proven(demo):
    """By the state's root in the block that the indexer has checked."""
    for person in {row["fromAddress"] for row in query(demo, "transactions")}:
        proof = demo.get(f"/api/v1/addresses/{person}/proof").json
        assert proof["balance"] == demo.get(f"/api/v1/addresses/{person}").json["balance"]
        assert ">proven</a>" in demo.get(f"/address/{person}").text


def test_calls_of_contracts_that_are_not_verified_have_names_and_results(demo):
    swaps = demo.get("/api/v1/dex-trades?limit=100").json["trades"]
    results = {
        frame["function"]["name"]: frame["result"]
        for sent in {swap["transactionHash"] for swap in swaps}
        for frame in demo.get(f"/api/v1/transactions/{sent}/trace").json["frames"]
        if frame["function"] and frame["function"]["source"] == "standard"
    }
    reserves = [argument["name"] for argument in results["getReserves"]]
    assert reserves == ["reserve0", "reserve1", "blockTimestampLast"]
    assert results["token1"][0]["type"] == "address" and "swap" in results


@pytest.mark.long
def test_every_transaction_has_its_calls_and_state_changes(demo):
    for row in query(demo, "transactions"):
        for what in ("trace", "state-changes"):
            answer = demo.get(f"/api/v1/transactions/{row['hash']}/{what}")
            assert answer.status_code == 200, (row["hash"], what, answer.json)


def test_items_have_uris(demo):
    uris = {}
    for token in (token for token in query(demo, "tokens") if token["type"] != "BEP20"):
        path = f"/api/v1/tokens/{token['address']}/items"
        for item in demo.get(path).json["items"]:
            detail = demo.get(f"{path}/{item['tokenId']}").json
            assert "does not respond" not in (detail["tokenUriUnavailable"] or "")
            uris.setdefault(token["symbol"], []).append(detail["tokenUri"])
    start = 'data:application/json;utf8,{"name":'
    assert uris["LANTERN"] and all(uri.startswith(start) for uri in uris["LANTERN"])


PROBLEM = re.compile(r'class="problem"(?! hidden)[^>]*>([^<]*)')


def problem_of(get):
    return json.loads(get("/readyz"))["problem"]


def problems(get):
    """What the first pages that anybody opens complain of, and tokens whose events do not add up.
    `get` returns a page's text."""
    tokens = json.loads(get("/api/v1/tokens?limit=100"))["tokens"]
    contract = json.loads(get("/api/v1/contracts?limit=1"))["contracts"][0]["address"]
    paths = ["/", "/tokens", *(f"/token/{token['address']}" for token in tokens)]
    paths += [f"/address/{token['address']}" for token in tokens]
    tab = f"/address/{contract}?tab=contract"
    said = {path: PROBLEM.findall(get(path)) for path in (*paths, tab, f"{tab}&view=read")}
    said["/readyz"] = [problem for problem in [problem_of(get)] if problem]
    said["tokens"] = [token["symbol"] for token in tokens if "inconsistentSince" in token]
    assert len(tokens) == 9
    return {path: texts for path, texts in said.items() if texts}


@pytest.mark.thorough
def test_an_index_of_the_demo_goes_on_in_silence(postgres, template, caplog):
    """It draws balances and owners to compare, of which few are recorded."""
    chain = demo_chain.DemoChain(replay.read_lines(RECORDING), STARTED_AT)
    node = DemoNode(chain)
    with (
        postgres.cloned(template) as url,
        Indexing(url, node.url, until=chain.head, development_node="auto") as indexing,
    ):
        demo_run.load(indexing.settings)
        client = indexing.client()
        for number in range(1, 21):
            assert problems(lambda path: client.get(path).text) == {}
            chain.add(chain.next_block(STARTED_AT + number * demo_chain.INTERVAL_S))
            indexing.wait_for(chain.head)
    node.stop()
    assert caplog.messages == []


@pytest.mark.long
def test_the_demo_of_scan_run_goes_on_in_silence(open_folder):
    """For two minutes after its recorded blocks."""
    limits = {f"SCAN_RATE_LIMIT_{name}": "100000/minute" for name in ("ANONYMOUS", "PAGES")}
    with scan_run((sys.executable, "-m", "scan"), open_folder, **limits) as run:
        run.wait_for_block(RECORDED_BLOCKS, or_later=True)

        def get(path):
            return requests.get(f"{run.url}{path}", timeout=WAIT_S).text

        before = problems(get)
        ends_at, reported = time.monotonic() + SILENT_S, set()
        while time.monotonic() < ends_at:
            reported.add(problem_of(get))
            time.sleep(0.2)
        assert (before, reported, problems(get)) == ({}, {None}, {})
    lines = run.output().splitlines()
    dated = [line for line in lines if line.startswith("20")]
    assert [line for line in lines if "Traceback" in line] == []
    assert [line for line in dated if " INFO " not in line] == []


def test_the_readme_shows_what_the_demo_answers(demo):
    """Its first answer, with the times of another day; a cursor is cut."""
    [stated] = [
        answer
        for block in RUN_HERE
        for answer in answers_below(block)
        if block.document.stem == FIRST
    ]
    answer = demo.get("/api/v1/blocks?limit=1").json
    cut = stated["next"].rstrip("…")
    assert stated["next"] == f"{cut}…" and answer["next"].startswith(cut)
    assert stated == {**answer, "next": stated["next"]}, answer


class DemoService(namedtuple("DemoService", "port url folder")):
    """`url` is that of its database, `folder` its data folder."""


@pytest.fixture(scope="module")
def demo_service(postgres, demo_template, demo_node):
    """The demo chain, whose database is named where `scan run` has it."""
    limits = ("ANONYMOUS", "PAGES", "FILES")
    environment = {f"SCAN_RATE_LIMIT_{name}": "100000/minute" for name in limits}
    with postgres.cloned(demo_template) as url, TemporaryDirectory(prefix="scan-docs-") as folder:
        demo_run.load(settings_for(url, demo_node.url))
        (Path(folder) / "database_url").write_text(url)
        with gunicorn(url, RPC_URL=demo_node.url, **environment) as address:
            yield DemoService(address.rpartition(":")[2], url, folder)


PROGRAMS = Path(sys.executable).parent
FIRST = "README"  # what somebody reads who has just cloned Scan


def marks_of(block):
    if SLOW.search(block.text):
        return [pytest.mark.long]
    return [] if block.document.stem == FIRST else [pytest.mark.thorough]


BLOCKS = [
    pytest.param(block, id=f"{block.document.stem}-{number}", marks=marks_of(block))
    for number, block in enumerate(RUN_HERE)
]


def environment_of(service, text, folder):
    """Of commands: the database is named where they name it, else found in the folder of data."""
    environment = {
        "HOME": str(Path.home()),
        "PATH": f"{folder}:{PROGRAMS}:{POSTGRES}:{os.environ['PATH']}",
        "PORT": service.port,
        "SCAN_DATA_DIR": service.folder,
    }
    return environment | ({"DATABASE_URL": service.url} if "$DATABASE_URL" in text else {})


@pytest.mark.parametrize("block", BLOCKS)
def test_commands_run_as_they_stand(demo_service, tmp_path, block):
    """The port is all that is changed, and curl fails where a response is an error. JSON below a
    command is what it prints."""
    (tmp_path / ".venv").symlink_to(PROGRAMS.parent)
    (tmp_path / "curl").write_text(STRICT_CURL.format(shutil.which("curl")))
    (tmp_path / "curl").chmod(0o755)
    done = completed(
        ["bash", "-euo", "pipefail", "-c", block.text.replace(":8000", f":{demo_service.port}")],
        cwd=tmp_path,
        env=environment_of(demo_service, block.text, tmp_path),
    )
    assert done.returncode == 0, (block.text, done.stdout, done.stderr)
    for stated in answers_below(block):
        assert is_shortened(stated, json.loads(done.stdout)), (stated, done.stdout)


def test_the_demo_has_something_of_everything_as_expected(demo):
    """Types of tokens, exchanges known by name with weeks of candles, verified contracts, a proxy
    that is read by its implementation, labels, and user operations."""
    contracts = demo.get("/api/v1/contracts?limit=100").json["contracts"]
    names = {row["contractName"]: row["address"] for row in contracts}
    for label in ("Patient saver", "Meridian treasury", "Market maker"):
        names[label] = demo.get(f"/api/v1/search?q={label}").json["results"][0]["value"]
    expected.compare(__file__, demo, names)
    [pool, *_] = demo.get("/api/v1/pools").json["pools"]
    days = demo.get(f"/api/v1/pools/{pool['address']}/candles?interval=1d").json["candles"]
    assert len(days) > 20 and all(2_000 < float(day["close"]) < 6_000 for day in days)
