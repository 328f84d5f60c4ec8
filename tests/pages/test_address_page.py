"""An address' page: what it holds and did, its balance, and who created its contract."""

from io import BytesIO

import segno
from eth_utils.address import to_checksum_address

from tests.support import database, indexing


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


def test_holdings_that_are_no_longer_known_are_told(clone, indexed_template, scenario):
    url = clone(indexed_template)
    database.execute(url, "INSERT INTO retention VALUES (true, 40, 90, now(), 40)")
    client = indexing.client_over(url, scenario.anvil.url)
    page = client.get(f"/address/{scenario.stage.people[1]}?tab=tokens&block=3")
    assert page.status_code == 422 and "before block 40 are not kept" in page.text
