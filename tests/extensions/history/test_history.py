"""The history of an address: its rows add up to what the node says it has, however it is read."""

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask.testing import FlaskClient

from app import create_app
from scan.database.connection import Database
from scan.database.lists import all_credit_types
from scan.ethereum.blocks import Withdrawal
from scan.ethereum.internal_transfers import InternalTransfer, TransferType
from scan.extensions.history import queries as history_query
from scan.http.services import Services
from scan.queries.reader import Reader
from tests.api.test_bad_input import require_parameter
from tests.conftest import Played
from tests.support.anvil import RpcError
from tests.support.database import execute
from tests.support.faulty_node import Calls, Fault, FaultyNode, Forward, Reply
from tests.support.indexing import Indexing, settings_for
from tests.support.lists import Listed, by_links
from tests.support.made_blocks import TOKEN, Chain, Move, address
from tests.support.scenario.stage import MINERS, STRANGERS
from tests.support.serving import NOWHERE

Row = dict[str, Any]
DEV_BALANCE = 10_000 * 10**18
SIGN = {"in": 1, "out": -1, "self": 0}
NUMBERS = itertools.count()


def history(client: FlaskClient, address: str, limit: int = 100, **filters: Any) -> list[Row]:
    """Every row, page by page; where there is a total, it is their number."""
    listed = Listed(f"/addresses/{address}/history", "history", is_counted=False)
    return by_links(client, listed, limit, **filters)


def get(client: FlaskClient, address: str, **arguments: Any) -> Any:
    response = client.get(f"/api/v1/addresses/{address}/history", query_string=arguments)
    assert response.status_code == 200, response.text
    return response.json


def sums(rows: list[Row], key: Callable[[Row], Any]) -> Counter[Any]:
    totals: Counter[Any] = Counter()
    for row in rows:
        totals[key(row)] += SIGN[row["direction"]] * int(row["amount"])
    return totals


def is_coin(row: Row) -> bool:
    return row["tokenAddress"] is None


@pytest.fixture(scope="module")
def histories(client: FlaskClient, scenario: Played) -> dict[str, list[Row]]:
    """Whole ones, newest first, of everybody in the scenario and of its contracts, in pages of
    such a size that some of them end within a transaction."""
    stage = scenario.stage
    contracts = [contract.address for contract in stage.contracts.values()]
    pools = [pool.address for pool in stage.pools.values()]
    everybody = (*stage.people, *STRANGERS, *MINERS, *contracts, *pools, "0x" + 40 * "0")
    return {key: history(client, key, 23) for key in dict.fromkeys(map(str.lower, everybody))}


def test_coin_adds_up_to_the_balance(
    scenario: Played, client: FlaskClient, histories: dict[str, list[Row]]
) -> None:
    """Also with blobs, failed transactions, tips, self-destructions and transfers to oneself."""
    kinds = Counter(row["type"] for rows in histories.values() for row in rows)
    assert kinds.keys() == {
        *("transaction", "fee", "internal_transfer", "token_transfer", "block_reward", "genesis")
    }
    funded = {person.lower() for person in scenario.stage.people}
    for key, rows in histories.items():
        balance = int(scenario.anvil.call("eth_getBalance", key, "latest"), 16)
        assert balance == sums(rows, is_coin)[True], key
        openings = [int(row["amount"]) for row in rows if row["type"] == "genesis"]
        assert openings == ([DEV_BALANCE] if key in funded else []), key
        page = get(client, key, limit=1)
        assert (page["complete"], page["reason"], page["unexplained"]) == (True, None, "0")


