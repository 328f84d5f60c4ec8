"""Sums of lists beside those of the node's rows, for many addresses and filters, before and after a
fork; and their bounds."""

import itertools
import re
from collections import defaultdict
from decimal import Decimal
from html import unescape

import pytest

from scan.extensions.history.sums import views
from scan.extensions.history.sums.views import ATTEMPTS
from scan.pages.formatting import worth
from scan.queries.holdings import UnitPrices, exact_worth
from tests.support import brute_force, database, expected, explain, fixed_prices
from tests.support.indexing import Indexing, sources
from tests.support.lists import get
from tests.support.scenario import play
from tests.support.scenario.everyday import everyday
from tests.support.truth import read_truth
from tests.support.watched_database import watched

pytestmark = pytest.mark.thorough

# Where sums of an entity are, below those of an address.
PATHS = {
    "transactions": "transactions",
    "token_transfers": "transfers",
    "internal_transfers": "internal",
}
LATER = (1_701_388_790, 1_709_000_000)  # blocks around the end of November 2023; February 2024


@pytest.fixture(scope="module")
def index(shared_anvil, shared_database_url):
    anvil = shared_anvil
    stage = play(anvil, rounds=2, poison=False)
    for time in LATER:
        anvil.call("evm_setNextBlockTimestamp", time)
        for _ in range(4):
            everyday(stage, 9)
    with Indexing(shared_database_url, anvil.url, until=anvil.head()) as indexing:
        yield indexing


def by_month(rows, *key):
    groups = defaultdict(list)
    for row in rows:
        for month in ("all", row["timestamp"][:7]):
            groups[month, *(row[name] for name in key)].append(row)
    return groups


def total(rows, field="value"):
    return str(sum(int(row[field]) for row in rows))


def of_transactions(truth, rows, own):
    expected = []
    for (month,), group in (by_month(rows) or {("all",): []}).items():
        moving = [row for row in group if row["status"]]
        sent = [row for row in group if row["fromAddress"] == own]
        received = [
            row for row in moving if own in (row["toAddress"], truth.created.get(row["hash"]))
        ]
        expected.append({
            "month": month, "count": len(group), "failedCount": len(group) - len(moving),
            "valueIn": total(received), "valueOut": total([row for row in sent if row["status"]]),
            "fees": total(sent, "fee"), "gasUsed": total(sent, "gasUsed"),
            "allFees": total(group, "fee"), "allGasUsed": total(group, "gasUsed"),
        })  # fmt: skip
    return expected


def of_tokens(truth, rows, own):
    types = {token["address"]: token["type"] for token in truth.tokens}
    expected = []
    for (month, token), group in by_month(rows, "tokenAddress").items():
        ways = {"valueIn": "toAddress", "valueOut": "fromAddress"}
        expected.append({
            "month": month,
            "tokenAddress": token,
            "tokenType": types[token],
            "tokenSymbol": group[0]["tokenSymbol"],
            "tokenDecimals": group[0]["tokenDecimals"],
            "unproven": ["tokenType", "tokenSymbol", "tokenDecimals"],
            "count": len(group),
            "value": total(group),
            **{name: own and total([row for row in group if row[party] == own])
               for name, party in ways.items()},
        })  # fmt: skip
    return expected


def of_internal(_, rows, own):
    return [
        {
            "month": month,
            "count": len(group),
            "valueIn": total([row for row in group if row["toAddress"] == own]),
            "valueOut": total([row for row in group if row["fromAddress"] == own]),
            "unproven": ["count", "valueIn", "valueOut"],
        }
        for (month,), group in (by_month(rows) or {("all",): []}).items()
    ]


EXPECTED = {
    "transactions": of_transactions,
    "token_transfers": of_tokens,
    "internal_transfers": of_internal,
}


