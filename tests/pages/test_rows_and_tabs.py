"""Rows have ids that links lead to, tabs have the lengths of their lists, blocks lead to theirs."""

import re

import pytest

from tests.support.ids_of_rows import require_ids_of_rows


@pytest.mark.parametrize(
    ("path", "kind"), [("/token-transfers", "transfer"), ("/trades", "trade"), ("/txs", "tx")]
)
def test_a_row_leads_to_its_place_in_its_transaction_wherever_a_list_begins(client, path, kind):
    form = re.compile(
        r'<tr id="([^"]+)"[^>]*>\s*<td class="lead"[^>]*>.*?href="/tx/(0x\w+)(?:#([^"]+))?"'
    )
    rows = form.findall(client.get(f"{path}?limit=100").text)
    last = form.findall(client.get(f"{path}?limit=100&orderBy=asc").text)
    assert len({id for id, _, _ in rows}) == len(rows) > 25
    ids = {(hash_, row): id for id, hash_, row in rows}
    assert all(ids.get((hash_, row), id) == id for id, hash_, row in last)
    assert all(id.endswith(hash_[2:]) for id, hash_, _ in rows)
    for _, hash_, row in rows[:: len(rows) // 5]:
        page = client.get(f"/tx/{hash_}").text
        assert (page.count(f'id="{row}"') == 1) if row else kind == "tx", (hash_, row)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/tokens", "token"),
        ("/contracts", "contract"),
        ("/token/{token}?tab=holders", "holder"),
        ("/address/{holder}?tab=tokens", "token"),
    ],
)
def test_every_row_of_a_list_has_an_id_of_its_own(client, scenario, path, kind):
    moved = next(t for t in scenario.truth.token_transfers if t["tokenType"] == "BEP20")
    shown = path.format(token=moved["tokenAddress"], holder=moved["toAddress"])
    require_ids_of_rows(client.get(shown).text, kind)


@pytest.mark.parametrize(
    ("path", "theirs", "ours"),
    # As Blockscout names tabs, and which of a page's tabs opens; None: the page has none.
    [
        ("/tx/{transaction}", "logs", "events"),
        ("/block/1", "withdrawals", "transactions"),
        ("/address/{person}", "blocks_validated", "transactions"),
        ("/token/{token}", "token_transfers", "transfers"),
        ("/blocks", "all", None),
    ],
)
def test_tabs_open_by_the_first_ones_name_and_by_blockscouts(client, scenario, path, theirs, ours):
    named = path.format(
        transaction=scenario.truth.transactions[-1]["hash"],
        person=scenario.stage.people[1],
        token=scenario.truth.tokens[0]["address"],
    )
    page = client.get(f"{named}?tab={theirs}")
    assert page.status_code == 200
    same = client.get(f"{named}?tab={ours}" if ours else named)
    assert page.text.partition("<main")[2][:3000] == same.text.partition("<main")[2][:3000]
    assert client.get(f"{named}?tab=up").status_code == 400
