"""The history of an address: its rows add up to what the node says it has, however it is read."""

import itertools
import operator
import random
import re
from collections import Counter

import pytest

from scan.extensions.history import queries as history_query
from scan.extensions.history.queries import HistoryBounds
from scan.extensions.history.tests.rows import NUMBERS, get, is_coin, sums
from scan.extensions.history.views import MAX_LINES
from tests.support.anvil import ZERO
from tests.support.explorer import behind
from tests.support.faulty_node import routed
from tests.support.indexing import sources
from tests.support.scenario.stage import MINERS, STRANGERS


def test_coin_adds_up_to_the_balance(scenario, client, histories):
    """Also with blobs, failed transactions, tips, self-destructions and transfers to oneself."""
    dev_balance = 10_000 * 10**18
    kinds = Counter(row["type"] for rows in histories.values() for row in rows)
    assert kinds.keys() == set(
        "transaction fee internal_transfer token_transfer block_reward genesis".split()
    )
    funded = {person.lower() for person in scenario.stage.people}
    for key, rows in histories.items():
        balance = int(scenario.anvil.call("eth_getBalance", key, "latest"), 16)
        assert balance == sums(rows, is_coin)[True], key
        openings = [int(row["amount"]) for row in rows if row["type"] == "genesis"]
        assert openings == ([dev_balance] if key in funded else []), key
        page = get(client, key, limit=1)
        assert (page["complete"], page["reason"], page["unexplained"]) == (True, None, "0")


def test_each_token_adds_up_to_its_balance_by_events(client, histories, truth):
    """A token that lies gives somebody less than nothing, which its history says."""
    liars = set()
    for key in histories.keys() - {ZERO}:  # where tokens come from and go to
        rows = histories[key]
        held = client.get(f"/api/v1/addresses/{key}/tokens?limit=100").json["tokens"]
        totals = sums(rows, lambda row: row["tokenAddress"])
        del totals[None]
        by_events = {r["tokenAddress"]: int(r["balance"]) for r in held if "balanceBlock" not in r}
        # Of others the events do not add up: tests/extensions/test_sums_of_events.py.
        add_up = {t for t, holders in truth.holders.items() if holders and not truth.read.get(t)}
        assert {t: n for t, n in (+totals).items() if t in add_up} == by_events, key
        # Nobody holds what a contract without functions says.
        for token in (t for t, total in totals.items() if total < 0 and truth.holders.get(t)):
            page = get(client, key, token=token)
            assert (page["complete"], page["reason"]) == (False, "inconsistent_events")
            liars.add(token)
        items = client.get(f"/api/v1/addresses/{key}/items?limit=100").json["items"]
        of_items = sums(rows, lambda row: (row["tokenAddress"], row["tokenId"]))
        for item in items:
            assert of_items[item["tokenAddress"], item["tokenId"]] == int(item["balance"])
    assert len(liars) >= 1


def test_a_token_whose_balances_differ_or_are_not_known_is_not_complete(
    indexed, scenario, histories
):
    """To calls the largest holder's token has other code."""
    token = scenario.stage.contracts["dollar"].address.lower()
    net_of = {k: sums(rows, lambda r: r["tokenAddress"])[token] for k, rows in histories.items()}
    key = max(net_of, key=net_of.__getitem__)

    def found(code):
        def overridden(calls):
            """The node keeps its own code, which others read."""
            override = {token: {"code": code}}
            return node.forward([{**c, "params": [*c["params"], override]} for c in calls])

        with behind(indexed.settings) as (client, node):
            node.fault = routed(lambda call: call["method"] == "eth_call", overridden)
            page = get(client, key, token=token, limit=1)
        return page["complete"], page["reason"], page["unexplained"]

    unknown = (False, "balance_unknown", None)
    answers = {
        "0x60075f5260205ff3": (False, "unexplained_balance", str(7 - net_of[key])),
        "0x5f195f5260205ff3": (False, "unexplained_balance", str(2**256 - 1 - net_of[key])),
        "0x601f5ff3": unknown,  # a byte too short
        "0x5f5ffd": unknown,
        "0x5b5f56": unknown,  # without an end
        "0x620100005ff3": unknown,  # too long
        "0x": unknown,  # it has destroyed itself
    }
    assert {code: found(code) for code in answers} == answers


def test_rows_are_in_the_chain_s_order_and_say_where_they_stand(scenario, histories):
    transactions = {t["hash"]: t for t in scenario.truth.transactions}
    for rows in histories.values():
        positions = [(r["blockNumber"], r["transactionIndex"]) for r in rows]
        order = [(block, 10**6 if index is None else index) for block, index in positions]
        assert order == sorted(order, reverse=True)
    every = [*itertools.chain(*histories.values())]
    of_blocks = [row for row in every if row["type"] in ("block_reward", "genesis")]
    of_transactions = [row for row in every if row not in of_blocks]
    assert of_blocks and of_transactions
    for row in of_blocks:
        assert row["transactionHash"] is row["methodId"] is row["counterparty"] is None
    for row in of_transactions:
        transaction = transactions[row["transactionHash"]]
        for name in ("blockNumber", "timestamp", "transactionIndex", "methodId"):
            assert row[name] == transaction[name]
        assert transaction["status"] or row["type"] == "fee"
        assert (row["logIndex"] is not None) is (row["type"] == "token_transfer")
        assert (row["transferIndex"] is not None) is (row["type"] == "internal_transfer")


