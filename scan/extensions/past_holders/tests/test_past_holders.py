"""Holders of tokens after older blocks, against what the node has of those blocks."""

import json

import pytest

from scan.extensions.past_holders import queries
from scan.extensions.past_holders.tests.holders import by_holder, file_of, get, pages, path_of
from tests.support import expected


@pytest.mark.parametrize("key", ["dollar", "keepers", "forge"])
def test_after_the_newest_block_they_are_the_present_ones(scenario, client, key):
    address, head = scenario.stage.contracts[key].address, scenario.anvil.head()
    block = scenario.anvil.call("eth_getBlockByNumber", hex(head), False)
    present, total = pages(client, f"/tokens/{address}/holders?")
    for given in (f"block={head}", f"block={block['hash']}", "timeTo=2100-01-01"):
        records, of_block = pages(client, f"/tokens/{address}/holders?{given}")
        bare = [{name: record[name] for name in ("address", "balance")} for record in records]
        assert (bare, of_block) == (present, total)
    newest = get(client, f"/tokens/{address}/holders?block=latest")
    assert newest == get(client, f"/tokens/{address}/holders")


def test_a_time_means_its_newest_block(scenario, client):
    address, anvil = scenario.stage.contracts["dollar"].address, scenario.anvil
    path, number = f"/tokens/{address}/holders", anvil.head() // 2
    block = anvil.call("eth_getBlockByNumber", hex(number), False)
    for time_s in (int(block["timestamp"], 16), int(block["timestamp"], 16) + 1):
        records, total = pages(client, f"{path}?timeTo={time_s}")
        assert (records, total) == pages(client, f"{path}?block={number}") and total > 3
    assert get(client, f"{path}?timeTo=1", 404)["field"] == "timeTo"


def test_a_cursor_is_of_its_block(scenario, client):
    address, head = scenario.stage.contracts["dollar"].address, scenario.anvil.head()
    path = f"/tokens/{address}/holders"
    cursor = get(client, f"{path}?block={head}&limit=1")["next"]
    assert get(client, f"{path}?block={head}&limit=2&cursor={cursor}")["total"] > 1
    for other in (f"{path}?block={head - 1}", f"{path}?", f"{path}?timeTo=2100-01-01"):
        assert get(client, f"{other}&cursor={cursor}", 400)["field"] == "cursor"
    beyond = get(client, f"{path}?block={head}&page=1000000000")
    assert beyond["holders"] == [] and beyond["next"] is None and beyond["total"] > 1


def test_a_holder_of_more_ids_than_a_page_has_is_on_several(scenario, client, monkeypatch):
    monkeypatch.setattr(queries, "MAX_IDS", 2)
    path = path_of(scenario, "forge", scenario.anvil.head())
    records, total = pages(client, path)
    held = by_holder(records)
    assert len(records) > len(held) == total
    monkeypatch.undo()
    assert by_holder(pages(client, path)[0]) == held


@pytest.mark.parametrize("key", ["dollar", "keepers", "forge"])
def test_what_is_too_much_for_a_page_is_in_a_file(scenario, client, monkeypatch, key):
    """Which is fetched a few rows at a time, of one statement."""
    path = path_of(scenario, key, scenario.anvil.head() - 3)
    files = {form: file_of(client, path, form).data for form in ("csv", "ndjson")}
    rows = [json.loads(line) for line in files["ndjson"].splitlines()]
    assert rows == pages(client, path, 100)[0]
    monkeypatch.setattr(queries, "MAX_LISTED_ROWS", 3)
    monkeypatch.setattr(queries, "FETCHED_ROWS", 2)
    refused = get(client, path, 422)
    assert refused["code"] == "history_unavailable"
    assert "A file has all: format=csv or ndjson." in refused["error"]
    page = client.get(path.replace("/tokens/", "/token/").replace("/holders?", "?tab=holders&"))
    assert page.status_code == 422 and "A file has all" in page.text
    assert files == {form: file_of(client, path, form).data for form in files}


def test_refusals_and_files_are_as_expected(client, scenario):
    address = scenario.stage.contracts["dollar"].address
    names = {"dollar": address, "forge": scenario.stage.contracts["forge"].address}
    expected.compare(__file__, client, names)
    assert get(client, f"/tokens/{address}/holders?block={'9' * 5000}", 400)["field"] == "block"
