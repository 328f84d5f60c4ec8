"""An entry of many rows on an address's page."""

import re


def test_an_entry_with_many_rows_is_short(client, scenario, monkeypatch):
    monkeypatch.setattr("scan.extensions.history.views.MAX_LINES", 1)
    person = scenario.truth.transactions[0]["fromAddress"]
    query = "/history?group=transaction&limit=25"
    entries = client.get(f"/api/v1/addresses/{person}{query}").json["history"]
    counts = [sum(row["type"] != "fee" for row in entry["rows"]) for entry in entries]
    page = client.get(f"/address/{person}?tab=history&=short").text
    assert re.findall(r">and (\d+) more<", page) == [str(n - 1) for n in counts if n > 1] != []
    monkeypatch.setattr("scan.extensions.history.queries.LEAST_ROWS_READ", 2)
    monkeypatch.setattr("scan.extensions.history.queries.ROWS_READ_PER_ENTRY", 0)
    path = f"/address/{person}?tab=history&=cut"
    for _ in range(60):
        page = client.get(path).text
        if re.search(r">and more than \d+ more<", page):
            return
        [cursor] = re.findall(r"&amp;cursor=([\w-]+)", page)
        path = f"/address/{person}?tab=history&cursor={cursor}"
    raise AssertionError("no transaction has more rows than a page reads")
