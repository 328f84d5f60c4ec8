"""The pages as HTML: what they show, how they are cached, and that hostile text stays text."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from html import unescape
from io import BytesIO

import pytest
import segno
from eth_utils.address import to_checksum_address
from flask.testing import FlaskClient

from app import create_app
from scan.pages.formatting import short_price
from tests.conftest import Played
from tests.pages.conftest import HOSTILE
from tests.pages.markup import Markup, require_no_inline_code
from tests.support.database import execute
from tests.support.explorer import Explorer
from tests.support.faulty_node import FaultyNode, every_result
from tests.support.indexing import Indexing, settings_for

NOWHERE = "postgresql://127.0.0.1:9/nothing"


def test_pages_describe_themselves_to_previews(
    client: FlaskClient, explorer: Explorer, hostile: str, scenario: Played
) -> None:
    """With what is on the page, whatever the chain calls it."""
    transfer = scenario.truth.token_transfers[0]
    page = client.get(f"/tx/{transfer['transactionHash']}").text
    sentence = re.search(r'<p class="sentence">(.+?)</p>', page, re.S)
    expected = " ".join(re.sub(r"<[^>]+>", "", sentence[1]).split())
    descriptions = {
        f"/tx/{transfer['transactionHash']}": expected,
        f"/token/{transfer['tokenAddress']}": " holder",
        f"/address/{transfer['fromAddress']}": to_checksum_address(transfer["fromAddress"]),
        "/block/3": "Block 3 of ",
        "/blocks": "Blocks, transactions, tokens and contracts of ",
    }
    for path, expected in descriptions.items():
        for name in ('name="description"', 'property="og:description"'):
            [content] = re.findall(rf'<meta {name} content="([^"]*)">', client.get(path).text)
            assert expected in content, path
    tags = Markup(explorer.client.get(f"/token/{hostile}").text).tags
    contents = [attributes.get("content") or "" for tag, attributes in tags if tag == "meta"]
    assert any("window.ran = 'name'" in content for content in contents)
    assert not any("ran" in (attributes.get("onerror") or "") for _, attributes in tags)


@pytest.mark.parametrize(
    ("text", "path"),
    [(64 * "F", f"/tx/0x{64 * 'f'}"), ("0X" + 20 * "aB", f"/address/0x{20 * 'ab'}")],
)
def test_a_search_for_what_is_not_indexed_leads_to_the_page_that_says_so(
    client: FlaskClient, text: str, path: str
) -> None:
    assert client.get("/api/v1/search", query_string={"q": text}).json["results"] == []
    moved = client.get("/search", query_string={"q": text})
    assert (moved.status_code, moved.headers["Location"]) == (302, path)
    shown = client.get(path, headers={"Accept": "text/html"})
    assert (shown.status_code == 200) == path.startswith("/address")
    assert path.startswith("/address") or "it may be pending, not sent, or on another" in shown.text
    block = client.get("/api/v1/blocks?limit=1").json["blocks"][0]["hash"]
    assert "This is the hash of a block" in client.get(f"/tx/{block}").text


def test_an_address_links_to_the_contracts_that_it_created(
    client: FlaskClient, scenario: Played
) -> None:
    made = client.get("/api/v1/contract-creations?limit=100").json["contractCreations"]
    for role in ("factory", "creator"):
        [address, *_] = sorted({creation[role] for creation in made} - {None})
        listed = client.get(f"/api/v1/contract-creations?{role}={address}").json["total"]
        html = client.get(f"/address/{address}").text
        assert f'<a href="/contracts?{role}={address}">{listed} ' in html
    token = scenario.truth.token_transfers[0]["tokenAddress"]
    assert "Contracts created" not in client.get(f"/address/{token}").text


def test_pages_show_what_the_chain_has(client: FlaskClient, scenario: Played) -> None:
    truth, head = scenario.truth, scenario.truth.head
    transfer, sent = truth.token_transfers[0], truth.transactions[5]
    transaction = f"/tx/{transfer['transactionHash']}"
    mark = 'class="badge flow {0}">{0}<'
    shown = {
        f"/block/{head - 1}": [f'href="/block/{head}"'],
        transaction: ["Nonce", transfer["transactionHash"], "wei"],
        f"{transaction}?tab=events": ["Events", ">Transfer<"],
        f"/block/{sent['blockNumber']}": [f"/tx/{sent['hash']}"],
        f"/address/{transfer['fromAddress']}?tab=transfers": [mark.format("out")],
        f"/address/{transfer['toAddress']}?tab=transfers": [mark.format("in")],
        f"/address/0x{'ab' * 20}": ["never"],
        "/search?q=a": ["<h2>Tokens</h2>", "source not verified", "since 20"],
        **{
            f"/tx/{row['hash']}": [f"({head - row['blockNumber'] + 1:,} confirmation"]
            for row in (truth.transactions[0], truth.transactions[-1])
        },
    }
    for path, texts in shown.items():
        page = client.get(path)
        assert page.status_code == 200 and all(text in page.text for text in texts), path
    assert "Next block" not in client.get(f"/block/{head}").text
    assert client.get("/search?q=a").text.count("<h2>") == 1
    sizes = re.findall(r'data-label="Size, bytes">([0-9,]+)<', client.get("/blocks").text)
    assert sizes == [f"{block['size']:,}" for block in truth.blocks[:25]]


def test_a_block_says_how_final_it_is(client: FlaskClient, scenario: Played) -> None:
    """By the node's tags, which anvil keeps behind its head."""
    tagged = {
        tag: int(scenario.anvil.call("eth_getBlockByNumber", tag, False)["number"], 16)
        for tag in ("safe", "finalized")
    }
    head = scenario.anvil.head()
    body = client.get("/api/v1/stats/finality").json
    assert body == {
        "latestBlock": head,
        "safeBlock": tagged["safe"],
        "finalizedBlock": tagged["finalized"],
    }
    assert tagged["finalized"] < tagged["safe"] < head
    for number, word in (
        (tagged["finalized"], "finalized"),
        (tagged["safe"], "safe"),
        (head, "not final"),
    ):
        page = client.get(f"/block/{number}").text
        assert f'<span class="badge">{word}</span>' in page
        confirmations = client.get(f"/api/v1/blocks/{number}").json["confirmations"]
        assert confirmations == head - number + 1
        assert f"<dd>{confirmations} " in page