def test_each_token_adds_up_to_its_balance_by_events(
    client: FlaskClient, histories: dict[str, list[Row]]
) -> None:
    """A token that lies gives somebody less than nothing, which its history says."""
    liars = set()
    for key, rows in histories.items():
        if key == "0x" + 40 * "0":  # where tokens come from and go to
            continue
        held = client.get(f"/api/v1/addresses/{key}/tokens?limit=100").json["tokens"]
        totals = sums(rows, lambda row: row["tokenAddress"])
        del totals[None]
        assert +totals == {r["tokenAddress"]: int(r["balance"]) for r in held}, key
        for token in (token for token, total in totals.items() if total < 0):
            page = get(client, key, token=token)
            assert (page["complete"], page["reason"]) == (False, "inconsistent_events")
            liars.add(token)
        items = client.get(f"/api/v1/addresses/{key}/items?limit=100").json["items"]
        of_items = sums(rows, lambda row: (row["tokenAddress"], row["tokenId"]))
        for item in items:
            assert of_items[item["tokenAddress"], item["tokenId"]] == int(item["balance"])
    assert len(liars) >= 1


def test_a_token_s_rows_are_checked_against_what_it_answers(
    scenario: Played, client: FlaskClient, histories: dict[str, list[Row]]
) -> None:
    types = {token["address"]: token["type"] for token in scenario.truth.tokens}
    reasons: Counter[str | None] = Counter()
    for key, rows in histories.items():
        totals = sums(rows, lambda row: row["tokenAddress"])
        for token in [token for token in totals if token is not None][:12]:
            page = get(client, key, token=token, limit=1)
            reasons[page["reason"]] += 1
            if key == "0x" + 40 * "0" or types[token] == "BEP1155":
                assert page["unexplained"] is None
                assert page["reason"] in (None, "inconsistent_events")
                continue
            call = {"to": token, "data": "0x70a08231" + key[2:].rjust(64, "0")}
            try:
                balance = int(scenario.anvil.call("eth_call", call, "latest")[:66], 16)
            except (RpcError, ValueError):
                assert page["unexplained"] is None
                assert page["reason"] in ("balance_unknown", "inconsistent_events")
                continue
            assert page["unexplained"] == str(balance - totals[token]), (key, token)
            expected = None if balance == totals[token] else "unexplained_balance"
            assert page["reason"] in (expected, "inconsistent_events")
            assert page["complete"] is (page["reason"] is None)
    assert reasons.keys() >= {None, "balance_unknown", "inconsistent_events"}, reasons


def with_code(token: str, code: str) -> Fault:
    """Calls see other code at the token's address; the node keeps its own, which others read."""

    def reply(calls: Calls, forward: Forward) -> Reply:
        changed = [
            {**call, "params": [*call["params"], {token: {"code": code}}]}
            if call["method"] == "eth_call"
            else call
            for call in calls
        ]
        return Reply(body=forward(changed))

    return reply


@pytest.mark.parametrize(
    ("code", "reason", "balance"),
    [
        ("0x60075f5260205ff3", "unexplained_balance", 7),  # it took the rest without an event
        ("0x5f195f5260205ff3", "unexplained_balance", 2**256 - 1),
        ("0x601f5ff3", "balance_unknown", None),  # a byte too short
        ("0x5f5ffd", "balance_unknown", None),
        ("0x5b5f56", "balance_unknown", None),  # without an end
        ("0x620100005ff3", "balance_unknown", None),  # too long
        ("0x", "balance_unknown", None),  # it has destroyed itself
    ],
)
def test_a_token_whose_balances_differ_from_its_events_is_not_complete(
    indexed: Indexing,
    scenario: Played,
    histories: dict[str, list[Row]],
    code: str,
    reason: str,
    balance: int | None,
) -> None:
    token = scenario.stage.contracts["dollar"].address.lower()
    key = max(histories, key=lambda key: sums(histories[key], lambda r: r["tokenAddress"])[token])
    net = sums(histories[key], lambda row: row["tokenAddress"])[token]
    with FaultyNode(scenario.anvil.url) as node:
        node.fault = with_code(token, code)
        settings = replace(indexed.settings, rpc_urls=(node.url,))
        page = get(create_app(settings).test_client(), key, token=token, limit=1)
    assert (page["complete"], page["reason"]) == (False, reason)
    assert page["unexplained"] == (None if balance is None else str(balance - net))
    honest = get(create_app(indexed.settings).test_client(), key, token=token, limit=1)
    assert (honest["complete"], honest["unexplained"]) == (True, "0")


