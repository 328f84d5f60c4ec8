"""Lists of pages are filtered by a form and by links: compared with what the node says."""

import csv
import io
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from html import unescape
from urllib.parse import urlencode

import psycopg2
import pytest

from scan.database.errors import TOO_SLOW, QueryTooSlow
from tests.support import database, lists
from tests.support.http_client import WAITING
from tests.support.serving import wait_until
from tests.support.watched_database import watched

ROW = re.compile(r'class="lead"[^>]*>.*?href="/tx/(0x[0-9a-f]{64})["#]')


def shown(client, path, **query):
    """The transactions of the rows, of all pages, by the links that a page has."""
    rows = []
    path += f"{'&' if '?' in path else '?'}{urlencode(query)}"
    response = client.get(path)
    while True:
        assert response.status_code == 200, (path, query, response.text[:2000])
        rows += ROW.findall(response.text)
        following = re.search(r'rel="next" href="([^"]+)"', response.text)
        if following is None:
            return rows
        response = client.get(unescape(following[1]))


def hashes(rows):
    return [row.get("hash") or row["transactionHash"] for row in rows]


def test_every_list_is_a_page_with_its_rows_and_file(client, truth):
    # Where the lists of the API are on pages.
    forms = {
        "/transactions": "/txs",
        "/(token-transfers|internal-transfers)": r"/\1",
        "/dex-trades": "/trades",
        r"/addresses/(\w+)/transactions": r"/address/\1",
        r"/addresses/(\w+)/(transfers|internal|trades)": r"/address/\1?tab=\2",
        r"/tokens/(\w+)/transfers": r"/token/\1",
        r"/tokens/(\w+)/items/(\d+)/transfers": r"/nft/\1/\2",
    }

    def page_of(path):
        path, _, query = path.partition("?")
        pages = [re.sub(api, page, path) for api, page in forms.items() if re.fullmatch(api, path)]
        if path == "/dex-trades":  # of synonyms a page has one
            query = query.replace("address=", "maker=")
        if not pages or (path.startswith("/tokens") and query):  # whose page has one type of token
            return None
        return f"{pages[0]}{'&' if '?' in pages[0] else '?'}{query}"

    with_rows = [item for item in lists.lists_of(truth)[::3] if item.rows is not None]
    pages = [(page_of(listed.path), listed.rows) for listed in with_rows]
    shown_lists = [(page, rows) for page, rows in pages if page is not None]
    assert len(shown_lists) > 9
    for page, rows in shown_lists:
        assert shown(client, page, limit=100) == hashes(rows), page
        links = re.findall(r'class="csv[^"]*" href="([^"]+)"', client.get(page).text)
        files = [client.get(unescape(link), buffered=True).text for link in links]
        lines = [len(list(csv.reader(io.StringIO(text, newline="")))) for text in files]
        assert lines == [len(rows) + 1], page


def test_filters_of_a_page_narrow_it_together(client, truth):
    txs = truth.transactions
    sender = txs[-1]["fromAddress"]
    by_sender = [row for row in txs if row["fromAddress"] == sender]
    method = next(row["methodId"] for row in by_sender if row["methodId"])
    both = [row for row in by_sender if row["methodId"] == method]
    query = {"from": sender, "method": method, "limit": 25, "orderBy": "asc", "to": " "}
    assert shown(client, "/txs", **query) == hashes(both[::-1])
    pool, maker = (truth.dex_trades[0][name] for name in ("pairAddress", "maker"))
    trades = [r for r in truth.dex_trades if (r["pairAddress"], r["maker"]) == (pool, maker)]
    assert shown(client, f"/pool/{pool}", maker=maker, interval="1d") == hashes(trades)
    number = txs[0]["blockNumber"]
    of_block = [row for row in txs if row["blockNumber"] == number]
    mine = [row for row in of_block if row["fromAddress"] == of_block[0]["fromAddress"]]
    assert shown(client, f"/block/{number}", **{"from": of_block[0]["fromAddress"]}) == hashes(mine)


