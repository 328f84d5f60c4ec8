"""An address' page: what it holds and did, its balance, and who created its contract."""

import re
from io import BytesIO

import segno
from eth_utils.address import to_checksum_address


def test_an_address_links_to_the_contracts_that_it_created(client, scenario):
    creations = client.get("/api/v1/contract-creations?limit=100").json["contractCreations"]
    for role in ("factory", "creator"):
        [address, *_] = sorted({creation[role] for creation in creations} - {None})
        listed = client.get(f"/api/v1/contract-creations?{role}={address}").json["total"]
        html = client.get(f"/address/{address}").text
        assert f'<a href="/contracts?{role}={address}">{listed} ' in html
    token = scenario.truth.token_transfers[0]["tokenAddress"]
    assert "Contracts created" not in client.get(f"/address/{token}").text


def test_a_contract_says_on_all_tabs_who_created_it(client, scenario):
    dollar = scenario.stage.contracts["dollar"].address
    internal = {t["toAddress"] for t in scenario.truth.internal_transfers if "create" in t["type"]}
    creations = {
        address: client.get(f"/api/v1/addresses/{address}").json["creation"]
        for address in (dollar, *sorted(internal))
    }
    for address in (dollar, next(a for a, row in creations.items() if row and row["factory"])):
        row = creations[address]
        for tab in ("transactions", "history", "contract", "bytecode"):
            page = client.get(f"/address/{address}?tab={tab}").text
            assert page.count("<dt>Creator</dt>") == page.count("<dt>Created</dt>") == 1
            head = page.partition('aria-label="Sections"')[0]
            for party in filter(None, (row["creator"], row["factory"])):
                assert f'href="/address/{party}"' in head
            assert f'href="/tx/{row["transactionHash"]}"' in head
    person = scenario.truth.transactions[0]["fromAddress"]
    assert "<dt>Creator</dt>" not in client.get(f"/address/{person}").text


def test_a_contract_without_code_any_more_is_told_as_such(client, scenario):
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
        assert (
            "it self-destructed or was created without code"
            in client.get(f"/address/{address}").text
        ) == (not shown["isContract"])


def test_addresses_are_shown_with_their_checksum(client, scenario):
    """And copied; the API and the paths of pages have lower case."""
    person = next(t["fromAddress"] for t in scenario.truth.transactions)
    page = client.get(f"/address/{person}").text
    shown = to_checksum_address(person)
    assert shown != person and f'data-copy="{shown}"' in page
    assert shown in re.sub(r"<[^>]*>", "", page)
    assert person not in re.sub(r'(?:href|src)="[^"]*"', "", page)


def test_the_balance_over_time_is_of_the_index(client, scenario):
    """Of the coin or of a token that is held: as the API has it."""
    transfer = scenario.truth.token_transfers[0]
    path = f"/address/{transfer['toAddress']}?tab=chart"
    page = client.get(path).text
    balances = client.get(f"/api/v1/addresses/{transfer['toAddress']}/balances").json
    assert page.count("<tr><td>") == len(balances["balances"]) > 2
    newest = f'href="{path.replace("&", "&amp;")}">Newest</a>'
    assert newest not in page and newest in client.get(f"{path}&blockTo=2").text
    assert f'<option value="{transfer["tokenAddress"]}">' in page
    chosen = client.get(f"{path}&token={transfer['tokenAddress']}").text
    assert f'<option value="{transfer["tokenAddress"]}" selected>' in chosen
    assert client.get(f"{path}&token=").text.count("<tr><td>") == len(balances["balances"])
    sold = next(t["address"] for t in scenario.truth.tokens if t["address"] not in page)
    html = client.get(f"{path}&token={sold}").text  # a day is asked for of the same token
    assert f'<option value="{sold}" selected>' in html
    for wrong in ("token=x", "cursor=x", f"token={transfer['toAddress']}"):
        refused = client.get(f"{path}&{wrong}")
        assert refused.status_code in (400, 404) and '<p class="problem"' in refused.text
    for wrong, words in (
        ("block=100", "block"),
        ("xyz=1", "xyz"),
        ("blockTo=1&timeTo=2026-01-31", "not both"),
    ):
        refused = client.get(f"{path}&{wrong}")
        assert refused.status_code == 400 and words in refused.text
    early = client.get(f"{path}&timeTo=1971-02-03")
    assert early.status_code == 404 and 'name="timeTo" value="1971-02-03"' in early.text
    assert ">No block is indexed at or before this block or time.</p>" in early.text


def test_the_history_of_an_address_is_a_tab(client, scenario):
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
    assert (
        "This history adds up: everything received minus everything sent is the balance of" in page
    )
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
    [cursor] = {*re.findall(r"&amp;cursor=([\w-]+)", page)}
    older = client.get(f"{path}?tab=history&cursor={cursor}").text
    assert 'data-label="Changes"' in older and older != page
    for cursor in ("x", "A" * 700, "<b>"):
        refused = client.get(path, query_string={"tab": "history", "cursor": cursor})
        assert (refused.status_code, refused.mimetype) == (400, "text/html")


def test_the_head_of_an_address_has_what_it_holds(client, scenario):
    holder = scenario.truth.token_transfers[-1]["toAddress"]
    holdings = client.get(f"/api/v1/addresses/{holder}/tokens").json
    head = client.get(f"/address/{holder}?tab=trades").text.partition('class="tabs"')[0]
    expected = [token["balance"] for token in holdings["tokens"][:5]]
    held_part = head.partition('class="holdings"')[2]
    assert re.findall(r'class="amount" value="(\d+)"', held_part) == expected


def test_an_address_has_a_qr_code(client, scenario):
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


def test_an_address_opens_on_its_first_tab_with_rows(client, scenario):
    """The tab of transactions for those who have some, whose links need not name it."""
    moved = {
        t[side] for t in scenario.truth.token_transfers for side in ("fromAddress", "toAddress")
    }
    silent = {
        a for a in moved & scenario.truth.addresses.keys() if not scenario.truth.transactions_of(a)
    }
    active = scenario.truth.transactions[0]["fromAddress"]
    for address in sorted(silent)[:3]:
        page = client.get(f"/address/{address}").text
        assert f'href="/address/{address}?tab=transfers" aria-current="page"' in page
        assert f'href="/address/{address}?tab=transactions">' in page
    assert silent
    assert f'href="/address/{active}" aria-current="page"' in client.get(f"/address/{active}").text


def test_an_address_says_who_sent_it_its_first_coin(client, scenario):
    """As action=fundedby does, in one line of its head."""
    address = scenario.stage.people[1].lower()
    query = {"module": "account", "action": "fundedby", "address": address}
    funding = client.get("/api", query_string=query).json["result"]
    [line] = re.findall(r"<dt>Funded by</dt>.*", client.get(f"/address/{address}").text)
    assert f'href="/address/{funding["fundingAddress"]}"' in line
    assert f'href="/tx/{funding["fundingTxn"]}"' in line and f'value="{funding["value"]}"' in line