def test_rows_are_in_the_chain_s_order_and_say_where_they_stand(
    scenario: Played, histories: dict[str, list[Row]]
) -> None:
    transactions = {t["hash"]: t for t in scenario.truth.transactions}
    for rows in histories.values():
        places = [(r["blockNumber"], r["transactionIndex"]) for r in rows]
        order = [(block, 10**6 if index is None else index) for block, index in places]
        assert order == sorted(order, reverse=True)
        for row in rows:
            exact = Fraction(int(row["amount"]), 10 ** row["decimals"])
            assert Fraction(row["amountDecimal"]) == exact and "e" not in row["amountDecimal"]
            if row["type"] in ("block_reward", "genesis"):
                assert row["transactionHash"] is row["methodId"] is row["counterparty"] is None
                continue
            transaction = transactions[row["transactionHash"]]
            for name in ("blockNumber", "timestamp", "transactionIndex", "methodId"):
                assert row[name] == transaction[name]
            assert transaction["status"] or row["type"] == "fee"
            assert (row["logIndex"] is not None) is (row["type"] == "token_transfer")
            assert (row["transferIndex"] is not None) is (row["type"] == "internal_transfer")


def grouped(client: FlaskClient, address: str, **arguments: Any) -> list[Row]:
    """Every entry, page by page, and that an entry is a transaction, or the rest of a block."""
    entries: list[Row] = []
    cursor: dict[str, str] = {}
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


def test_rows_are_grouped_by_transaction(
    client: FlaskClient, histories: dict[str, list[Row]]
) -> None:
    """Either way, however long pages are, with filters, no transaction is cut in two."""
    busy = sorted(histories, key=lambda key: len(histories[key]))[-4:]
    for key, limit in zip((*busy, STRANGERS[0], MINERS[0]), (3, 7, 25, 100, 2, 10), strict=True):
        entries = grouped(client, key, limit=limit)
        assert [row for entry in entries for row in entry["rows"]] == histories[key]
        assert not any(entry["hasMore"] for entry in entries)
        backwards = grouped(client, key, limit=limit, orderBy="asc", direction="out")
        sent = [row for row in histories[key] if row["direction"] == "out"]
        assert [row for entry in backwards for row in entry["rows"]] == sent[::-1]


