"""Lists as files: the rows of the pages, whole, of one moment; and who waits for a place."""

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from decimal import Decimal

import orjson
import pytest

from scan.extensions.exports.list_files import MAX_OPEN, FileBounds, FilePlaces, Format, write_list
from scan.queries import blocks, list_pages
from scan.queries.reader import Reader
from tests.support import WAIT_S, lists
from tests.support.indexing import sources


@pytest.fixture(scope="module")
def files(indexed, tmp_path_factory):
    return indexed.client(data_dir=tmp_path_factory.mktemp("data"), coin_symbol="=COIN")


def csv_rows(client, path):
    """Strictly: after a byte order mark, each row ended by CRLF."""
    answer = client.get(f"/api/v1{path}", headers={"Accept": "text/csv"}, buffered=True)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    assert answer.headers["X-Scan-Complete"] == "true"
    assert int(answer.headers["Content-Length"]) == len(answer.data)
    text = answer.data.decode("utf-8")
    assert text.startswith("\ufeff") and text.endswith("\r\n")
    return list(csv.DictReader(io.StringIO(text[1:], newline=""), strict=True))


def test_csv_of_transactions_has_amounts_fees_and_directions(files, scenario):
    person = scenario.stage.people[0]
    path = f"/transactions?address={person}"
    rows, records = csv_rows(files, path), lists.pages(files, path, "transactions", 100)
    assert {row["direction"] for row in rows} >= {"in", "out"}
    assert {row["status"] for row in rows} == {"success", "failed"}
    fees = {
        t["hash"]: t["fee"]
        for t in scenario.truth.transactions
        if t["fromAddress"] == person.lower()
    }
    shown = {row["transaction"]: row["fee_wei"] for row in rows if row["fee_wei"]}
    assert shown == {h: f"{wei} wei" for h, wei in fees.items()}
    for row, record in zip(rows, records, strict=True):
        is_sender = record["fromAddress"] == person.lower()
        assert row["time_utc"] == record["timestamp"]
        assert row["value_wei"] == f"{record['value']} wei"
        moved = int(record["value"]) if record["status"] else 0
        assert Decimal(row["amount"]) * 10**18 == moved
        assert Decimal(row["fee"] or 0) * 10**18 == int(fees.get(record["hash"], 0))
        assert row["symbol"] == "'=COIN"
        assert (row["direction"] == "in") is not is_sender


