"""Filters of API v2 choose the rows that the chain's say, and counts are of what they name."""

from collections import Counter

import pytest

from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.blockscout.tests.asking import UNSEEN, Asking, most
from scan.extensions.blockscout.tests.published import faults
from scan.extensions.blockscout.transaction_lists import ListBounds
from tests.support.indexing import client_over, sources
from tests.support.made_blocks import Move, address

pytestmark = pytest.mark.thorough

KINDS = """
    blob_transaction coin_transfer contract_call contract_creation token_transfer token_creation
""".split()


@pytest.fixture(scope="module")
def internal(ask):
    return ask.rows("/internal-transactions", items_count=100)


def test_internal_transactions_of_one_transaction(ask, internal):
    counts = Counter(row["transaction_hash"] for row in internal)
    for sent, count in counts.most_common(3):
        rows = ask.rows("/internal-transactions", transaction_hash=sent, items_count=7)
        assert rows == [row for row in internal if row["transaction_hash"] == sent]
        assert len(rows) == count
        assert ask.rows(f"/transactions/{sent}/internal-transactions") == rows[::-1]
    unknown = {"transaction_hash": "0x" + "9d" * 32}
    assert ask.client.get("/api/v2/internal-transactions", query_string=unknown).status_code == 404


def test_internal_transactions_of_a_block_by_type(ask, internal):
    blocks = {row["block_number"] for row in internal}
    types = {row["type"] for row in internal}
    assert {"call", "create", "create2"} <= types
    for block in blocks:
        path = f"/blocks/{block}/internal-transactions"
        own = [row for row in internal if row["block_number"] == block]
        assert ask.rows(path) == own
        for type_ in (*types, "stop", "reward"):
            rows = ask.rows(path, internal_type=type_, items_count=2)
            assert rows == [row for row in own if row["type"] == type_]
        for call in ("call", "delegatecall", "staticcall", "callcode"):
            rows = ask.rows(path, call_type=call)
            assert rows == [row for row in own if row["type"] == call]


def test_internal_transactions_without_value_can_be_left_out(database_url, chain):
    ask = Asking(client_over(database_url))
    kinds = ((TransferType.CREATE, 0), (TransferType.CALL, 5), (TransferType.CREATE2, 0))
    parties = address("factory"), address("made")
    inside = [InternalTransfer(0, n, kind, *parties, v) for n, (kind, v) in enumerate(kinds)]
    moves = [Move(address("sender"), address("factory"))]
    chain.append(moves, internal_transfers=inside, is_traced=True)
    path = f"/addresses/0x{address('factory').hex()}/internal-transactions"
    for listed in ("/internal-transactions", path, "/blocks/0/internal-transactions"):
        assert [row["value"] for row in ask.rows(listed)] == ["0", "5", "0"]
        assert ask.rows(listed, include_zero_value="true") == ask.rows(listed)
        assert [row["value"] for row in ask.rows(listed, include_zero_value="false")] == ["5"]


