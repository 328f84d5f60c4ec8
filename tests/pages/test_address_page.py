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
