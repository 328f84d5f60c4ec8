"""The bundled demo chain, replayed and indexed as `make run` does it, and the commands of
the documents, run with it."""

import json
import os
import re
import shutil
import sys
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from app import create_app
from scan.extensions.demo import demo_chain, demo_run, replay
from scan.extensions.demo.demo_node import RECORDING, DemoNode
from scan.extensions.demo.demo_run import LINKS
from tests.support import documents, expected
from tests.support.indexing import Indexing, settings_for
from tests.support.serving import completed, gunicorn

STARTED_AT = 1_800_000_000


@pytest.fixture(scope="module")
def demo(shared_database_url):
    """As it starts, before blocks are added."""
    node = DemoNode(demo_chain.DemoChain(replay.read_lines(RECORDING), ended_at=STARTED_AT))
    with Indexing(shared_database_url, node.url) as indexing:
        demo_run.load(indexing.settings)
        indexing.wait_for(node.recording.head)
        yield indexing.client()
    node.stop()


def test_two_clicks_lead_from_the_home_page_to_what_the_demo_shows(demo):
    """By the links of pages alone."""
    # The demo with the links of its operator.
    settings = demo.application.extensions["scan"].settings
    linked = create_app(demo_run.with_links(settings)).test_client()

    def links(path):
        return [unescape(link) for link in re.findall('href="([^"]+)"', linked.get(path).text)]

    home = links("/")
    [failed] = [path for path in home if path.startswith("/txs?status=false")]
    first = next(p for p in links(failed) if re.fullmatch("/tx/0x[0-9a-f]{64}", p))
    assert re.search(r"\.sol#L[0-9]+", linked.get(first).text)
    shown = {"storage": "totalDeposits", "approvals": "Amount", "pending": "?tab=pending"}
    for tab, text in shown.items():
        [path] = [path for path in home if path.endswith(f"?tab={tab}")]
        page = linked.get(path)
        assert page.status_code == 200 and text in page.text, tab
    assert any(">proven</a>" in linked.get(path).text for path in home if path in LINKS.values())


@pytest.mark.thorough
def test_an_index_of_the_demo_goes_on_in_silence(database_url, caplog):
    """It draws balances and owners to compare, of which few are recorded. Pages that anybody opens
    first complain of nothing, and events of all tokens add up."""
    chain = demo_chain.DemoChain(replay.read_lines(RECORDING), STARTED_AT)
    node = DemoNode(chain)
    problem = re.compile(r'class="problem"(?! hidden)[^>]*>([^<]*)')
    options = {"until": chain.head, "development_node": "auto"}
    with Indexing(database_url, node.url, **options) as indexing:
        demo_run.load(indexing.settings)
        client = indexing.client()
        for number in range(1, 21):
            tokens = client.get("/api/v1/tokens?limit=100").json["tokens"]
            contract = client.get("/api/v1/contracts?limit=1").json["contracts"][0]["address"]
            paths = ["/", "/tokens", f"/address/{contract}?tab=contract&view=read"]
            paths += [f"/{kind}/{t['address']}" for kind in ("token", "address") for t in tokens]
            said = {path: problem.findall(client.get(path).text) for path in paths}
            assert {path: texts for path, texts in said.items() if texts} == {}
            assert not client.get("/readyz").json["problem"]
            assert [t["symbol"] for t in tokens if "inconsistentSince" in t] == []
            assert len(tokens) == 9
            chain.add(chain.next_block(STARTED_AT + number * demo_chain.INTERVAL_S))
            indexing.wait_for(chain.head)
    node.stop()
    assert caplog.messages == []


def test_the_readme_shows_what_the_demo_answers(demo):
    """Its first answer, with the times of another day; a cursor is cut."""
    [stated] = [
        answer
        for block in documents.RUN_HERE
        for answer in documents.answers_below(block)
        if block.document.stem == FIRST
    ]
    answer = demo.get("/api/v1/blocks?limit=1").json
    cut = stated["next"].rstrip("…")
    assert stated["next"] == f"{cut}…" and answer["next"].startswith(cut)
    assert stated == {**answer, "next": stated["next"]}, answer


