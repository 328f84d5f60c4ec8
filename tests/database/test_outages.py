"""When the database, or the node, is away: what is answered, and that it heals by itself."""

import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg2
import pytest

from app import create_app
from bench.seed import seed
from scan.contracts.account_state import node_of_index
from scan.database.connection import Database
from scan.database.errors import ConnectionLost, translated_errors
from scan.ethereum.request_node import NO_NODE
from scan.indexer.progress import StatusReporter
from scan.queries.addresses import UNREAD
from tests.support.database import execute
from tests.support.faulty_node import refuse_method
from tests.support.indexing import Indexing, client_over, settings_for
from tests.support.scan_run import scan_run
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def url(own_postgres):
    with own_postgres.cloned(own_postgres.make_template()) as url:
        seed(url, 3_000)
        yield url


@pytest.fixture
def served(own_postgres, url):
    own_postgres.resume()
    yield client_over(url)
    own_postgres.resume()


def endpoint_requests(client):
    """Requests of every kind that needs the database: method, path, body."""
    transaction = client.get("/api/v1/transactions?limit=1").json["transactions"][0]
    token = client.get("/api/v1/tokens?limit=1").json["tokens"][0]["address"]
    paths = [
        *("/stats", "/blocks", "/blocks/3", "/transactions", "/tokens"),
        *(f"/transactions/{transaction['hash']}", f"/tokens/{token}", f"/tokens/{token}/holders"),
        f"/transactions?address={transaction['fromAddress']}",
        f"/addresses/{transaction['fromAddress']}/tokens",
    ]
    query = ("POST", "/api/v1/query", {"entity": "dex_trades"})
    return [query, *(("GET", f"/api/v1{path}", None) for path in paths)]


def ask(client, request):
    method, path, body = request
    return client.open(path, method=method, json=body) if body else client.open(path, method=method)


@pytest.mark.parametrize(
    "kind", [psycopg2.DatabaseError, psycopg2.OperationalError, psycopg2.InterfaceError]
)
def test_a_broken_connection_is_one_whatever_psycopg2_calls_it(kind):
    """A DatabaseError came once from a statement whose server process was killed."""
    with pytest.raises(ConnectionLost), translated_errors():
        raise kind("server closed the connection unexpectedly")


def require_unavailable(answer):
    assert answer.status_code == 503, answer.text
    assert answer.json["code"] == "unavailable" and answer.mimetype == "application/json"
    assert int(answer.headers["Retry-After"]) > 0


def test_while_the_database_is_down_data_are_unavailable(own_postgres, served):
    requests = endpoint_requests(served)
    before = [ask(served, request).data for request in requests]
    own_postgres.halt()
    for request in requests:
        require_unavailable(ask(served, request))
    address = requests[-2][1].split("=")[1]
    require_unavailable(served.get(f"/api/v1/addresses/{address}"))
    require_unavailable(served.get("/readyz"))
    assert served.get("/healthz").json == {"status": "alive"}
    assert served.get("/api/v1/blocks?limit=0").status_code == 400
    own_postgres.resume()
    assert [ask(served, request).data for request in requests] == before
    wait_until(lambda: served.get("/readyz").status_code == 200)  # cached for a second


def test_a_restart_of_the_database_is_not_noticed_by_the_next_request(own_postgres, served):
    """Each thread has a connection, and each has died."""
    requests = endpoint_requests(served)
    app = served.application
    threads = 4
    with ThreadPoolExecutor(threads) as pool:

        def statuses():
            lists = pool.map(
                lambda _: [ask(app.test_client(), r).status_code for r in requests],
                range(2 * threads),
            )
            return {status for codes in lists for status in codes}

        assert statuses() == {200}
        own_postgres.halt()
        own_postgres.resume()
        assert statuses() == {200}


def test_a_statement_that_takes_too_long_is_ended_with_advice(url, monkeypatch):
    # A busy machine may need more than 100 ms for a statement, and less the next time.
    monkeypatch.setattr("scan.http.services.STATEMENT_TIMEOUT_MS", 100)
    nobody = "http://127.0.0.1:9"
    settings = settings_for(url, nobody)
    hasty = create_app(settings).test_client()  # does not wait for locks as long as that
    wait_until(lambda: hasty.get("/api/v1/blocks").status_code == 200)
    monkeypatch.setattr("scan.http.services.LOCK_WAIT_SHARE", 2)
    client = create_app(settings).test_client()
    wait_until(lambda: client.get("/api/v1/blocks").status_code == 200)
    locker = psycopg2.connect(url)
    with locker.cursor() as cursor:
        cursor.execute("LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE")
        body = {"entity": "transactions", "filter": {"from": "0x" + 40 * "1", "blockFrom": 1}}
        answer = client.post("/api/v1/query", json=body)
        locked = hasty.post("/api/v1/query", json=body)
    locker.close()
    require_unavailable(locked)
    assert "lock" in locked.json["error"]
    require_unavailable(answer)
    assert "narrow it with blockFrom and blockTo" in answer.json["error"]
    wait_until(lambda: client.post("/api/v1/query", json=body).status_code == 200)