def test_malformed_finality_is_read_again(scenario: Played, indexed: Indexing) -> None:
    with FaultyNode(scenario.anvil.url) as node:
        settings = settings_for(indexed.settings.database_url, node.url)
        client = create_app(settings).test_client()
        for lie in ("[]", '{"number":"0xzz"}', "7"):
            node.fault = every_result(lie)
            assert client.get("/api/v1/stats/finality").json["safeBlock"] is None
        node.fault = None
        assert client.get("/api/v1/stats/finality").json["safeBlock"] is not None


def test_charts_have_every_day_as_text(client: FlaskClient) -> None:
    page = client.get("/charts").text
    for day in client.get("/api/v1/stats/daily").json["days"]:
        assert page.count(day["date"]) > 9
    assert "Largest transfers" in page
    assert client.get("/charts?days=31").status_code == 400


def test_the_largest_transfers_of_a_day_are_on_pages(client: FlaskClient, scenario: Played) -> None:
    token = scenario.truth.token_transfers[0]["tokenAddress"]
    for day in (scenario.truth.transactions[0]["timestamp"][:10], "1999-12-31"):
        for path in (f"/charts?date={day}", f"/token/{token}?tab=chart&date={day}"):
            assert f"Largest transfers on {day}" in client.get(path).text
    api = "/api/v1/stats/largest-transfers"
    nobody = client.get(f"{api}?tokenAddress=0x{'7' * 40}").json
    assert nobody == {"of": 0, "blockFrom": None, "transfers": []}
    assert client.get(f"{api}?tokenAddress=0x1").status_code == 400
    for value in ("2026-02-30", "yesterday", "20260101", "9" * 5_000, ""):
        for path in (api, "/charts"):
            assert client.get(path, query_string={"date": value}).status_code == 400


def test_transfers_from_and_to_nobody_are_called_mints_and_burns(
    client: FlaskClient, scenario: Played
) -> None:
    """In lists of transfers and in the history."""
    zero, sides = f"0x{'0' * 40}", {"mint": "fromAddress", "burn": "toAddress"}
    for word, side in sides.items():
        moved = [row for row in scenario.truth.token_transfers if row[side] == zero]
        path = f"/token-transfers?{side.removesuffix('Address')}={zero}&limit=100"
        page = client.get(path).text
        rows = min(len(moved), 100)
        assert page.count(f'<span class="badge">{word}</span> <a href="/address/{zero}"') == rows
        other = sides["burn" if word == "mint" else "mint"]
        history = client.get(f"/address/{moved[-1][other]}?tab=history&counterparty={zero}").text
        assert f'<span class="badge">{word}</span> <a href="/address/{zero}"' in history