def test_a_list_has_every_fee_and_the_file_of_an_address_those_it_paid(client, truth):
    """What others paid to send to it is no cost of its own, which a file is summed for."""
    txs = truth.transactions
    sender = txs[-1]["fromAddress"]
    party = next(r["toAddress"] for r in txs if r["fromAddress"] == sender and r["toAddress"])
    of_others = {}
    for address in (sender, party):
        html = client.get(f"/address/{address}?limit=100").text
        cells = re.findall(r'data-label="Fee, [^"]+">(?:<data [^>]*value="(\d+)")?', html)
        file = client.get(f"/api/v1/transactions?address={address}&format=csv").text
        rows = list(csv.DictReader(io.StringIO(file)))[:100]
        assert "" not in cells
        pairs = zip(rows, cells, strict=True)
        paid = [fee if row["from"].lower() == address else "" for row, fee in pairs]
        assert [row["fee_wei"].removesuffix(" wei") for row in rows] == paid
        of_others[address] = paid.count("")
    assert of_others[party] > 0


def test_a_method_is_given_by_its_selector_signature_or_name(client, truth):
    of_transfer = [row for row in truth.transactions if row["methodId"] == "0xa9059cbb"]
    assert of_transfer
    for text in ("transfer(address,uint256)", " transfer( address to, uint amount )", "transfer"):
        assert shown(client, "/txs", method=text) == hashes(of_transfer)
        query = {"entity": "transactions", "filter": {"method": text}}
        records = client.post("/api/v1/query", json=query).json["data"]
        assert hashes(records) == hashes(of_transfer)[: len(records)] and records
    file = client.get("/api/v1/transactions?method=transfer&format=csv").text.splitlines()
    assert len(file) == len(of_transfer) + 1


@pytest.mark.parametrize(
    "path",
    """
        /blocks /txs /tokens /contracts /verify /search /watchlist /keys /webhooks /charts /gas /dex
        /accounts /user-operations /block/1 /address/{to} /tx/{hash}
    """.split(),
)
def test_a_tab_that_a_page_does_not_have_is_refused(client, truth, path):
    newest = next(row for row in truth.transactions if row["toAddress"])
    path = path.format(hash=newest["hash"], to=newest["toAddress"])
    assert client.get(path).status_code == 200
    response = client.get(path, query_string={"tab": "<nothing>"})
    assert response.status_code == 400 and response.mimetype == "text/html", path
    assert client.get(path, query_string={"_tab": "x"}).status_code == 200


def test_lists_refuse_unknown_parameters_and_other_pages_ignore_them(client, truth):
    for path in ("/", "/live", "/charts", "/gas", "/verify", "/keys", "/webhooks", "/watchlist"):
        assert client.get(f"{path}?utm_source=mail&fbclid=1").status_code == 200, path
    hash_ = truth.transactions[-1]["hash"]
    assert client.get(f"/tx/{hash_}?fbclid=1").status_code == 200
    assert client.get(f"/search?f=0&q={hash_}").location == f"/tx/{hash_}"
    for path in ("/txs", "/dex", "/trades", "/accounts", "/block/1"):
        assert client.get(f"{path}?fbclid=1").status_code == 200, path
        assert client.get(f"{path}?colour=1").status_code == 400, path


def test_a_page_during_which_the_index_changed_is_not_cached(own_index):
    """Some of it may be from before the change: names are read without a version."""
    client, url = own_index.client(), own_index.url
    client.get("/txs?=first")  # which has the process listen for changes
    assert "ETag" in client.get("/txs?=second").headers
    with closing(psycopg2.connect(url)) as locker, ThreadPoolExecutor(1) as pool:
        locker.cursor().execute("LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE")
        third = pool.submit(client.get, "/txs?=third")
        wait_until(lambda: database.execute(url, WAITING) == [(1,)])
        database.execute(url, "INSERT INTO labels VALUES ('\\x01', 'One')")
        locker.rollback()
        assert third.result().status_code == 200 and "ETag" not in third.result().headers
    database.execute(url, "DELETE FROM labels WHERE address = '\\x01'")
    assert "ETag" in client.get("/txs?=fourth").headers or "ETag" in client.get("/txs?=5").headers


def test_a_list_that_takes_too_long_keeps_its_form(indexed):
    """The time-out itself is PostgreSQL's, for which the scenario is too short."""

    def time_out(statement, *_):
        if statement.startswith("queries/transactions_list"):
            raise QueryTooSlow(TOO_SLOW, retry_after_s=7)

    with watched(indexed.settings, time_out) as client:
        response = client.get("/txs?status=false&blockFrom=1")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "7")
    assert "narrow it with “First block” and “Last block”." in response.text
    assert 'name="blockFrom" value="1"' in response.text and 'class="chip"' in response.text