def test_the_node_may_go_when_a_chain_is_indexed(anvil, database_url):
    def eventually(client, path, expected):
        """PostgreSQL passes an announcement on soon after the commit, not within it."""
        wait_until(
            lambda: expected.items() <= client.get(path).json.items(),
            timeout_s=10.0,
            told=lambda: f"{client.get(path).json} {expected}",
        )

    with Indexing(database_url, anvil.url) as indexing:
        sender, other = anvil.accounts[:2]
        for value in (1, 2, 3):
            anvil.send(sender, other, value=value)
            anvil.mine()
        indexing.wait_for(3)
        client = indexing.client()
        fresh = client.get(f"/api/v1/addresses/{other}").json
        anvil.stop()
        assert client.get(f"/api/v1/addresses/{other}").json == fresh
        # As if the balances had been read at the block before; no block since has changed them.
        execute(database_url, "UPDATE addresses SET balance_block = balance_block - 1")
        execute(database_url, "SELECT pg_notify('scan_chain', 'stale')")
        eventually(client, f"/api/v1/addresses/{other}", fresh)
        execute(database_url, "UPDATE blocks SET traced = false WHERE number = 3")
        client = indexing.client()  # which has read nothing; and this block may have changed it
        eventually(client, f"/api/v1/addresses/{other}", {**fresh, "balanceBlock": 2})
        unknown = {"indexedBlock": 3, "headBlock": None, "lagBlocks": None}
        eventually(client, "/readyz", unknown)  # once the indexer has tried the node
        assert client.get("/readyz").status_code == 200


def test_a_balance_that_cannot_be_read_again_is_shown_with_its_block(anvil, node, database_url):
    """Of a node that gives blocks, and no state in time: the page was 500, the block null."""
    sender, other = anvil.accounts[:2]
    anvil.send(sender, other, value=1)
    anvil.mine()
    with Indexing(database_url, node.url) as indexing:
        indexing.wait_for(1)
        client = indexing.client()
        old = client.get(f"/api/v1/addresses/{other}").json
        node.fault = refuse_method("eth_getBalance")
        anvil.send(sender, other, value=1)
        anvil.mine()
        indexing.look()
        wait_until(lambda: client.get("/api/v1/stats").json["latestBlock"] == 2)
        shown = client.get(f"/api/v1/addresses/{other}").json
        assert (shown["balance"], shown["balanceBlock"]) == (old["balance"], 1)
        page = client.get(f"/address/{other}?tab=history")
        assert (page.status_code, "at block" in page.text) == (200, True), page.text
        history = client.get(f"/api/v1/addresses/{other}/history").json
        assert (history["complete"], history["reason"]) == (False, "balance_unknown")
        node.fault = None
        indexing.wait_for(2)
    assert client.get(f"/api/v1/addresses/{other}").json["balanceBlock"] == 2


def test_without_a_node_every_route_answers_or_says_that_there_is_none(url):
    """Of an account, a token, a block and a transaction that are indexed, and of an address that
    was never seen."""
    client = client_over(url, rpc_urls=())
    transaction = client.get("/api/v1/transactions?limit=1").json["transactions"][0]
    token = client.get("/api/v1/tokens?limit=1").json["tokens"][0]["address"]
    named = {"block": transaction["blockNumber"], "number": transaction["blockNumber"]}
    named |= {"transaction_hash": transaction["hash"]}
    statuses, texts = {}, {}
    for address in (transaction["fromAddress"], token, f"0x{'12' * 20}"):
        values = {**named, "address": address, "address_hash": address}
        for rule in client.application.url_map.iter_rules():
            arguments = {name: values.get(name, "1") for name in rule.arguments}
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule).format(**arguments)
            for method in rule.methods & {"GET", "POST"} if rule.rule != "/live" else ():
                body = {"json": {}} if method == "POST" else {}
                response = client.open(path, method=method, **body)
                statuses[method, path] = response.status_code
                texts[method, path] = response.get_data(as_text=True)
    assert [route for route, status in statuses.items() if status == 500] == []
    unavailable = {route: texts[route] for route, s in statuses.items() if s in (502, 503)}
    assert [r for r, text in unavailable.items() if not (NO_NODE in text or UNREAD in text)] == []
    assert sum(status == 503 for status in statuses.values()) >= 5
    for path in (f"/tx/{transaction['hash']}", f"/address/{transaction['fromAddress']}"):
        assert statuses.get(("GET", path), 200) == 200  # where there are pages


@pytest.mark.parametrize("seconds", [10, pytest.param(130, marks=pytest.mark.long)])
def test_a_process_logs_once_and_then_once_a_minute_that_its_database_is_away(
    own_postgres, anvil, open_folder, seconds
):
    """All its loops wait for it; indexer and API log each that the connection is lost and what is
    to be corrected, then a line a minute, a command beside the indexer one."""
    command = (sys.executable, "-m", "scan")
    with (
        own_postgres.cloned("template0") as url,
        scan_run(command, open_folder, DATABASE_URL=url, RPC_URL=anvil.url) as run,
    ):
        run.wait_for_block(anvil.head())
        begun = len(run.output())
        own_postgres.halt()
        time.sleep(seconds)
        lines = run.output()[begun:].splitlines()
        own_postgres.resume()
        anvil.mine()
        run.wait_for_block(anvil.head())
    logged = [line for line in lines if " scan." in line or "Traceback" in line]
    warnings = [line for line in logged if " WARNING scan.http: " not in line]
    assert 2 <= len(warnings) <= 5 + 2 * (seconds // 60), warnings
    assert any("connection lost" in line for line in warnings), warnings
    assert not any("try again shortly" in line for line in warnings), warnings


def test_the_status_is_reported_again_after_an_outage(own_postgres, url, anvil):
    """The thread that reports during a long step asks the database, too, which chain it has."""
    database = Database(url, statement_timeout_ms=5000)
    reporter = StatusReporter(database, node_of_index(settings_for(url, anvil.url)))
    reporter.is_writing = True
    own_postgres.halt()
    with reporter.watching():
        [thread] = [thread for thread in threading.enumerate() if thread.name == "status"]
        time.sleep(3.0)
        assert thread.is_alive()
    own_postgres.resume()