def test_lists_of_items_say_their_order_and_set_whole_amounts_flush(
    client: FlaskClient, scenario: Played
) -> None:
    item = next(row for row in scenario.truth.token_transfers if row["tokenId"] is not None)
    token, order = f"/token/{item['tokenAddress']}", "newest first, by the first transfer of each"
    owner = client.get(f"/api/v1/tokens/{item['tokenAddress']}/holders").json["holders"][0]
    for path in (f"{token}?tab=items", f"/address/{owner['address']}?tab=items"):
        assert f", {order}</p>" in client.get(path).text
    path = f"/nft/{item['tokenAddress']}/{item['tokenId']}"
    assert '<td class="number integer" data-label="Amount">' in client.get(path).text
    assert "integer" not in client.get("/token-transfers?tokenType=BEP20").text


def test_a_pool_shows_its_candles(client: FlaskClient) -> None:
    pool = client.get("/api/v1/pools").json["pools"][0]
    candles = client.get(f"/api/v1/pools/{pool['address']}/candles").json["candles"]
    page = client.get(f"/pool/{pool['address']}").text
    priced = [candle for candle in candles if candle["open"] is not None]
    assert page.count("<rect") >= len(priced) > 0 and "Trades" in page
    rising = [candle for candle in priced if Decimal(candle["close"]) >= Decimal(candle["open"])]
    assert page.count('class="rises"') == len(rising)
    assert f"All {len(candles)} interval" in page
    assert client.get(f"/pool/{pool['address']}?interval=2h").status_code == 400
    assert client.get(f"/pool/{pool['token0']}").status_code == 404


def test_trades_of_a_pool_have_side_price_and_maker(client: FlaskClient, scenario: Played) -> None:
    """Prices are those of the candles: the newest trade's is the last one to close."""
    for pool in client.get("/api/v1/pools").json["pools"]:
        trades = [
            t for t in scenario.truth.dex_trades if t["pairAddress"] == pool["address"]
        ][:25]  # fmt: skip
        html = client.get(f"/pool/{pool['address']}").text
        sides = re.findall(r'data-label="Side"><span class="badge flow \w+">(\w+)<', html)
        bought = [trade["tokenOut"] == pool["token0"] for trade in trades]
        assert sides == ["buy" if is_buy else "sell" for is_buy in bought] != []
        makers = re.findall(r'data-label="Maker"><a href="/address/(0x\w+)"', html)
        assert makers == [trade["maker"] for trade in trades]
        prices = re.findall(r'data-label="Price">([^<]*)<', html)
        candles = client.get(f"/api/v1/pools/{pool['address']}/candles").json["candles"]
        closed = next(c["close"] for c in reversed(candles) if c["close"] is not None)
        assert next(filter(None, prices)) == short_price(Decimal(closed))
        least, most = (
            choose(Decimal(c[key]) for c in candles if c[key] is not None)
            for key, choose in (("low", min), ("high", max))
        )
        assert all(
            least * Decimal("0.99999") <= Decimal(p) <= most * Decimal("1.00001")
            for p in prices
            if p
        )


def test_lists_by_size_are_not_called_newer_and_older(client: FlaskClient) -> None:
    token = client.get("/api/v1/tokens").json["tokens"][0]["address"]
    for path in ("/tokens?", "/dex?", f"/token/{token}?tab=holders&"):
        assert "largest first" in client.get(path).text, path
        beyond = client.get(f"{path}page=2").text
        assert ">Larger amounts</a>" in beyond and ">Newer</a>" not in beyond, path
    assert ">Newer</a>" in client.get("/blocks?page=2").text


def test_a_contract_says_on_all_tabs_who_created_it(client: FlaskClient, scenario: Played) -> None:
    dollar = scenario.stage.contracts["dollar"].address
    internal = {t["toAddress"] for t in scenario.truth.internal_transfers if "create" in t["type"]}
    creations = {
        address: client.get(f"/api/v1/addresses/{address}").json["creation"]
        for address in (dollar, *sorted(internal))
    }
    by_factory = next(a for a, made in creations.items() if made and made["factory"])
    for address in (dollar, by_factory):
        made = creations[address]
        for tab in ("transactions", "history", "contract", "bytecode"):
            page = client.get(f"/address/{address}?tab={tab}").text
            assert page.count("<dt>Creator</dt>") == page.count("<dt>Created</dt>") == 1
            head = page.partition('aria-label="Sections"')[0]
            for party in filter(None, (made["creator"], made["factory"])):
                assert f'href="/address/{party}"' in head
            assert f'href="/tx/{made["transactionHash"]}"' in head
    person = scenario.truth.transactions[0]["fromAddress"]
    assert "<dt>Creator</dt>" not in client.get(f"/address/{person}").text