def grouped(client, address, **arguments):
    """Every entry, page by page, and that an entry is a transaction, or the rest of a block."""
    entries = []
    cursor = {}
    while True:
        page = get(client, address, group="transaction", **arguments, **cursor)
        entries += page["history"]
        assert page["total"] is None and len(page["history"]) <= arguments.get("limit", 25)
        if page["next"] is None:
            keys = [(entry["blockNumber"], entry["transactionHash"]) for entry in entries]
            assert len(set(keys)) == len(keys)
            for entry in entries:
                assert int(entry["coinChange"]) == sums(entry["rows"], is_coin)[True]
                for row in entry["rows"]:
                    assert {
                        name: row[name] for name in history_query.OF_ENTRY
                    }.items() <= entry.items()
            return entries
        cursor = {"cursor": page["next"]}


@pytest.mark.parametrize(
    ("whose", "limit"),  # an address, or its place from the one with the shortest history
    [(-1, 100), (STRANGERS[0], 2), (MINERS[0], 10)],
)
def test_rows_are_grouped_by_transaction(client, histories, whose, limit):
    """Either way, however long pages are, with filters, no transaction is cut in two."""
    by_length = sorted(histories, key=lambda key: len(histories[key]))
    key = by_length[whose] if isinstance(whose, int) else whose
    entries = grouped(client, key, limit=limit)
    assert [row for entry in entries for row in entry["rows"]] == histories[key]
    assert not any(entry["hasMore"] for entry in entries)
    backwards = grouped(client, key, limit=limit, orderBy="asc", direction="out")
    sent = [row for row in histories[key] if row["direction"] == "out"]
    assert [row for entry in backwards for row in entry["rows"]] == sent[::-1]


def test_a_transaction_with_too_many_rows_is_one_entry(client, histories):
    """It has its fee and says that it has more; what is left out is on no other page either."""
    bounds = sources(client).get(HistoryBounds)
    bounds.least_rows_read, bounds.rows_read_per_entry = 2, 1
    entry_of = operator.itemgetter("blockNumber", "transactionHash")
    cut = 0
    for key, rows in sorted(histories.items(), key=lambda item: len(item[1]))[-2:]:
        every = {name: [*of] for name, of in itertools.groupby(rows, entry_of)}
        for order in ("asc", "desc"):
            entries = grouped(client, key, limit=2, orderBy=order, **{"": next(NUMBERS)})
            assert {entry_of(entry) for entry in entries} == every.keys()
            for entry in entries:
                whole = every[entry_of(entry)][:: 1 if order == "desc" else -1]
                assert all(row in whole for row in entry["rows"])
                assert entry["hasMore"] or entry["rows"] == whole
                types = {row["type"] for row in entry["rows"]}
                assert types == {row["type"] for row in whole}
                cut += entry["hasMore"] and len(entry["rows"]) < len(whole)
    assert cut > 3


def is_listed(row, types="", blockFrom=0, blockTo=10**9, **others):
    fields = {"direction": "direction", "token": "tokenAddress", "counterparty": "counterparty"}
    return (
        (not types or row["type"] in types.split(","))
        and blockFrom <= row["blockNumber"] <= blockTo
        and all(row[fields[name]] == value for name, value in others.items())
    )


def filterings(rows, head, seed):
    """Parameters of lists: each alone, together with others, or left out."""
    chance = random.Random(seed)
    kinds = ("transaction", "fee", "internal_transfer", "token_transfer", "block_reward")
    while True:
        row = chance.choice(rows)
        possible = {
            "types": (0.5, ",".join(chance.sample(kinds, chance.randint(1, 3)))),
            "direction": (0.6, chance.choice(("in", "out", "self"))),
            "token": (0.15, row["tokenAddress"]),
            "counterparty": (0.15, row["counterparty"]),
            "blockFrom": (0.4, chance.randint(0, head)),
            "blockTo": (0.4, chance.randint(0, head + 3)),
        }
        chosen = {name: value for name, (p, value) in possible.items() if chance.random() < p}
        yield {name: value for name, value in chosen.items() if value is not None}


def test_filters_give_what_a_plain_loop_finds(scenario, client, histories):
    """With an exact total wherever neither token nor counterparty is given."""
    busy = sorted(histories, key=lambda key: len(histories[key]))[-8:]
    continued = []
    for seed, key in enumerate((*busy, MINERS[0])):
        rows = histories[key]
        filters = itertools.islice(filterings(rows, scenario.anvil.head(), seed), 4)
        orders = itertools.cycle((({}, 1), ({"orderBy": "asc"}, -1)))
        for chosen, (order, step) in zip(filters, orders, strict=False):
            expected = [row for row in rows if is_listed(row, **chosen)][::step]
            total = None if {"token", "counterparty"} & chosen.keys() else len(expected)
            arguments = chosen | order
            page = get(client, key, limit=60, **arguments)
            assert (page["history"], page["total"]) == (expected[:60], total), (key, arguments)
            assert (page["next"] is None) is (len(expected) <= 60), (key, arguments)
            continued.append((key, arguments | {"cursor": page["next"]}, expected[60:120]))
    following = [page for page in continued if page[1]["cursor"] is not None]
    assert following
    for key, arguments, expected in following:
        assert get(client, key, limit=60, **arguments)["history"] == expected


def test_an_entry_with_many_rows_is_short(client, histories):
    rows_of = Counter(
        (person, row["blockNumber"], row["transactionHash"])
        for person, rows in histories.items()
        for row in rows
        if row["type"] != "fee" and row["transactionHash"] is not None
    )
    [((person, block, _), most)] = rows_of.most_common(1)
    assert most > MAX_LINES
    query = f"/history?group=transaction&limit=25&blockTo={block}"
    entries = client.get(f"/api/v1/addresses/{person}{query}").json["history"]
    counts = [sum(row["type"] != "fee" for row in entry["rows"]) for entry in entries]
    page = client.get(f"/address/{person}?tab=history&blockTo={block}").text
    expected = [str(count - MAX_LINES) for count in counts if count > MAX_LINES]
    assert re.findall(r">and (\d+) more<", page) == expected != []