def require(client, truth, path, entity, rows, **query):
    own = query.pop("own")
    answer = get(client, path, **query)
    expected = EXPECTED[entity](truth, rows, own)
    key = lambda sum_: (sum_["month"], sum_.get("tokenAddress"))  # noqa: E731
    assert sorted(answer["sums"], key=key) == sorted(expected, key=key), (path, query)
    assert (answer["total"], answer["next"]) == (len(rows), None)
    months = [sum_["month"] for sum_ in answer["sums"]]
    assert months == sorted(months, reverse=True)  # `all` comes before digits


def require_all(client, anvil, busiest):
    truth = read_truth(anvil)
    rows_of = {entity: getattr(truth, entity) for entity in PATHS}
    lists = brute_force.Chain(rows_of, truth.created)
    addresses = sorted(truth.addresses, key=lambda a: -len(truth.transactions_of(a)))
    day = truth.blocks[0]["timestamp"][:7]
    for entity, name in PATHS.items():
        for own in [*addresses[:busiest], *sorted(truth.created.values())[:1], addresses[-1]]:
            mine = lists.find({"entity": entity, "filter": {"address": own}})
            others = {row["toAddress"] for row in mine} - {own, None}
            filters = [
                {}, {"from": own}, {"to": own}, {"from": own, "to": own}, {"counterparty": own},
                {"timeFrom": f"{day}-01T00:00:00Z"}, {"blockTo": truth.head - 3},
                *({"counterparty": other} for other in sorted(others)[:2]),
            ]  # fmt: skip
            if entity == "transactions":
                methods = {row["methodId"] for row in mine} - {None}
                filters += [{"status": False}, {"status": True, "to": own}]
                filters += [{"method": method} for method in sorted(methods)[:2]]
            if entity == "token_transfers":
                tokens = sorted({row["tokenAddress"] for row in mine})
                filters += [{"tokenAddress": token, "from": own} for token in tokens[:2]]
                filters += [{"tokenType": "BEP721"}]
            for given in filters:
                rows = lists.find({"entity": entity, "filter": {"address": own, **given}})
                query = {k: str(v).lower() if v in (True, False) else v for k, v in given.items()}
                path = f"/addresses/{own}/{name}/sums"
                require(client, truth, path, entity, rows, own=own, **query)
    for token in truth.tokens[:4]:
        path = f"/tokens/{token['address']}/transfers/sums"
        for given in ({}, {"address": addresses[0]}, {"from": addresses[1]}):
            filters_of_token = {"tokenAddress": token["address"], **given}
            rows = lists.find({"entity": "token_transfers", "filter": filters_of_token})
            own = given.get("address")
            require(client, truth, path, "token_transfers", rows, own=own, **given)


def test_sums_are_those_of_the_nodes_rows_before_and_after_a_fork(index, shared_anvil):
    """Of the busiest addresses, so many of them."""
    client = index.client()
    require_all(client, shared_anvil, 2)
    shared_anvil.reorganise(5)
    shared_anvil.mine(2)
    index.wait_for(shared_anvil.head())
    require_all(client, shared_anvil, 1)


def test_a_page_shows_what_a_wallet_paid_in_a_month_one_link_from_its_list(index, shared_anvil):
    client, truth = index.client(), read_truth(shared_anvil)
    own = next(row["fromAddress"] for row in truth.transactions if not row["status"])
    listed = client.get(f"/address/{own}?status=false&timeTo=2024-12-31").text
    [link] = re.findall(r'href="([^"]+)">Sums by month', listed)
    page = client.get(unescape(link))
    assert page.status_code == 200
    failed = get(client, f"/addresses/{own}/transactions/sums", status="false")
    assert page.text.count('data-label="Month"') == len(failed["sums"])
    assert f'value="{failed["sums"][0]["fees"]}"' in page.text
    price = Decimal(10**6)
    priced = next(t for t in truth.token_transfers if t["toAddress"] == own and t["tokenDecimals"])
    of_tokens = {priced["tokenAddress"]: Decimal("2.5")}
    given = UnitPrices("USD", "us", "2026-01-31T00:00:00Z", price, of_tokens)
    fixed_prices.price(client, given)
    [first, *_] = get(client, f"/addresses/{own}/transactions/sums", blockFrom=0)["sums"]
    fees = first["fees"]
    assert (Decimal(first["feesWorth"]), first["currency"]) == (Decimal(fees) / 10**12, "USD")
    sums = get(client, f"/addresses/{own}/transfers/sums", blockFrom=0)["sums"]
    for sum_ in sums:
        expected = Decimal(sum_["valueIn"]).scaleb(-sum_["tokenDecimals"]) * Decimal("2.5")
        is_priced = sum_["tokenAddress"] == priced["tokenAddress"]
        assert sum_.get("valueInWorth") == (f"{expected:f}" if is_priced else None)
    page = client.get(f"/address/{own}/transactions/sums?blockFrom=0")
    assert f"≈ {worth(exact_worth(fees, 18, price))} <bdi>USD</bdi>" in page.text