def test_a_transaction_with_too_many_rows_is_one_entry(
    client: FlaskClient, histories: dict[str, list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has its fee and says that it has more; what is left out is on no other page either."""
    monkeypatch.setattr("scan.extensions.history.queries.LEAST_ROWS_READ", 2)
    monkeypatch.setattr("scan.extensions.history.queries.ROWS_READ_PER_ENTRY", 1)
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


def entry_of(row: Row) -> tuple[int, str | None]:
    return row["blockNumber"], row["transactionHash"]


def balances(client: FlaskClient, address: str, **arguments: Any) -> list[Row]:
    """The points of all pages, oldest first."""
    points: list[Row] = []
    cursor: dict[str, str] = {}
    while True:
        path = f"/api/v1/addresses/{address}/balances"
        page = client.get(path, query_string={**arguments, **cursor})
        assert page.status_code == 200, page.text
        assert page.json["unproven"] == (["symbol", "decimals"] if "token" in arguments else [])
        blocks = [point["blockNumber"] for point in page.json["balances"]]
        assert blocks == sorted(set(blocks)) and len(blocks) <= arguments.get("points", 40) + 1
        points = [*page.json["balances"], *points]
        if page.json["next"] is None:
            return points
        cursor = {"cursor": page.json["next"]}


@pytest.mark.parametrize("most", [10_000, 9])
def test_balances_over_time_are_the_node_s(
    scenario: Played,
    client: FlaskClient,
    histories: dict[str, list[Row]],
    monkeypatch: pytest.MonkeyPatch,
    most: int,
) -> None:
    """Of the coin as the node has it at each block, of tokens as transfers say; also in parts, and
    after a block or at a time."""
    monkeypatch.setattr("scan.extensions.history.balance_history.MAX_ROWS_READ", most)
    times = {block["number"]: block["timestamp"] for block in scenario.truth.blocks}
    head = scenario.anvil.head()

    def require(point: Row, key: str, number: int, moved: list[Row] | None = None) -> None:
        """The right point of a block: of the coin, or of a token that moved so."""
        if moved is None:
            right = int(scenario.anvil.call("eth_getBalance", key, hex(number)), 16)
        else:
            right = sums([row for row in moved if row["blockNumber"] <= number], is_coin)[False]
        assert point == {"blockNumber": number, "timestamp": times[number], "balance": str(right)}

    busy = sorted(histories, key=lambda key: len(histories[key]))[-3:]
    for key in (*busy, STRANGERS[0], MINERS[0]):
        rows = histories[key]
        points = balances(client, key, points=13, **{"": most})
        assert points[-1]["blockNumber"] == head
        oldest = min(
            row["blockNumber"] for row in rows if row["type"] != "genesis" and is_coin(row)
        )
        assert points[0]["blockNumber"] == oldest
        for point in points:
            require(point, key, point["blockNumber"])
        for number in (1, head // 3, head - 1, head, head + 5):
            last = min(number, head)
            at = at_of(client, key, blockTo=number, **{"": most})
            require(at, key, last)
            newest = max(n for n in times if times[n] <= times[last])
            by_time = at_of(client, key, timeTo=times[last], **{"": most})
            assert by_time["blockNumber"] == newest and (newest > last or by_time == at)
        points = balances(client, key, points=5, blockTo=head // 3, **{"": most})
        assert all(point["blockNumber"] <= head // 3 for point in points)
        for token in {row["tokenAddress"] for row in rows} - {None}:
            moved = [row for row in rows if row["tokenAddress"] == token]
            points = balances(client, key, points=5, token=token, **{"": most})
            assert bool(points) is (int(key, 16) != 0)
            for point in points:
                require(point, key, point["blockNumber"], moved)
            if points:
                held = at_of(client, key, blockTo=head // 3, token=token, **{"": most})
                require(held, key, head // 3, moved)
    nobody = f"0x{'ab' * 20}"
    require(at_of(client, nobody, blockTo=head, **{"": most}), nobody, head)


def at_of(client: FlaskClient, address: str, **arguments: Any) -> Any:
    answer = client.get(f"/api/v1/addresses/{address}/balances", query_string=arguments)
    assert answer.status_code == 200, answer.text
    return answer.json["at"]


def test_bad_parameters_of_balances_are_refused(client: FlaskClient) -> None:
    path = f"/api/v1/addresses/{STRANGERS[0]}/balances"
    for name, value in (
        *(("points", "0"), ("points", "101"), ("token", "0x1"), ("cursor", "abc")),
        *(("blockTo", "x"), ("timeTo", "yesterday")),
    ):
        require_parameter(client.get(path, query_string={name: value}), name)
    for given in ({"timeTo": "1999-01-01T00:00:00Z"}, {"token": STRANGERS[0]}):
        assert client.get(path, query_string=given).status_code == 404
    nobody = client.get(f"/api/v1/addresses/0x{'ab' * 20}/balances").json
    assert (nobody["balances"], nobody["next"]) == ([], None)


def is_listed(
    row: Row, types: str = "", blockFrom: int = 0, blockTo: int = 10**9, **others: str
) -> bool:
    fields = {"direction": "direction", "token": "tokenAddress", "counterparty": "counterparty"}
    return (
        (not types or row["type"] in types.split(","))
        and blockFrom <= row["blockNumber"] <= blockTo
        and all(row[fields[name]] == value for name, value in others.items())
    )


def filterings(rows: list[Row], head: int, seed: int) -> Iterator[dict[str, Any]]:
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


def test_filters_give_what_a_plain_loop_finds(
    scenario: Played, client: FlaskClient, histories: dict[str, list[Row]]
) -> None:
    """With an exact total wherever neither token nor counterparty is given."""
    busy = sorted(histories, key=lambda key: len(histories[key]))[-8:]
    for seed, key in enumerate((*busy, MINERS[0])):
        rows = histories[key]
        filters = filterings(rows, scenario.anvil.head(), seed)
        for number, arguments in enumerate(itertools.islice(filters, 12)):
            expected = [row for row in rows if is_listed(row, **arguments)]
            total = None if {"token", "counterparty"} & arguments.keys() else len(expected)
            if number % 2:
                expected.reverse()
                arguments["orderBy"] = "asc"
            page = get(client, key, limit=60, **arguments)
            assert (page["history"], page["total"]) == (expected[:60], total), (key, arguments)
            if page["next"] is not None:
                rest = get(client, key, limit=60, cursor=page["next"], **arguments)
                assert rest["history"] == expected[60:120]


def test_an_address_never_seen_has_an_empty_history(client: FlaskClient) -> None:
    page = get(client, "0x" + 40 * "7")
    assert page == {
        "history": [],
        "total": 0,
        "complete": True,
        "reason": None,
        "unexplained": "0",
        "next": None,
    }


class Made(NamedTuple):
    chain: Chain
    client: FlaskClient


@pytest.fixture
def made(database_url: str) -> Iterator[Made]:
    """Blocks that the test makes, which no node knows."""
    database = Database(database_url, statement_timeout_ms=10_000)
    chain = Chain(database)
    chain.append()
    yield Made(chain, create_app(settings_for(database_url, NOWHERE)).test_client())
    database.close()


ME, YOU = address("me"), address("you")


def mine(made: Made, **arguments: Any) -> Any:
    """A name that is ignored: each request is a new one to the response cache."""
    return get(made.client, "0x" + ME.hex(), **{"": next(NUMBERS)}, **arguments)


def test_withdrawals_and_untraced_blocks(made: Made) -> None:
    """Several withdrawals of a block, on pages of one row."""
    paid = [Withdrawal(index, 1, ME, 10**9 * (index + 1)) for index in range(5)]
    made.chain.append(withdrawals=paid[:3])
    made.chain.append(withdrawals=paid[3:])
    made.chain.store_balances({ME: 15 * 10**9})
    page = mine(made)
    assert [row["withdrawalIndex"] for row in page["history"]] == [4, 3, 2, 1, 0]
    assert {row["type"] for row in page["history"]} == {"withdrawal"}
    assert (page["total"], page["complete"], page["unexplained"]) == (5, True, "0")
    rows = history(made.client, "0x" + ME.hex(), 1)
    assert rows == page["history"]
    assert history(made.client, "0x" + ME.hex(), 1, orderBy="asc") == rows[::-1]
    assert len(history(made.client, "0x" + ME.hex(), 2, blockFrom=2)) == 2
    made.chain.append([Move(YOU, address("contract"))], is_traced=False)
    assert mine(made)["reason"] == "untraced_blocks"


@pytest.mark.parametrize(
    ("is_created_before", "fork", "keeps"),
    [
        *((True, "shanghai", False), (True, "cancun", True), (True, "amsterdam", True)),
        *((False, "shanghai", False), (False, "cancun", False), (False, "amsterdam", True)),
    ],
)
def test_what_a_contract_burns_by_destroying_itself_goes_out(
    made: Made, is_created_before: bool, fork: str, keeps: bool
) -> None:
    """It keeps its coin where an older transaction created it, since Cancun (EIP-6780), and always
    since Amsterdam (EIP-8246)."""
    created = InternalTransfer(0, 0, TransferType.CREATE, YOU, ME, 10)
    destroyed = InternalTransfer(0, 1, TransferType.SELFDESTRUCT, ME, ME, 10)
    if is_created_before:
        made.chain.append([Move(YOU, YOU)], internal_transfers=[created], is_traced=True)
    made.chain.append(
        [Move(YOU, YOU)],
        internal_transfers=[destroyed] if is_created_before else [created, destroyed],
        is_traced=True,
        keeps_destroyed=fork != "shanghai",
        block_access_list_hash=bytes(32) if fork == "amsterdam" else None,
    )
    made.chain.store_balances({ME: 10 if keeps else 0})
    page = mine(made)
    burns = [
        (row["direction"], row["amount"], row["transactionIndex"])
        for row in page["history"]
        if row["type"] == "burn"
    ]
    assert burns == ([] if keeps else [("out", "10", 0)])
    assert (page["complete"], page["unexplained"]) == (True, "0")
    assert page["total"] == len(page["history"])
    assert mine(made, direction="out")["total"] == len(burns)
    assert balances(made.client, "0x" + ME.hex())[-1]["balance"] == str(10 - 10 * len(burns))
    made.chain.unwind(0)
    made.chain.append()
    assert mine(made)["history"] == []


def test_no_total_counts_more_rows_than_may_be(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that have no checkpoints: four are one too many."""
    monkeypatch.setattr("scan.extensions.history.queries.MAX_COUNTED", 3)
    credits = [type_.name for type_ in all_credit_types() if type_.flow == "in"]
    for index in range(4):
        made.chain.append(
            [Move(ME, ME, 5)],
            miner=ME,
            withdrawals=[Withdrawal(index, 1, ME, 10)],
            credits=[(None, type_, ME, 1) for type_ in range(len(credits))],
        )
    made.chain.append(miner=ME)  # a block without fees is no reward
    for type_, way in (
        *((type_, "in") for type_ in (*credits, "block_reward", "withdrawal")),
        *(("transaction", "self"), ("transaction", "out")),
    ):
        for first, read in ((1, 4), (2, 3)):
            page = mine(made, types=type_, direction=way, blockFrom=first)
            rows = 0 if way == "out" else read
            assert len(page["history"]) == rows
            assert page["total"] == (None if read == 4 else rows), (type_, way)
        if way == "in":
            for blocks in ({}, {"blockFrom": 1}):
                assert mine(made, types=type_, direction="out", **blocks)["total"] == 0
    for type_ in ("block_reward", "withdrawal"):  # which have counters
        assert mine(made, types=type_)["total"] == 4


def test_a_transfer_that_comes_meanwhile_is_in_no_older_balance(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a token's holder has at the head is read once."""
    made.chain.append([Move(YOU, ME, tokens=7)])
    made.chain.append()
    read = Reader.row

    def row(reader: Reader, statement: str, **params: Any) -> Any:
        values = read(reader, statement, **params)
        if statement == "queries/balances_list":
            made.chain.append([Move(YOU, ME, tokens=100)])
        return values

    monkeypatch.setattr(Reader, "row", row)
    path = f"/api/v1/addresses/0x{ME.hex()}/balances?token=0x{TOKEN.hex()}&blockTo=2"
    held = made.client.get(path).json
    assert held["at"]["balance"] == held["balances"][-1]["balance"] == "7"


def test_balances_are_of_one_address_and_one_unit(
    made: Made, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another has withdrawals and credits of the same blocks; both have a token, and one a unit
    that is not the coin. Who produces a block has its fees, if it has any."""
    types = [type_.number for type_ in all_credit_types() if type_.flow == "in"]
    made.chain.append(miner=ME)
    for _ in range(4):
        made.chain.append(
            [Move(YOU, ME, 30_000, tokens=3), Move(ME, YOU, 1, tokens=1)],  # for 21,000
            internal_transfers=[
                InternalTransfer(0, 0, TransferType.CALL, YOU, ME, 40),
                InternalTransfer(0, 1, TransferType.CALL, ME, YOU, 5),
            ],
            is_traced=True,
            withdrawals=[
                *(Withdrawal(0, 1, ME, 100), Withdrawal(1, 1, YOU, 10_000)),
                Withdrawal(2, 1, ME, 10**6, "GNO"),
            ],
            credits=[(None, type_, holder, 1) for type_ in types for holder in (ME, YOU)],
            miner=ME,
        )
    in_block = 30_000 - 21_001 + 2 * 21_000 + 35 + 100 + len(types)
    made.chain.store_balances({ME: 4 * in_block})
    for unit, change in (({}, in_block), ({"token": "0x" + TOKEN.hex()}, 2)):
        for last in (2, 3, 5):
            points = balances(made.client, "0x" + ME.hex(), blockTo=last, **unit)
            after = {point["blockNumber"]: int(point["balance"]) for point in points}
            assert after == {number: (number - 1) * change for number in range(2, last + 1)}
    for filters, rows in (
        ({"token": "0x" + TOKEN.hex()}, 8),
        ({"counterparty": "0x" + YOU.hex()}, 24),
    ):
        page = mine(made, limit=100, **filters)["history"]
        assert len(page) == rows
        assert {row["counterparty"] for row in page} == {"0x" + YOU.hex()}
    # Rows before the first block that is kept may be there still.
    execute(database_url, "INSERT INTO retention VALUES (true, 4, 5, now(), 0)")
    monkeypatch.setattr("scan.extensions.history.balance_history.MAX_ROWS_READ", 3)
    client = create_app(settings_for(database_url, NOWHERE)).test_client()
    for unit in ({}, {"token": "0x" + TOKEN.hex()}):
        page = client.get(f"/api/v1/addresses/0x{ME.hex()}/balances", query_string=unit).json
        assert [point["blockNumber"] for point in page["balances"]] == [4, 5]
        assert page["next"] is None


def test_a_history_that_begins_late_is_not_complete(made: Made, database_url: str) -> None:
    database = Database(database_url, statement_timeout_ms=10_000)
    database.execute_script(
        "INSERT INTO chain (chain_id, genesis_hash, start_block) VALUES (1, '\\x00', 5)"
    )
    database.close()
    assert mine(made)["reason"] == "start_block"


@pytest.mark.parametrize("direction", ["out", "self"])
def test_a_direction_takes_a_place_where_an_address_often_paid_itself(
    made: Made, monkeypatch: pytest.MonkeyPatch, direction: str
) -> None:
    """Otherwise rows to itself without end would be read past in any number of threads."""
    monkeypatch.setattr("scan.extensions.history.queries.MAX_TO_SELF", 3)
    for _ in range(4):
        made.chain.append([Move(ME, ME, 5), Move(YOU, ME, 1)])
    places = made.client.application.extensions["scan"].sources.unbounded_statements
    with contextlib.ExitStack() as held:
        for client in range(3):
            held.enter_context(places.place(client))
        refused = status_of(made, ME, direction)
        assert (refused, status_of(made, ME, "in"), status_of(made, YOU, direction)) == (
            503,
            200,
            200,
        )
    assert status_of(made, ME, direction) == 200


def status_of(made: Made, key: bytes, direction: str) -> int:
    path = f"/api/v1/addresses/0x{key.hex()}/history?direction={direction}"
    return made.client.get(path).status_code


def test_a_node_that_fails_is_asked_once_for_a_file(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page of it needs the balance at the head; each time-out would be the file's."""
    for _ in range(6):
        made.chain.append([Move(YOU, ME, 5)] * 5)
    monkeypatch.setattr("scan.extensions.exports.list_file.PAGE_ROWS", 10)
    services: Services = made.client.application.extensions["scan"]
    settings = replace(services.settings, data_dir=tmp_path)
    made.client.application.extensions["scan"] = replace(services, settings=settings)
    states = services.sources.account_states
    read, requests = states.all_at, itertools.count()
    monkeypatch.setattr(states, "all_at", lambda *given: (next(requests), read(*given))[1])
    response = made.client.get(f"/api/v1/addresses/0x{ME.hex()}/history?format=ndjson")
    assert len(response.data.splitlines()) == 30
    assert response.headers["X-Scan-History-Complete"] == "false"
    assert next(requests) == 1