@pytest.fixture(scope="module")
def demo_service(postgres, demo_template, demo_node):
    """The port of the demo chain's service, the URL of its database, and its data folder, where the
    database is named as `scan run` does it."""
    limits = ("ANONYMOUS", "PAGES", "FILES")
    environment = {f"SCAN_RATE_LIMIT_{name}": "100000/minute" for name in limits}
    with postgres.cloned(demo_template) as url, TemporaryDirectory(prefix="scan-docs-") as folder:
        demo_run.load(settings_for(url, demo_node.url))
        (Path(folder) / "database_url").write_text(url)
        with gunicorn(url, RPC_URL=demo_node.url, **environment) as address:
            yield address.rpartition(":")[2], url, folder


FIRST = "README"  # what somebody reads who has just cloned Scan


def marks_of(block):
    if documents.SLOW.search(block.text):
        return [pytest.mark.long]
    return [] if block.document.stem == FIRST else [pytest.mark.thorough]


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=f"{block.document.stem}-{number}", marks=marks_of(block))
        for number, block in enumerate(documents.RUN_HERE)
    ],
)
def test_commands_run_as_they_stand(demo_service, tmp_path, block):
    """The port is all that is changed, and curl fails where a response is an error. JSON below a
    command is what it prints. The database is named where commands name it, else found in the
    folder of data."""
    programs = Path(sys.executable).parent
    (tmp_path / ".venv").symlink_to(programs.parent)
    (tmp_path / "curl").write_text(documents.STRICT_CURL.format(shutil.which("curl")))
    (tmp_path / "curl").chmod(0o755)
    port, url, folder = demo_service
    environment = {"HOME": str(Path.home()), "PORT": port, "SCAN_DATA_DIR": folder}
    environment["PATH"] = f"{tmp_path}:{programs}:{documents.POSTGRES}:{os.environ['PATH']}"
    environment |= dict.fromkeys(re.findall(r"\$(DATABASE_URL)", block.text), url)
    command = ["bash", "-euo", "pipefail", "-c", block.text.replace(":8000", f":{port}")]
    done = completed(command, cwd=tmp_path, env=environment)
    assert done.returncode == 0, (block.text, done.stdout, done.stderr)
    for stated in documents.answers_below(block):
        assert documents.is_shortened(stated, json.loads(done.stdout)), (stated, done.stdout)


def test_the_demo_has_something_of_everything_as_expected(demo):
    """Types of tokens, exchanges known by name with weeks of candles, verified contracts, a proxy
    that is read by its implementation, labels, user operations, and failures with their lines."""
    contracts = demo.get("/api/v1/contracts?limit=100").json["contracts"]
    names = {row["contractName"]: row["address"] for row in contracts}
    for label in ("Patient saver", "Meridian treasury", "Market maker"):
        names[label] = demo.get(f"/api/v1/search?q={label}").json["results"][0]["value"]
    tokens = demo.post("/api/v1/query", json={"entity": "tokens", "limit": 100}).json["data"]
    names = {token["symbol"]: token["address"] for token in tokens} | names
    rows = demo.get("/api/v1/transactions?status=false&limit=100").json["transactions"]
    details = [demo.get(f"/api/v1/transactions/{row['hash']}").json for row in rows]
    names |= {one["error"]["name"] or one["error"]["kind"]: one["hash"] for one in details}
    expected.compare(__file__, demo, names)
    [pool, *_] = demo.get("/api/v1/pools").json["pools"]
    days = demo.get(f"/api/v1/pools/{pool['address']}/candles?interval=1d").json["candles"]
    assert len(days) > 20 and all(2_000 < float(day["close"]) < 6_000 for day in days)