def test_many_tokens_are_refused_with_a_way_out(index, shared_anvil):
    client, own = index.client(), shared_anvil.accounts[0]
    sources(client).get(views.SumBounds).sums = 3
    answer = client.get(f"/api/v1/addresses/{own}/transfers/sums?blockFrom=1")
    assert (answer.status_code, answer.json["field"]) == (400, "tokenAddress")
    page = client.get(f"/address/{own}/transfers/sums?blockFrom=1")
    assert page.status_code == 400 and "Token is needed" in page.text


@pytest.mark.parametrize(("most", "status"), [(ATTEMPTS - 1, 200), (2 * ATTEMPTS, 503)])
def test_an_index_that_changes_in_between_is_read_again(index, shared_anvil, most, status):
    changes = itertools.count()

    def change(statement, *_):
        if statement == "queries/transactions_get_bounds" and next(changes) < most:
            database.execute(index.url, "UPDATE chain SET version = version + 1")

    path = f"/api/v1/addresses/{shared_anvil.accounts[0]}/transactions/sums?blockFrom=1"
    with watched(index.settings, change) as client:
        assert client.get(path).status_code == status


def test_busy_lists_are_read_by_indexes_within_a_bound(postgres, seeded_template):
    small = {"chain", "daily_stats", "label_state", "retention"}
    with postgres.cloned(seeded_template) as url, explain.explained(url) as service:
        client = service.client
        newest = get(client, "/transactions", limit=100)["transactions"]
        senders = [row["fromAddress"] for row in newest]
        busy = max(senders, key=senders.count)
        token = get(client, "/tokens", limit=1)["tokens"][0]["address"]
        lists = [f"/addresses/{busy}/{name}" for name in PATHS.values()]
        for path in (*lists, f"/tokens/{token}/transfers", f"{lists[0]}?from={busy}"):
            bare, _, query = path.partition("?")
            plans, answer = service.plans(f"/api/v1{bare}/sums?{query}&blockFrom=100")
            plans[-1].require_indexes(small=small)
            assert answer["total"] > 50
        most = 512
        sources(client).get(views.SumBounds).entries = most
        whole = f"/addresses/{busy}/transactions/sums"
        refused = client.get(f"/api/v1{whole}?blockFrom=1")
        assert (refused.status_code, refused.json["field"]) == (400, "blockFrom")
        [first] = re.findall(r"at least (\d+)", refused.json["error"])
        answer = get(client, whole, blockFrom=first)
        listed = get(client, f"/addresses/{busy}/transactions", blockFrom=first)
        assert most - 128 < answer["total"] == listed["total"] <= most + 128
        page = client.get(f"/address/{busy}/transactions/sums")
        assert page.status_code == 400 and f"First block must be at least {first}" in page.text
        assert client.get(f"/address/{busy}/transactions/sums?blockFrom={first}").status_code == 200
        assert f'sums?blockFrom={first}">' in page.text


def test_files_refusals_and_sums_of_nobody_are_as_expected(index, shared_anvil):
    client, own = index.client(), shared_anvil.accounts[1].lower()
    [newest, *_] = get(client, f"/addresses/{own}/transfers/sums", blockTo=40)["sums"]
    expected.compare(__file__, client, {"own": own, "token": newest["tokenAddress"]})
