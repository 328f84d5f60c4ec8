"""The list of all activities by filters, beside what the chain's rows say."""

import csv
import io

import pytest

from scan.extensions.blockscout.advanced_filters import ActivityBounds
from scan.extensions.blockscout.tests.asking import most
from tests.support import database, indexing
from tests.support.made_blocks import TOKEN, Move, address

PATH = "/advanced-filters"


def shown_key(item):
    names = ("token_transfer_index", "token_transfer_batch_index", "internal_transaction_index")
    return (item["hash"], *(item[name] for name in names))


def recipient(row):
    """Internal creations have no recipient in Blockscout's form."""
    return None if row.get("type") in ("create", "create2") else row["toAddress"]


@pytest.fixture(scope="module")
def expected(truth):
    """The keys of what a filter chooses among all activities of the chain, the newest first."""
    positions = {t["hash"]: (t["blockNumber"], t["transactionIndex"]) for t in truth.transactions}
    moves, inside = truth.token_transfers, truth.internal_transfers
    rows = [
        *((2, (t["hash"], None, None, None), t) for t in truth.transactions),
        *((1, (t["transactionHash"], t["logIndex"], t["batchIndex"], None), t) for t in moves),
        *((0, (t["transactionHash"], None, None, t["transferIndex"]), t) for t in inside),
    ]

    def position(row):
        rank, (sent, *numbers), _ = row
        return (*positions[sent], rank, *(number or 0 for number in numbers))

    rows.sort(key=position, reverse=True)
    return lambda choose: [key for rank, key, row in rows if choose(rank, row)]


def keys(ask, **parameters):
    return [shown_key(item) for item in ask.rows(PATH, **parameters)]


def test_all_activities_are_listed_once_whatever_the_page_size(ask, truth, expected):
    whole = expected(lambda rank, row: True)
    assert keys(ask, items_count=100) == whole and len(whole) > 1000
    busy = most(truth, "txCount")
    sent = expected(lambda _, row: row["fromAddress"] == busy)
    assert keys(ask, from_address_hashes_to_include=busy, items_count=7) == sent


def test_types_methods_tokens_amounts_and_times_choose_rows(ask, truth, expected):
    only_tokens = expected(lambda rank, row: rank == 1 and row["tokenType"] == "BEP20")
    assert keys(ask, transaction_types="ERC-20", items_count=100) == only_tokens != []
    created = expected(lambda rank, row: rank != 1 and recipient(row) is None)
    assert keys(ask, transaction_types="contract_creation", items_count=100) == created != []
    paid = expected(lambda rank, row: rank != 1 and row["value"] != "0")
    assert keys(ask, transaction_types="COIN_TRANSFER", items_count=100) == paid != []
    token = max(truth.tokens, key=lambda token: token["holderCount"])["address"]
    of_token = expected(lambda rank, row: rank == 1 and row["tokenAddress"] == token)
    assert keys(ask, token_contract_address_hashes_to_include=token) == of_token != []
    without = expected(lambda rank, row: rank != 1 or row["tokenAddress"] != token)
    assert keys(ask, token_contract_address_hashes_to_exclude=token, items_count=100) == without
    native = expected(lambda rank, row: rank != 1)
    assert keys(ask, token_contract_address_hashes_to_include="native", items_count=100) == native
    method = "0xa9059cbb"
    called = {t["hash"] for t in truth.transactions if t["methodId"] == method}
    by_method = expected(
        lambda rank, row: rank != 0 and (row.get("transactionHash") or row["hash"]) in called
    )
    assert keys(ask, methods=method, items_count=100) == by_method != []
    sender = most(truth, "txCount")
    of_sender = {"from_address_hashes_to_include": sender, "to_address_hashes_to_include": sender}
    either = expected(lambda _, row: sender in (row["fromAddress"], recipient(row)))
    assert keys(ask, **of_sender, age_from="1970-01-01T00:00:00.00Z") == either != []
    to_self = expected(lambda _, row: sender == row["fromAddress"] == recipient(row))
    assert keys(ask, **of_sender, address_relation="and") == to_self
    others = expected(lambda _, row: sender != row["fromAddress"])
    assert keys(ask, from_address_hashes_to_exclude=sender, items_count=100) == others
    large = expected(lambda rank, row: rank != 1 and int(row["value"]) >= 10**18)
    assert keys(ask, amount_from="1", token_contract_address_hashes_to_include="native") == large
    middle = truth.blocks[len(truth.blocks) // 2]["timestamp"]
    older = expected(lambda rank, row: row["timestamp"] <= middle)
    assert keys(ask, age_to=middle, items_count=100) == older != []


def test_a_page_ends_after_a_bounded_number_of_rows(ask, expected):
    indexing.sources(ask.client).get(ActivityBounds).compared = 60
    pages = [*ask.pages(PATH, transaction_types="contract_creation")]
    assert len(pages) > 10
    rows = [shown_key(item) for page in pages for item in page]
    assert rows == expected(lambda rank, row: rank != 1 and recipient(row) is None)


def test_no_cell_of_the_file_is_a_formula(database_url, chain):
    chain.append([Move(address("alice"), address("bob"), tokens=5)])
    database.execute(database_url, "UPDATE tokens SET symbol = '=HYPERLINK(1)'")
    query = {"token_contract_address_hashes_to_include": f"0x{TOKEN.hex()}"}
    file = indexing.client_over(database_url).get(f"/api/v2{PATH}/csv", query_string=query).text
    [row] = csv.DictReader(io.StringIO(file))
    assert row["TokenSymbol"] == "'=HYPERLINK(1)"
