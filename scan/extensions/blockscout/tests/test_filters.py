"""Filters of API v2 choose the rows that the chain's say, and counts are of what they name."""

from collections import Counter

import pytest

from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.blockscout.tests import asking, published
from scan.extensions.blockscout.transaction_lists import ListBounds
from tests.support.indexing import client_over, sources
from tests.support.made_blocks import Move, address

pytestmark = pytest.mark.thorough


def test_internal_transactions_of_a_transaction_or_a_block_by_type(ask):
    internal = ask.rows("/internal-transactions", items_count=100)
    assert {"call", "create", "create2"} <= {row["type"] for row in internal}
    counts = Counter(row["transaction_hash"] for row in internal)
    for sent, _ in counts.most_common(3):
        own = [row for row in internal if row["transaction_hash"] == sent]
        rows = ask.rows("/internal-transactions", transaction_hash=sent, items_count=7)
        assert rows == own
        assert ask.rows(f"/transactions/{sent}/internal-transactions") == rows[::-1]
    unknown = {"transaction_hash": "0x" + "9d" * 32}
    assert ask.client.get("/api/v2/internal-transactions", query_string=unknown).status_code == 404
    for block in {row["block_number"] for row in internal}:
        path = f"/blocks/{block}/internal-transactions"
        own = [row for row in internal if row["block_number"] == block]
        assert ask.rows(path) == own
        for name, types in (
            ("internal_type", "call create create2 stop reward"),
            ("call_type", "call delegatecall staticcall callcode"),
        ):
            for type_ in types.split():
                rows = ask.rows(path, **{name: type_}, items_count=2)
                assert rows == [row for row in own if row["type"] == type_]


def test_internal_transactions_without_value_can_be_left_out(database_url, chain):
    ask = asking.Asking(client_over(database_url))
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
    kinds = "blob_transaction coin_transfer contract_call contract_creation token_transfer"
    shown = set()
    for block in truth.blocks[:: max(1, len(truth.blocks) // 25)]:
        path = f"/blocks/{block['number']}/transactions"
        whole = ask.rows(path)
        for kind in (*kinds.split(), "token_creation"):
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


def test_verified_contracts_by_name_address_and_language(explorer, many):
    """And how many there are, which Etherscan's form lists, too."""

    def addresses(**query):
        body = explorer.client.get("/api/v2/smart-contracts", query_string=query).json
        assert body is not None and not published.faults("/api/v2/smart-contracts", body)
        return [item["address"]["hash"].lower() for item in body["items"]]

    assert many.lower() in addresses() and many.lower() in addresses(filter="solidity")
    assert many.lower() in addresses(q="Many") and addresses(q=many) == [many.lower()]
    assert addresses(q="never heard of it") == addresses(filter="vyper") == []
    counters = explorer.get("/api/v2/smart-contracts/counters")
    assert counters is not None and int(counters["verified_smart_contracts"]) >= len(addresses())
    rows = explorer.get("/api?module=contract&action=listcontracts")
    row = next(row for row in rows["result"] if row["Address"] == many.lower())
    assert (row["ContractName"], row["CompilerVersion"][:2]) == ("Many", "v0")