def test_a_contract_without_code_any_more_is_told_as_such(
    client: FlaskClient, scenario: Played
) -> None:
    details = {
        address: scenario.truth.address_detail(address)
        for transfer in scenario.truth.internal_transfers
        if "create" in transfer["type"]
        for address in [transfer["toAddress"]]
    }
    assert {detail["isContract"] for detail in details.values()} == {True, False}
    for address, detail in details.items():
        shown = client.get(f"/api/v1/addresses/{address}").json
        assert shown["creation"] == detail["creation"] is not None
        told = "it was destroyed, or created without any" in client.get(f"/address/{address}").text
        assert told == (not shown["isContract"])


def test_calls_and_state_changes_are_tabs_read_from_the_node(
    client: FlaskClient, scenario: Played
) -> None:
    trade = scenario.truth.dex_trades[0]
    path = f"/tx/{trade['transactionHash']}"
    overview = client.get(path).text
    assert f'href="{path}?tab=calls"' in overview and 'class="tree"' not in overview
    calls = client.get(f"{path}?tab=calls").text
    assert trade["pairAddress"] in calls and re.search(r"<code[^>]*>(STATIC)?CALL</code>", calls)
    tags = [tag for tag, _ in Markup(calls.partition('class="tree"')[2]).tags]
    assert tags.count("li") > 3 and calls.count("<ul") == calls.count("</ul>")
    assert calls.count("<li>") == calls.count("</li>")
    assert client.get(f"{path}?tab=nothing").status_code == 400
    assert client.get(f"{path}?tab=overview").text == overview
    state = client.get(f"{path}?tab=state").text
    assert "accounts changed" in state and "Storage" in state and trade["pairAddress"] in state


def test_a_node_without_traces_is_told_on_the_tabs(indexed: Indexing, scenario: Played) -> None:
    client = create_app(replace(indexed.settings, traces="off")).test_client()
    hash_ = scenario.truth.dex_trades[0]["transactionHash"]
    for tab in ("calls", "state"):
        answer = client.get(f"/tx/{hash_}?tab={tab}")
        assert answer.status_code == 200 and "SCAN_TRACES is off" in answer.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/block/99999999", 404),
        ("/block/x", 400),
        ("/tx/0x12", 400),
        (f"/tx/0x{'ab' * 32}", 404),
        ("/address/0x12", 400),
        (f"/token/0x{'ab' * 20}", 404),
        ("/blocks?page=0", 400),
        ("/blocks?page=x", 400),
        ("/block/<script>alert(1)", 400),
    ],
)
def test_errors_are_pages_that_help_on(client: FlaskClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.mimetype) == (status, "text/html")
    assert 'role="search"' in answer.text and "<script>alert" not in answer.text


def test_a_page_beyond_the_last_says_so(
    client: FlaskClient, explorer: Explorer, hostile: str
) -> None:
    for path in ("/blocks", "/txs", "/tokens"):
        page = client.get(f"{path}?page=99999").text
        assert "there is no page 99,999" in page and ">First</a>" in page
    page = explorer.client.get("/verified-contracts?page=99999").text
    assert "there is no page 99,999" in page and "None yet" not in page


def test_addresses_are_shown_with_their_checksum(client: FlaskClient, scenario: Played) -> None:
    """And copied; the API and the paths of pages have lower case."""
    person = next(t["fromAddress"] for t in scenario.truth.transactions)
    page = client.get(f"/address/{person}").text
    shown = to_checksum_address(person)
    assert shown != person and f'data-copy="{shown}"' in page and f">{shown}<" in page
    assert person not in re.sub(r'(?:href|src)="[^"]*"', "", page)


def test_the_balance_over_time_is_of_the_index(client: FlaskClient, scenario: Played) -> None:
    """Of the coin or of a token that is held: as the API has it."""
    transfer = scenario.truth.token_transfers[0]
    path = f"/address/{transfer['toAddress']}?tab=chart"
    page = client.get(path).text
    balances = client.get(f"/api/v1/addresses/{transfer['toAddress']}/balances").json
    assert page.count("<tr><td>") == len(balances["balances"]) > 2
    assert f'<option value="{transfer["tokenAddress"]}">' in page
    chosen = client.get(f"{path}&token={transfer['tokenAddress']}").text
    assert f'<option value="{transfer["tokenAddress"]}" selected>' in chosen
    assert client.get(f"{path}&token=").text.count("<tr><td>") == len(balances["balances"])
    sold = next(t["address"] for t in scenario.truth.tokens if t["address"] not in page)
    kept = client.get(f"{path}&token={sold}").text  # a day is asked for of the same token
    assert f'<option value="{sold}" selected>' in kept
    for wrong in ("token=x", "cursor=x", f"token={transfer['toAddress']}"):
        refused = client.get(f"{path}&{wrong}")
        assert refused.status_code in (400, 404) and '<p class="problem"' in refused.text
    early = client.get(f"{path}&timeTo=1971-02-03")
    assert early.status_code == 404 and 'name="timeTo" value="1971-02-03"' in early.text
    assert ">No block is indexed at or before this block or time.</p>" in early.text


