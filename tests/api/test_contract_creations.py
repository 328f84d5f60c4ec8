"""All contracts by their creations: by transactions and, as traces show, by contracts."""

from typing import Any

from flask.testing import FlaskClient

from tests.conftest import Played
from tests.support.derived_truth import contract_creations
from tests.support.lists import Listed, by_links, get

PATH = "/api/v1/contract-creations"
FROM_CHAIN = (
    *("address", "creator", "factory", "transactionHash", "blockNumber", "transactionIndex"),
    "timestamp",
)


def listed(client: FlaskClient, **query: object) -> tuple[list[dict[str, Any]], int | None]:
    """The whole list page by page, and its total."""
    whole = Listed("/contract-creations", "contractCreations", is_counted=False)
    page = get(client, "/contract-creations", **query)
    return by_links(client, whole, **query), page["total"]


def test_every_contract_is_listed_newest_first(client: FlaskClient, scenario: Played) -> None:
    truth = scenario.truth
    expected = contract_creations(truth)[::-1]
    assert {None} < {creation["factory"] for creation in expected}
    rows, total = listed(client)
    assert [{name: row[name] for name in FROM_CHAIN} for row in rows] == expected
    assert total == len(expected)
    assert listed(client, orderBy="asc") == (rows[::-1], total)
    tokens = {token["address"]: token for token in truth.tokens}
    for row in rows:
        token = tokens.get(row["address"], {"name": None, "symbol": None})
        assert (row["tokenName"], row["tokenSymbol"]) == (token["name"], token["symbol"])
    middle = rows[len(rows) // 2]["blockNumber"]
    older = [row for row in rows if row["blockNumber"] <= middle]
    assert listed(client, blockTo=middle) == (older, len(older))


def test_what_code_and_verifications_say_can_be_chosen(client: FlaskClient) -> None:
    rows, _ = listed(client)
    for key, field in (("verified", "verified"), ("proxy", "isProxy")):
        for value in ("true", "false"):
            same = [row for row in rows if row[field] is (value == "true")]
            assert listed(client, **{key: value}) == (same, None)
    for query in ("verified=yes", "creator=0x12", "address=0x" + "11" * 20, "limit=101"):
        assert client.get(f"{PATH}?{query}").status_code == 400, query