def test_a_long_list_goes_on_in_another_file(files, scenario):
    bounds = sources(files).get(FileBounds)
    bounds.page_rows, bounds.rows = 30, 60
    path = "/api/v1/transactions?orderBy=asc&format=ndjson"
    records, complete = [], []
    while path is not None:
        answer = files.get(path, buffered=True)
        records += [json.loads(line) for line in answer.data.splitlines()]
        complete.append(answer.headers["X-Scan-Complete"])
        link = answer.headers.get("Link")
        path = None if link is None else link.removeprefix("<").removesuffix('>; rel="next"')
    expected = [record["hash"] for record in scenario.truth.transactions[::-1]]
    assert [record["hash"] for record in records] == expected
    assert complete == ["false"] * ((len(records) - 1) // 60) + ["true"]


@pytest.mark.parametrize(("name", "bound"), [("bytes", 1), ("writing_s", 0.0)])
def test_a_file_ends_at_its_bounds(files, name, bound):
    bounds = sources(files).get(FileBounds)
    vars(bounds).update({"page_rows": 30, name: bound})
    answer = files.get("/api/v1/blocks?format=ndjson", buffered=True)
    assert len(answer.data.splitlines()) == 30
    assert answer.headers["X-Scan-Complete"] == "false"
    # What a person sees of it.
    assert answer.headers["Content-Disposition"].endswith('filename="blocks-incomplete.ndjson"')


def test_csv_of_a_history_by_transaction(files, scenario):
    """A line for each entry; what changed adds up to the same as the rows do."""
    person = scenario.stage.people[0].lower()
    path = f"/addresses/{person}/history?group=transaction"
    answer = files.get(f"/api/v1{path}&format=ndjson", buffered=True)
    entries = [json.loads(line) for line in answer.data.splitlines()]
    lines = csv_rows(files, path)
    for line, entry in zip(lines, entries, strict=True):
        assert line["transaction"] == (entry["transactionHash"] or "")
        assert Decimal(line["coin_change"]) * 10**18 == int(entry["coinChange"])
        fees = [row["amountDecimal"] for row in entry["rows"] if row["type"] == "fee"]
        assert [line["fee"]] == (fees or [""]) and line["rows"] == str(len(entry["rows"]))
        parties = {row["counterparty"] for row in entry["rows"]} - {None}
        assert {*filter(None, line["counterparties"].split("; "))} == parties
    changes = sum(Decimal(line["coin_change"]) for line in lines)
    rows = csv_rows(files, f"/addresses/{person}/history")
    assert changes == sum(Decimal(row["change"]) for row in rows if not row["token"])


def test_a_file_has_a_name_and_is_not_shown_by_browsers(files, scenario):
    person = scenario.stage.people[0].lower()
    path = f"/api/v1/transactions?address={person}&format=csv"
    headers = files.get(path, buffered=True).headers
    assert headers["Content-Disposition"] == f'attachment; filename="transactions-{person}.csv"'
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert (headers["Cache-Control"], headers["Vary"]) == ("no-store", "Accept")
    head = files.head(path, buffered=True)
    assert (head.data, head.headers["Content-Length"]) == (b"", headers["Content-Length"])


def test_a_file_is_for_clients_that_prefer_it_to_json_whatever_is_cached(files):
    assert files.get("/api/v1/blocks").headers["Vary"] == "Accept, Accept-Encoding"
    firefox = (
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
    )
    preferred = {
        **dict.fromkeys(("", "*/*", firefox, "application/json", "text/*"), "application/json"),
        **dict.fromkeys(("text/csv;q=0", "text/csv;q=nan", "text/csv;q=x"), "application/json"),
        **dict.fromkeys(("text/csvx", "text/csv;q=0.5, */*"), "application/json"),
        "application/json, text/csv": "application/json",
        **dict.fromkeys(("text/csv", "Text/CSV; charset=utf-8", "text/csv, */*"), "text/csv"),
        **dict.fromkeys(("text/csv, */*;q=0.1", "application/json;q=0.9, text/csv"), "text/csv"),
        "application/x-ndjson": "application/x-ndjson",
        "text/csv;q=0.5, application/x-ndjson": "application/x-ndjson",
    }
    for accept, kind in preferred.items():
        answer = files.get("/api/v1/blocks", headers={"Accept": accept}, buffered=True)
        assert (answer.status_code, answer.mimetype) == (200, kind), accept
    accept = {"Accept": "text/csv"}
    by_format = files.get("/api/v1/blocks?format=json", headers=accept, buffered=True)
    assert by_format.mimetype == "application/json"


def test_what_cannot_be_a_file_is_refused_as_json(files):
    missing = files.get(f"/api/v1/tokens/0x{40 * '9'}/holders?format=csv", buffered=True)
    assert (missing.status_code, missing.json["code"]) == (404, "not_found")
    not_stored = files.get("/api/v1/logs?format=csv", buffered=True)
    assert (not_stored.status_code, "SCAN_LOGS" in not_stored.json["error"]) == (404, True)


def test_files_have_a_limit_of_their_own(indexed, tmp_path):
    client = indexed.client(rate_limit_files="2/minute", data_dir=tmp_path)
    codes = [client.get("/api/v1/tokens?format=csv", buffered=True).status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    refused = client.get("/api/v1/tokens?format=csv", buffered=True)
    assert "2 files" in refused.json["error"]
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert client.get("/api/v1/tokens").status_code == 200


def test_blocks_and_forks_meanwhile_are_not_in_it(world, tmp_path):
    world.anvil.mine(11)
    world.read()
    reader = Reader(sources(world.client), "client")
    reader.sources.get(FileBounds).page_rows = 3
    pages, window = [], list_pages.Window(100, 0)

    def read(window):
        pages.append(blocks.page(reader, window))
        if len(pages) == 2:
            world.anvil.reorganise(4)
            world.anvil.mine()
            world.read()
        return pages[-1]

    before = blocks.page(reader, window).data
    written = write_list(reader, "blocks", read, None, Format.NDJSON, window, tmp_path)
    assert blocks.page(reader, window).data != before
    assert len(pages) == 4
    assert [orjson.loads(line) for line in written.file] == orjson.loads(before)
    assert written.last.next is None


def test_places_of_files_are_bounded(client):
    """A limit of one client is its own fault, 429, and one of the service is 503."""
    places = client.application.extensions["scan"].sources.get(FilePlaces).open
    reasons = []
    for holders in (["127.0.0.1"], [f"192.0.2.{number}" for number in range(MAX_OPEN)]):
        assert all(map(places.take, holders))
        refused = client.get("/api/v1/blocks?format=csv")
        assert int(refused.headers["Retry-After"]) > 0
        reasons.append((refused.status_code, refused.json["code"]))
        for holder in holders:
            places.give_back(holder)
    assert reasons == [(429, "rate_limited"), (503, "unavailable")]


@pytest.mark.check
def test_a_third_client_waits_for_a_place():
    places = FilePlaces(writing_wait_s=30.0)

    def write(client):
        with places.writing(client):
            return client

    with ThreadPoolExecutor(1) as pool, ExitStack() as held:
        held.enter_context(places.writing("a"))
        held.enter_context(places.writing("b"))
        third = pool.submit(write, "c")
        with pytest.raises(TimeoutError):
            third.result(timeout=0.1)
        held.close()
        assert third.result(timeout=WAIT_S) == "c"