def test_the_history_of_an_address_is_a_tab(client: FlaskClient, scenario: Played) -> None:
    """An entry a transaction, with signs, and whether all of it adds up; without fees by choice."""
    person = scenario.truth.transactions[0]["fromAddress"]
    path = f"/address/{person}"
    listed = client.get(f"/api/v1/addresses/{person}/history?group=transaction&limit=25").json
    page = client.get(f"{path}?tab=history").text
    assert page.count('data-label="Changes"') == len(listed["history"]) == 25
    rows = [row for entry in listed["history"] for row in entry["rows"]]
    fees = [row for row in rows if row["type"] == "fee"]
    assert page.count('<li class="fee"><span>\N{MINUS SIGN}<data class="amount"') == len(fees) > 0
    for way, sign in (("in", "+"), ("out", "\N{MINUS SIGN}"), ("self", "±")):
        moved = [row for row in rows if row["direction"] == way and row["type"] != "fee"]
        assert page.count(f'<span class="{way}">{sign}') == len(moved)
    assert "This history adds up: what came in, less what went out, is the balance of" in page
    for query, text in (
        ("format=csv", "CSV of movements"),
        ("group=transaction&amp;format=csv", "CSV of transactions"),
    ):
        assert f'/api/v1/addresses/{person}/history?{query}" download>{text}</a>' in page
    for part in ("direction=in", "types=fee", "blockTo=5", f"counterparty={person}", "fees=hide"):
        filtered = client.get(f"{path}?tab=history&{part}").text
        assert "adds up" not in filtered and "add up" not in filtered, part
    hidden = client.get(f"{path}?tab=history&fees=hide").text
    assert '<li class="fee">' not in hidden and "&amp;fees=hide&amp;cursor=" in hidden
    assert client.get(f"{path}?tab=history&fees=none").status_code == 400
    [cursor] = re.findall(r"&amp;cursor=([\w-]+)", page)
    older = client.get(f"{path}?tab=history&cursor={cursor}").text
    assert 'data-label="Changes"' in older and older != page
    for cursor in ("x", "A" * 700, "<b>"):
        refused = client.get(path, query_string={"tab": "history", "cursor": cursor})
        assert (refused.status_code, refused.mimetype) == (400, "text/html")


def test_the_head_of_an_address_has_what_it_holds(client: FlaskClient, scenario: Played) -> None:
    holder = scenario.truth.token_transfers[-1]["toAddress"]
    held = client.get(f"/api/v1/addresses/{holder}/tokens").json
    head = client.get(f"/address/{holder}?tab=trades").text.partition('class="tabs"')[0]
    assert re.findall(r'class="amount" value="(\d+)"', head) == [
        token["balance"] for token in held["tokens"][:5]
    ]


def test_an_address_has_a_qr_code(client: FlaskClient, scenario: Played) -> None:
    """A camera's decoder is not at hand: the matrix is that of the address with its checksum."""
    person = scenario.truth.transactions[0]["fromAddress"]
    answer = client.get(f"/address/{person}/qr.svg")
    assert (answer.status_code, answer.mimetype) == (200, "image/svg+xml")
    expected = BytesIO()
    code = segno.make(to_checksum_address(person), error="m", micro=False)
    code.save(expected, kind="svg", scale=6, border=4, light="#fff", xmldecl=False, nl=False)
    assert answer.data == expected.getvalue()
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert client.get("/address/0x12/qr.svg").status_code == 400


def test_the_other_method_is_refused_as_a_page(client: FlaskClient) -> None:
    answer = client.post("/blocks")
    assert (answer.status_code, answer.mimetype) == (405, "text/html")
    assert client.post("/search").headers["Allow"]


def test_static_files_name_their_content(client: FlaskClient) -> None:
    found = re.findall(r'"(/static/[0-9a-f]{12}/[\w.]+)"', client.get("/").text)
    scripts = {"scan.js", "charts.js", "live.js"}
    assert {path.rpartition("/")[2] for path in found} == {"scan.css", "icon.svg", *scripts}
    for path in found:
        answer = client.get(path)
        assert "immutable" in answer.headers["Cache-Control"]
        assert "X-RateLimit-Limit" not in answer.headers
        older = re.sub("/[0-9a-f]{12}/", "/000000000000/", path)
        assert client.get(older).headers["Cache-Control"] == "no-store"
    assert client.get("/static/0/../site.py").status_code == 404


