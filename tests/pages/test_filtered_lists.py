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
from scan.queries.filter_values import FILTERS
from tests.support import database, derived_lists, lists
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


@pytest.fixture(scope="module")
def txs(scenario):
    return scenario.truth.transactions


@pytest.fixture(scope="module")
def sender(txs):
    return str(txs[-1]["fromAddress"])


# Where the lists of the API are on pages.
PAGES = {
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
    pages = [re.sub(api, page, path) for api, page in PAGES.items() if re.fullmatch(api, path)]
    if path == "/dex-trades":  # of synonyms a page has one
        query = query.replace("address=", "maker=")
    if not pages or (path.startswith("/tokens") and query):  # whose page has one type of token
        return None
    return f"{pages[0]}{'&' if '?' in pages[0] else '?'}{query}"


@pytest.mark.parametrize(("every", "least"), [(3, 9), pytest.param(1, 30, marks=pytest.mark.long)])
def test_every_list_is_a_page_with_its_rows_and_file(client, scenario, every, least):
    with_rows = [item for item in lists.lists_of(scenario.truth)[::every] if item.rows is not None]
    pages = [(page_of(listed.path), listed.rows) for listed in with_rows]
    shown_lists = [(page, rows) for page, rows in pages if page is not None]
    assert len(shown_lists) > least
    for page, rows in shown_lists:
        assert shown(client, page, limit=100) == hashes(rows), page
        links = re.findall(r'class="csv[^"]*" href="([^"]+)"', client.get(page).text)
        files = [client.get(unescape(link), buffered=True).text for link in links]
        lines = [len(list(csv.reader(io.StringIO(text, newline="")))) for text in files]
        assert lines == [len(rows) + 1], page


def test_the_csv_link_of_a_list_leads_to_the_file_of_the_api(client, scenario):
    dollar = scenario.stage.contracts["dollar"].address.lower()
    lists = {"/tokens": "/tokens", f"/token/{dollar}?tab=holders": f"/tokens/{dollar}/holders"}
    for path, api_path in lists.items():
        [link] = re.findall(r'class="csv[^"]*" href="([^"]+)"', client.get(path).text)
        file = client.get(unescape(link), buffered=True)
        assert file.data == client.get(f"/api/v1{api_path}?format=csv", buffered=True).data
        assert file.headers["Content-Disposition"].startswith("attachment; filename=")
        assert len(file.data.splitlines()) > 2 and file.headers["X-Scan-Complete"] == "true"


def test_filters_of_a_page_narrow_it_together(client, scenario, txs, sender):
    truth = scenario.truth
    by_sender = [row for row in txs if row["fromAddress"] == sender]
    method = next(row["methodId"] for row in by_sender if row["methodId"])
    both = [row for row in by_sender if row["methodId"] == method]
    query = {"from": sender, "method": method, "limit": 25, "orderBy": "asc", "to": " "}
    assert shown(client, "/txs", **query) == hashes(both[::-1])
    day = both[0]["timestamp"][:10]
    of_day = [row for row in both if row["timestamp"][:10] == day]
    assert shown(client, "/txs", timeFrom=day, timeTo=day, **query) == hashes(of_day[::-1])
    moved, trade = truth.token_transfers[-1], truth.dex_trades[0]
    token, party = moved["tokenAddress"], moved["toAddress"]
    of_token = [row for row in truth.token_transfers if row["tokenAddress"] == token]
    received = [row for row in of_token if row["toAddress"] == party]
    assert shown(client, f"/token/{token}", to=party) == hashes(received)
    pool, maker = trade["pairAddress"], trade["maker"]
    trades = [r for r in truth.dex_trades if (r["pairAddress"], r["maker"]) == (pool, maker)]
    assert shown(client, f"/pool/{pool}", maker=maker, interval="1d") == hashes(trades)
    number = txs[0]["blockNumber"]
    of_block = [row for row in txs if row["blockNumber"] == number]
    mine = [row for row in of_block if row["fromAddress"] == of_block[0]["fromAddress"]]
    assert shown(client, f"/block/{number}", **{"from": of_block[0]["fromAddress"]}) == hashes(mine)


def test_an_address_has_directions_and_counterparties(client, scenario, txs, sender):
    path = f"/address/{sender}"
    outgoing = [row for row in txs if row["fromAddress"] == sender]
    html = client.get(path, query_string={"direction": "out"}).text
    assert shown(client, path, direction="out") == hashes(outgoing)
    assert f"{len(outgoing):,} transactions" in html  # counted, since it is one list
    incoming = [row for row in txs if row["toAddress"] == sender]
    assert shown(client, path, direction="in") == hashes(incoming)
    party = next(row["toAddress"] for row in outgoing if row["toAddress"] not in (None, sender))
    created = scenario.truth.created
    between = [r for r in outgoing if party in (r["toAddress"], created.get(r["hash"]))]
    query = {"direction": "out", "counterparty": party}
    assert shown(client, path, **query) == hashes(between)
    html = client.get(path, query_string=query).text
    file = re.search(r'class="csv button" href="([^"]+)"', html)
    assert len(client.get(unescape(file[1])).text.splitlines()) == len(between) + 1


def test_a_list_has_every_fee_and_the_file_of_an_address_those_it_paid(client, txs, sender):
    """What others paid to send to it is no cost of its own, which a file is summed for."""
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


def test_all_contracts_are_listed_with_what_is_known_of_them(client, scenario):
    rows = derived_lists.contract_creations(scenario.truth)[::-1]
    creation = next(row for row in rows if row["factory"])
    for query in ({}, {"creator": creation["creator"]}, {"factory": creation["factory"]}):
        expected = [r["address"] for r in rows if all(r[k] == v for k, v in query.items())]
        listed, path = [], f"/contracts?{urlencode(query)}"
        while path:
            page = client.get(path)
            assert page.status_code == 200 and f"{len(expected)} contract" in page.text
            listed += re.findall(r'data-label="Contract"><a href="/address/(0x\w{40})"', page.text)
            following = re.search(r'rel="next" href="([^"]+)"', page.text)
            path = unescape(following[1]) if following else ""
        assert listed == expected
        assert page.text.count('class="chip"') == len(query)
    proxies = client.get("/contracts?proxy=true").text
    records = client.get("/api/v1/contract-creations?proxy=true").json["contractCreations"]
    assert proxies.count(">proxy</span>") == len(records)
    home = client.get("/").text
    assert 'href="/contracts"' in home and 'href="/verified-contracts"' in home


def test_a_method_is_given_by_its_selector_signature_or_name(client, txs):
    html = client.get("/txs?limit=100").text
    suggested = re.search(r'<datalist id="of-method">(.*?)</datalist>', html)
    names = re.findall(r'<option value="(0x[0-9a-f]{8})">([A-Za-z]\w*)', suggested[1])
    assert len(names) > 3
    for selector, name in names:
        assert {*shown(client, "/txs", method=selector, limit=100)} <= {
            *shown(client, "/txs", method=name, limit=100)
        }, name
    of_transfer = [row for row in txs if row["methodId"] == "0xa9059cbb"]
    assert of_transfer
    for text in ("transfer(address,uint256)", " transfer( address to, uint amount )", "transfer"):
        assert shown(client, "/txs", method=text) == hashes(of_transfer)
        query = {"entity": "transactions", "filter": {"method": text}}
        records = client.post("/api/v1/query", json=query).json["data"]
        assert hashes(records) == hashes(of_transfer)[: len(records)] and records
    file = client.get("/api/v1/transactions?method=transfer&format=csv").text.splitlines()
    assert len(file) == len(of_transfer) + 1


def test_every_filter_of_the_table_stands_in_the_form(client):
    for path, entity in (
        ("/txs", "transactions"),
        ("/token-transfers", "token_transfers"),
        ("/trades", "dex_trades"),
        ("/internal-transfers", "internal_transfers"),
        ("/user-operations", "user_operations"),
        ("/contracts", "contract_creations"),
    ):
        html = client.get(path).text
        # Of synonyms one stands there.
        for filter_ in {filter_.param: filter_ for filter_ in FILTERS[entity]}.values():
            assert f' name="{filter_.key}"' in html and filter_.label in html, (path, filter_.key)


NO_TABS = """
        /blocks /txs /tokens /contracts /verify /search /watchlist /keys /webhooks /charts /gas /dex
        /accounts /user-operations /block/1 /address/{to} /tx/{hash}
    """.split()


@pytest.mark.parametrize("path", NO_TABS)
def test_a_tab_that_a_page_does_not_have_is_refused(client, txs, path):
    newest = next(row for row in txs if row["toAddress"])
    path = path.format(hash=newest["hash"], to=newest["toAddress"])
    assert client.get(path).status_code == 200
    response = client.get(path, query_string={"tab": "<nothing>"})
    assert response.status_code == 400 and response.mimetype == "text/html", path
    assert client.get(path, query_string={"_tab": "x"}).status_code == 200


def test_lists_refuse_unknown_parameters_and_other_pages_ignore_them(client, txs):
    for path in ("/", "/live", "/charts", "/gas", "/verify", "/keys", "/webhooks", "/watchlist"):
        assert client.get(f"{path}?utm_source=mail&fbclid=1").status_code == 200, path
    hash_ = txs[-1]["hash"]
    assert client.get(f"/tx/{hash_}?fbclid=1").status_code == 200
    assert client.get(f"/search?f=0&q={hash_}").location == f"/tx/{hash_}"
    for path in ("/txs", "/dex", "/trades", "/accounts", "/block/1"):
        assert client.get(f"{path}?fbclid=1").status_code == 200, path
        assert client.get(f"{path}?colour=1").status_code == 400, path


def test_the_history_is_filtered(client, scenario):
    moved = scenario.truth.token_transfers[-1]
    path, query = f"/address/{moved['toAddress']}", {"types": "token_transfer", "direction": "in"}
    grouped = {**query, "group": "transaction"}
    api_path = f"/api/v1/addresses/{moved['toAddress']}/history"
    entries = client.get(api_path, query_string=grouped).json["history"]
    html = client.get(path, query_string={"tab": "history", **query}).text
    assert html.count('data-label="Changes"') == len(entries) > 0
    assert "fees=hide" in html and ">Filter</summary>" in html
    by_token = {"tab": "history", "token": moved["tokenAddress"]}
    assert "of this token" in client.get(path, query_string=by_token).text
    refused = client.get(path, query_string={"tab": "history", "direction": "up"})
    assert refused.status_code == 400 and "Direction must be one of" in refused.text


def test_a_balance_is_shown_on_a_day_or_after_a_block(client, scenario, sender):
    last = max(scenario.truth.blocks, key=lambda block: block["number"])
    middle = next(b for b in scenario.truth.blocks if b["number"] == last["number"] // 2)
    path = f"/address/{sender}"
    for query, number in (
        ({"blockTo": middle["number"], "token": ""}, middle["number"]),
        ({"timeTo": last["timestamp"][:10]}, last["number"]),
    ):
        html = client.get(path, query_string={"tab": "chart", **query}).text
        wei = int(scenario.anvil.call("eth_getBalance", sender, hex(number)), 16)
        assert f'value="{wei}"' in html and f'after block <a href="/block/{number}">' in html
    for query, words in (
        ({"blockTo": "x"}, "The block must be a whole number"),
        ({"timeTo": "2026-02-30"}, "The day must be a date, such as 2026-01-31."),
        ({"timeTo": '"><script>'}, "The day must be a date, such as 2026-01-31."),
    ):
        refused = client.get(path, query_string={"tab": "chart", **query})
        assert refused.status_code == 400 and words in refused.text


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
