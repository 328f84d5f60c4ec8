"""Counters and lines of the service of statistics, beside the days of /api/v1."""

from decimal import Decimal
from itertools import accumulate

import pytest
import yaml

from scan.extensions.blockscout.paths import answered_paths

PATH = "/stats-service/api/v1"


def points(client, name, **parameters):
    return list(client.get(f"{PATH}/lines/{name}", query_string=parameters).json["chart"])


@pytest.fixture(scope="module")
def days(client):
    """All days with blocks: those of the scenario, whose first block is of 1970 on some chains."""
    listed = client.get("/api/v1/stats/daily?from=1970-01-01&to=1970-12-31").json["days"]
    listed += client.get("/api/v1/stats/daily").json["days"]
    return [day for day in listed if day["blocks"]]


def test_lines_are_the_chains_days(client, days):
    chart = points(client, "newTxns")
    expected = [(day["date"], str(day["transactions"])) for day in days]
    assert [(point["date"], point["value"]) for point in chart] == expected
    assert [point["is_approximate"] for point in chart] == [False] * (len(days) - 1) + [True]
    assert all(point["date"] == point["date_to"] for point in chart)
    for name, field in (("txnsGrowth", "transactions"), ("contractsGrowth", "contractsCreated")):
        sums = [str(total) for total in accumulate(day[field] for day in days)]
        assert [point["value"] for point in points(client, name)] == sums
    for point, day in zip(points(client, "txnsFee"), days, strict=True):
        whole, _, fraction = point["value"].partition(".")
        assert int(whole + fraction.ljust(18, "0")) == int(day["fees"])
    last = days[-1]["date"]
    assert len(points(client, "newBlocks", **{"from": last, "to": last})) == 1
    assert points(client, "newBlocks", to="1900-01-01") == []


def test_means_and_rates_are_those_of_a_day_s_sums(client, days):
    assert sum(day["failedTransactions"] for day in days) > 0
    expected = {
        "txnsSuccessRate": [
            round(1 - Decimal(day["failedTransactions"]) / max(day["transactions"], 1), 4)
            for day in days
        ],
        "averageTxnFee": [
            Decimal(int(day["fees"]) // max(day["transactions"], 1)).scaleb(-18) for day in days
        ],
        "averageGasPrice": [
            Decimal(int(day["fees"]) // max(int(day["gasUsed"]), 1)).scaleb(-9) for day in days
        ],
        "gasUsedGrowth": [*accumulate(int(day["gasUsed"]) for day in days)],
    }
    charts = {name: points(client, name) for name in expected}
    assert {
        n: [Decimal(point["value"]) for point in chart] for n, chart in charts.items()
    } == expected


def test_spans_add_up_their_days(client, days):
    total = sum(day["transactions"] for day in days)
    for resolution in ("DAY", "WEEK", "MONTH", "YEAR"):
        chart = points(client, "newTxns", resolution=resolution)
        assert sum(int(point["value"]) for point in chart) == total
        assert all(point["date"] <= point["date_to"] for point in chart)
        assert points(client, "txnsGrowth", resolution=resolution)[-1]["value"] == str(total)
    years = points(client, "newTxns", resolution="YEAR")
    expected = ["01-01" + "12-31"] * len(years)
    assert [point["date"][5:] + point["date_to"][5:] for point in years] == expected


def test_the_document_names_all_paths_and_their_parameters(client):
    """Of the page "API docs" of Blockscout's frontend, which reads it as YAML."""
    document = yaml.safe_load(client.get(f"{PATH}/docs/swagger.yaml").text)
    served = {path for path in answered_paths() if path.startswith(PATH)}
    templates = {path.replace("{", "<").replace("}", ">") for path in document["paths"]}
    assert {f"/stats-service{path}" for path in templates} == served - {f"{PATH}/docs/swagger.yaml"}
    assert all(page["get"]["summary"] for page in document["paths"].values())
    line = document["paths"]["/api/v1/lines/{name}"]["get"]
    assert [parameter["name"] for parameter in line["parameters"]] == [
        "name", "from", "resolution", "to"
    ]  # fmt: skip