@pytest.fixture(scope="module")
def limited(indexed: Indexing) -> Iterator[FlaskClient]:
    settings = replace(indexed.settings, rate_limit_pages="3/minute", rate_limit_anonymous="2/hour")
    yield create_app(settings).test_client()


def test_pages_have_a_limit_of_their_own(limited: FlaskClient) -> None:
    assert [limited.get("/blocks").status_code for _ in range(5)] == [200] * 3 + [429] * 2
    refused = limited.get("/")
    assert (refused.status_code, refused.mimetype) == (429, "text/html")
    assert 1 <= int(refused.headers["Retry-After"]) <= 61
    assert "Content-Security-Policy" in refused.headers
    assert limited.get("/api/v1/stats").headers["X-RateLimit-Remaining"] == "1"
    css = re.search(r"/static/[^\"]+css", refused.text)
    assert css and limited.get(css[0]).status_code == 200


def test_pages_can_be_left_out(indexed: Indexing) -> None:
    client = create_app(replace(indexed.settings, pages=False)).test_client()
    assert client.get("/").json["documentation"] == "/docs/"
    for path in ("/blocks", "/search", "/static/0/scan.css"):
        answer = client.get(path)
        assert (answer.status_code, answer.mimetype) == (404, "application/json")


@pytest.mark.parametrize(
    ("settings", "name", "symbol"),
    [
        ({}, "Chain 31337", "ETH"),
        ({"chain_name": "Harbor <b>", "coin_symbol": "HRB"}, "Harbor &lt;b&gt;", "HRB"),
    ],
)
def test_the_chain_has_a_name_and_a_coin(
    indexed: Indexing, settings: dict[str, str], name: str, symbol: str
) -> None:
    page = create_app(replace(indexed.settings, **settings)).test_client().get("/txs").text
    assert name in page and f"<bdi>{symbol}</bdi>" in page


@pytest.mark.check
def test_home_says_why_nothing_else_answers() -> None:
    client = create_app(settings_for(NOWHERE, "http://127.0.0.1:9")).test_client()
    answer = client.get("/")
    assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
    assert answer.mimetype == "text/html" and "database cannot be reached" in answer.text
    assert client.get("/blocks").status_code == 503


def test_hostile_text_is_shown_as_text(explorer: Explorer, hostile: str) -> None:
    """That none of it is markup is looked for on every page by test_every_page.py."""
    assert "[U+202E]" in explorer.client.get(f"/token/{hostile}").text
    source = explorer.client.get(f"/address/{hostile}?tab=contract").text
    assert "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;" in source and HOSTILE not in source


def test_a_function_is_asked_for_without_a_script(explorer: Explorer, many: str) -> None:
    form = {"function": "over(uint256)", "argument": "5"}
    assert ">number</span>" in explorer.client.post(f"/address/{many}/call", data=form).text
    form = {"function": "list(uint256[])", "argument": "[1, 2]"}
    assert "&#34;2&#34;" in explorer.client.post(f"/address/{many}/call", data=form).text
    form = {"function": "divide(uint256)", "argument": "0.5 gwei"}
    page = explorer.client.post(f"/address/{many}/call", data=form).text
    assert "Called with <code>500000000</code>." in page and '"long">0</span>' in page
    form = {"function": "divide", "argument": "500000000"}  # no form has this name
    page = explorer.client.post(f"/address/{many}/call", data=form).text
    assert 'aria-label="Result"><span class="long">0</span>' in page
    form = {"function": "require_(uint256)", "argument": "5"}
    refused = explorer.client.post(f"/address/{many}/call", data=form)
    assert refused.status_code == 422 and "too small" in refused.text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"function": "divide(uint256)", "argument": "1.5"}, "1.5 has no unit. Write one, such as"),
        ({"function": "list(uint256[])", "argument": '[1, "two"]'}, "a[1]: expected uint256"),
        ({"function": "flags(address,uint256)", "argument": ["0x12", "1"]}, "argument 1: expected"),
        (
            {"source": "contract A {}", "compilerVersion": "latest"},
            "The compiler version must look",
        ),
        ({"source": "{}", "compilerVersion": "0.8.28"}, "The source looks like a standard JSON"),
        (
            {"source": "A", "compilerVersion": "0.8.28", "runs": "many"},
            "The number of optimizer runs",
        ),
    ],
)
def test_forms_have_words_of_their_own_in_errors(
    explorer: Explorer, many: str, form: dict[str, object], words: str
) -> None:
    path = f"/address/{many}/call"
    if "source" in form:
        path = f"/address/{explorer.place('6001600103')}/verify"
    answer = explorer.client.post(path, data=form)
    [problem] = re.findall(r'class="problem"[^>]*>([^<]+)<', answer.text)
    assert answer.status_code == 400 and unescape(problem).startswith(words)


