"""An address' page: what it holds and did, its balance, and who created its contract."""

import re
from io import BytesIO

import segno
from eth_utils.address import to_checksum_address


def test_a_contract_without_code_any_more_is_told_as_such(client, scenario):
    details = {
        address: scenario.truth.address_detail(address)
        for transfer in scenario.truth.internal_transfers
        if "create" in transfer["type"]
        for address in [transfer["toAddress"]]
    }
    assert {detail["isContract"] for detail in details.values()} == {True, False}
    for address, detail in details.items():
        page = client.get(f"/address/{address}").text
        is_told = "it self-destructed or was created without code" in page
        assert is_told == (not detail["isContract"])


def test_addresses_are_shown_with_their_checksum(client, scenario):
    """And copied; the API and the paths of pages have lower case."""
    person = next(t["fromAddress"] for t in scenario.truth.transactions)
    page = client.get(f"/address/{person}").text
    shown = to_checksum_address(person)
    assert shown != person and f'data-copy="{shown}"' in page
    assert shown in re.sub(r"<[^>]*>", "", page)
    assert person not in re.sub(r'(?:href|src)="[^"]*"', "", page)


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
    for part in ("direction=in", "blockTo=5", "fees=hide"):
        filtered = client.get(f"{path}?tab=history&{part}").text
        assert "adds up" not in filtered and "add up" not in filtered, part
    assert '<li class="fee">' not in filtered and "&amp;fees=hide&amp;cursor=" in filtered
    [cursor] = {*re.findall(r"&amp;cursor=([\w-]+)", page)}
    older = client.get(f"{path}?tab=history&cursor={cursor}").text
    assert 'data-label="Changes"' in older and older != page


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