def test_transactions_of_a_block_by_kind(ask, truth):
    sources(ask.client).get(ListBounds).compared = 5
    shown = set()
    for block in truth.blocks[:: max(1, len(truth.blocks) // 25)]:
        path = f"/blocks/{block['number']}/transactions"
        whole = ask.rows(path)
        for kind in KINDS:
            own = [row for row in whole if kind in row["transaction_types"]]
            assert ask.rows(path, type=kind, items_count=3) == own
            shown |= {kind} if own else set()
    assert {"coin_transfer", "contract_call", "contract_creation", "token_transfer"} <= shown


def test_kinds_are_those_of_the_chain(ask, client, scenario, truth):
    """A text sent to an account without code is no call, and a token's contract is its creation."""
    records = {t["hash"]: t for t in truth.transactions}
    callees = {t["toAddress"] for t in truth.transactions} - {None}
    codes = {to: scenario.anvil.call("eth_getCode", to, "latest") for to in callees}
    contracts = {to for to, code in codes.items() if code != "0x"}
    rows = ask.rows("/transactions", items_count=100)
    for row in rows:
        record, kinds = records[row["hash"]], row["transaction_types"]
        assert ("contract_call" in kinds) is (record["toAddress"] in contracts)
        # Lists leave out what has no token's function.
        token = client.get(f"/api/v1/tokens/{record['contractAddress']}")
        assert ("token_creation" in kinds) is (token.status_code == 200)
    assert any("token_creation" in row["transaction_types"] for row in rows)
    to_accounts = [row for row in rows if records[row["hash"]]["toAddress"] in callees - contracts]
    assert {row["method"] for row in to_accounts} == {None}
    assert any(records[row["hash"]]["methodId"] is not None for row in to_accounts)


def test_items_of_one_holder(ask, truth):
    held = Counter()
    for holder in sorted(truth.addresses):
        items = ask.rows(f"/addresses/{holder}/nft", items_count=100)
        tokens = {t["tokenAddress"]: t["type"] for t in truth.tokens_held_by(holder)}
        owner_of = {"BEP721": holder, "BEP1155": None}
        for token, type_ in ((t, type_) for t, type_ in tokens.items() if type_ in owner_of):
            path = f"/tokens/{token}/instances"
            rows = ask.rows(path, holder_address_hash=holder, items_count=3)
            own = [item for item in items if item["token"]["address_hash"].lower() == token]
            assert [(r["id"], r["value"]) for r in rows] == [(i["id"], i["value"]) for i in own]
            assert all("token" not in row for row in rows)
            owners = {row["owner"] and row["owner"]["hash"].lower() for row in rows}
            assert owners == {owner_of[type_]}
            assert ask.rows(path, holder_address_hash=UNSEEN) == []
            held[type_] += len(rows)
    assert {*held} == {"BEP721", "BEP1155"}


def test_verified_contracts_by_name_address_and_language(explorer, many):
    def addresses(**query):
        body = explorer.client.get("/api/v2/smart-contracts", query_string=query).json
        assert body is not None and not faults("/api/v2/smart-contracts", body)
        return [item["address"]["hash"].lower() for item in body["items"]]

    assert many.lower() in addresses() and many.lower() in addresses(filter="solidity")
    assert many.lower() in addresses(q="Many") and addresses(q=many) == [many.lower()]
    assert addresses(q="never heard of it") == addresses(filter="vyper") == []


def test_tokens_by_their_number_of_holders(ask):
    def counts_of(tokens):
        """Without those that are by events which do not add up."""
        return [int(token["holders_count"]) for token in tokens if token["holders_count"]]

    counts = counts_of(ask.rows("/tokens", items_count=4))
    assert counts == sorted(counts, reverse=True) and len(set(counts)) > 1
    oldest = ask.rows("/tokens", items_count=4, sort="holders_count", order="asc")
    assert counts_of(oldest) == counts[::-1]


def test_the_gas_of_a_contract_is_that_of_its_callers(ask, truth):
    received = Counter()
    sent = Counter()
    for record in truth.transactions:
        received[record["toAddress"]] += int(record["gasUsed"])
        sent[record["fromAddress"]] += int(record["gasUsed"])
    token = max(truth.tokens, key=lambda token: received[token["address"]])["address"]
    assert ask(f"/addresses/{token}/counters")["gas_usage_count"] == str(received[token]) != "0"
    person = most(truth, "txCount")
    assert ask(f"/addresses/{person}/counters")["gas_usage_count"] == str(sent[person])


def test_blocks_are_counted_for_their_miner(ask, truth):
    mined = Counter(block["miner"].lower() for block in truth.blocks)
    for account in (*mined, most(truth, "txCount"), UNSEEN):
        assert ask(f"/addresses/{account}/counters")["validations_count"] == str(mined[account])
        assert ask(f"/addresses/{account}")["has_validated_blocks"] is (mined[account] > 0)


def test_state_changes_go_on_by_their_count(ask, truth):
    sent = next(t["hash"] for t in truth.transactions if int(t["value"]) > 0)
    path = f"/transactions/{sent}/state-changes"
    whole = ask(path)
    assert len(whole["items"]) > 2 and whole["next_page_params"] is None
    assert ask(path, items_count=2)["next_page_params"] == {"state_changes_count": 2}
    assert ask.rows(path, items_count=2) == whole["items"]


def test_state_changes_have_what_tokens_changed(ask, truth):
    moved = Counter(transfer["transactionHash"] for transfer in truth.token_transfers)
    of_types = {t["tokenType"]: t["transactionHash"] for t in truth.token_transfers}
    kinds = set()
    for sent in {*dict(moved.most_common(10)), *of_types.values()}:
        gained = Counter()
        for transfer in [t for t in truth.token_transfers if t["transactionHash"] == sent]:
            key = transfer["tokenAddress"], transfer["tokenId"]
            gained[transfer["fromAddress"], *key] -= int(transfer["value"])
            gained[transfer["toAddress"], *key] += int(transfer["value"])
        shown = ask.rows(f"/transactions/{sent}/state-changes", items_count=100)
        rows = [row for row in shown if row["type"] == "token"]
        kinds |= {row["token"]["type"] for row in rows}
        shown = {
            (
                row["address"]["hash"].lower(),
                row["token"]["address_hash"].lower(),
                row["token_id"],
            ): int(row["change"])
            for row in rows
        }
        changes = {key: change for key, change in gained.items() if change and int(key[0], 16)}
        assert shown.items() <= changes.items()
        items = {row["token_id"] for row in rows if row["token"]["type"] == "ERC-721"}
        assert {key[2] for key in shown} >= items
    assert kinds == {"ERC-20", "ERC-721"}


def test_pages_have_as_many_rows_as_are_wanted(client):
    ask = Asking(client)
    for items_count, count in ((1, 1), (73, 73), (100, 100), (5000, 100)):
        body = ask("/transactions", items_count=items_count)
        assert len(body["items"]) == count
        assert set(body["next_page_params"]) == {"block_number", "index"}
    assert client.get("/api/v2/transactions?items_count=0").status_code == 422