def test_files_of_one_name_are_refused(explorer: Explorer) -> None:
    address = explorer.place("6001600102")
    files = [(BytesIO(b"contract A {}"), "A.sol"), (BytesIO(b"contract B {}"), "A.sol")]
    form = {"compilerVersion": "0.8.28", "files": files}
    answer = explorer.client.post(f"/address/{address}/verify", data=form)
    assert answer.status_code == 400 and "standard JSON" in answer.text


def test_a_refused_source_stays_in_the_form(explorer: Explorer) -> None:
    address = explorer.place("6001600101")
    form = {"compilerVersion": "0.8.28", "source": "contract A { <b> }", "runs": "77"}
    answer = explorer.client.post(f"/address/{address}/verify", data=form)
    assert answer.status_code == 422
    assert "contract A { &lt;b&gt; }" in answer.text and 'value="77"' in answer.text


def test_a_transaction_says_what_it_did_with_links(client: FlaskClient, scenario: Played) -> None:
    dollar = scenario.stage.contracts["dollar"].address
    transfer = next(
        each
        for each in scenario.truth.token_transfers
        if each["tokenAddress"] == dollar and "0x" + "0" * 40 not in each["fromAddress"]
    )
    path = f"transactions/{transfer['transactionHash']}"
    summary = client.get(f"/api/v1/{path}").json["summary"]
    html = client.get(f"/tx/{transfer['transactionHash']}").text
    [sentence] = re.findall(r'<p class="sentence">(.*?)</p>', html, re.DOTALL)
    text = re.sub(r"<[^>]+>", "", sentence).strip()
    for part in summary["parts"]:
        if address := part.get("address"):
            shown = to_checksum_address(address)
            short, checked = (f"{a[:8]}…{a[-4:]}" for a in (address, shown))
            part["text"] = part["text"].replace(short, checked)
    assert text == "".join(part["text"] for part in summary["parts"])
    links = {attributes["href"] for tag, attributes in Markup(sentence).tags if tag == "a"}
    named = {part["address"] for part in summary["parts"] if part.get("address")}
    assert {link[-42:] for link in links if link} == named


def test_the_transfers_of_one_holder(client: FlaskClient, scenario: Played) -> None:
    dollar, person = scenario.stage.contracts["dollar"].address, scenario.stage.people[1]
    own = [
        each["transactionHash"]
        for each in scenario.truth.token_transfers
        if each["tokenAddress"] == dollar and person in (each["fromAddress"], each["toAddress"])
    ]
    html = client.get(f"/token/{dollar}?holder={person}").text
    _creation, *shown = re.findall(r"/tx/(0x[0-9a-f]{64})", html)
    assert shown == own[:25]
    assert ("Older" in html) == (len(own) > 25)
    assert client.get(f"/token/{dollar}?holder=0x12").status_code == 400
    nobody = client.get(f"/token/{dollar}?holder=0x{'9' * 40}")
    assert nobody.status_code == 200 and "No transfers." in nobody.text


def test_a_tokens_page_names_who_created_it(client: FlaskClient, scenario: Played) -> None:
    created = {t["contractAddress"]: t for t in scenario.truth.transactions if t["status"]}
    token = next(token for token in scenario.truth.tokens if token["address"] in created)
    sent = created[token["address"]]
    for tab in ("", "?tab=holders", "?tab=contract"):
        html = client.get(f"/token/{token['address']}{tab}").text
        row = html.partition("<dt>Creator</dt>")[2].partition("</div>")[0]
        assert f"/address/{sent['fromAddress']}" in row and f"/tx/{sent['hash']}" in row


def test_tokens_of_blank_names_have_words_to_click(client: FlaskClient, scenario: Played) -> None:
    blank = [t["address"] for t in scenario.truth.tokens if not t["name"] and not t["symbol"]]
    assert blank
    html = "".join(client.get(f"/tokens?page={page}").text for page in (1, 2))
    for address in blank:
        shown = to_checksum_address(address)
        assert f"Unnamed token {shown[:8]}…{shown[-4:]}" in html
        assert f"Unnamed token {shown[:8]}" in client.get(f"/token/{address}").text
    assert not re.findall(r"<a [^>]*>(?:<bdi>)?\s*(?:</bdi>)?</a>", html)


def test_a_name_that_anybody_can_choose_is_listed(explorer: Explorer, hostile: str) -> None:
    """Of a token, and of a contract that somebody verified; an operator's label leads on."""
    url, client = explorer.settings.database_url, explorer.client
    name = "<script>window.ran = 'name'</script><img src=x onerror=window.ran=1>"
    for text in (name, "Hostile"):
        listed = client.get("/search", query_string={"q": text})
        assert listed.status_code == 200 and hostile in listed.text, text
    label = "INSERT INTO labels (address, label) VALUES (%s, 'Hostile')"
    execute(url, label, bytes.fromhex(hostile[2:]))
    try:
        moved = client.get("/search?q=hostile")
        assert (moved.status_code, moved.headers["Location"]) == (302, f"/address/{hostile}")
    finally:
        execute(url, "DELETE FROM labels")
    for text in (hostile, hostile[2:].upper()):
        assert client.get(f"/search?q={text}").headers["Location"] == f"/token/{hostile}"


@pytest.mark.parametrize(
    "text", ["", " ", "a", "mus", "\u202e", "<script>", "0", "%", "0x" + "1" * 64]
)
def test_suggestions_are_options_with_links(client: FlaskClient, text: str) -> None:
    answer = client.get("/search/suggestions", query_string={"q": text})
    assert answer.status_code == 200
    require_no_inline_code(answer.text)
    options = [a for tag, a in Markup(answer.text).tags if a.get("role") == "option"]
    assert len(options) <= 8
    assert all((option["href"] or "").startswith("/") for option in options)
    assert "<script" not in answer.text
    if text == "mus":
        assert options and "Meridian" in answer.text


def test_a_suggested_address_has_its_checksum(client: FlaskClient, scenario: Played) -> None:
    person = scenario.truth.transactions[0]["fromAddress"]
    html = client.get("/search/suggestions", query_string={"q": person}).text
    assert to_checksum_address(person) in html and f'href="/address/{person}"' in html
    assert f">{person}" not in html


def test_suggestions_for_no_text_or_a_long_one(client: FlaskClient) -> None:
    assert client.get("/search/suggestions").status_code == 200
    assert client.get("/search/suggestions", query_string={"q": "x" * 101}).status_code == 400


def test_a_token_is_called_as_it_calls_itself(explorer: Explorer, hostile: str) -> None:
    """Not as its source does, which many tokens share; an operator's label goes before both."""
    heading = re.compile(r"<h1>(.*?)</h1>")
    [shown] = heading.findall(explorer.client.get(f"/address/{hostile}").text)
    assert shown.startswith("<bdi>&lt;script&gt;window.ran = &#39;name&#39;")
    transfers = explorer.client.get(f"/address/{explorer.anvil.accounts[0]}?tab=history&=own").text
    assert "Hostile" not in transfers
    url, key = explorer.settings.database_url, bytes.fromhex(hostile[2:])
    execute(url, "INSERT INTO labels (address, label) VALUES (%s, 'Labelled')", key)
    [shown] = heading.findall(explorer.client.get(f"/address/{hostile}?=labelled").text)
    assert shown == "<bdi>Labelled</bdi>"
    execute(url, "DELETE FROM labels WHERE address = %s", key)


def test_a_verified_token_is_told_from_others(explorer: Explorer, hostile: str) -> None:
    client = explorer.client
    listed = {
        each["address"]: each for each in client.get("/api/v1/tokens?limit=100").json["tokens"]
    }
    found = client.get("/api/v1/search", query_string={"q": hostile}).json["results"]
    detail = client.get(f"/api/v1/tokens/{hostile}").json
    for record in (listed[hostile], found[0], detail):
        assert (record["verified"], record["holderCount"]) == (True, 1)
        assert record["firstSeen"] == detail["firstSeen"]
    query = {"q": "script"}
    for path in ("/tokens", "/search", "/search/suggestions", f"/token/{hostile}"):
        html = client.get(path, query_string=query if "search" in path else None).text
        assert ">source verified</span>" in html and ">verified<" not in html, path
    assert ">source verified</span>" in client.get(f"/address/{hostile}").text
    markdown = client.get(f"/token/{hostile}", headers={"Accept": "text/markdown"}).text
    assert "source verified" in markdown
    title = client.get(f"/token/{hostile}").text.split("</title>")[0]
    assert f"{hostile[:8]}…{hostile[-4:]}" in title.lower()
