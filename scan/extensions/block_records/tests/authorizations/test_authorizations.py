"""EIP-7702: which authorizations took effect, as the node's state has it."""

import pytest

from app import create_app
from scan.ethereum.block_validation import check_body
from scan.ethereum.client import Node
from scan.extensions.backfill.tests.backfilling import backfill, follow
from scan.extensions.block_records.tests.authorizations.delegating import (
    ALICE,
    BLOCKS,
    EVERYBODY,
    FRESH,
    delegations,
    play,
    played,
)
from scan.indexer.block_source import BlockSource
from tests.support import auditing, indexing, lists, table_digest
from tests.support.anvil import ZERO, Anvil
from tests.support.authorizations import (
    IDLE,
    MAKER,
    authorize,
    delegate_of,
    delegates_of,
    nonce_of,
    place_codes,
    send,
)
from tests.support.database import execute
from tests.support.scenario.transactions import key_of

__all__ = ["delegations"]

TRACED = "block_records,traces"
# In transactions by their block and place in it.
DELEGATES_IN = """
    SELECT hex(delegate_in(decode(substr(a.account, 3), 'hex'), a.block, a.index))
    FROM unnest(%s::text[], %s::bigint[], %s::integer[]) WITH ORDINALITY
        AS a (account, block, index, place)
    ORDER BY a.place
"""


own_delegations = pytest.fixture(played)


def rows(url):
    return [
        row for (row,) in execute(url, "SELECT to_jsonb(a) FROM authorizations a ORDER BY ordinal")
    ]


def assert_as_the_node_has_it(node, url):
    """After every block each account delegates to whom its last valid authorization says, and in a
    transaction to whom the last one up to this says."""
    in_effect = dict.fromkeys((account.address.lower() for account in EVERYBODY), ZERO)
    by_block = {}
    for row in rows(url):
        by_block.setdefault(row["block_number"], []).append(row)
    expected, in_transactions = {}, {}
    for number in range(node.head() + 1):
        for row in by_block.get(number, ()):
            assert row["is_valid"] is not None
            if row["is_valid"]:
                in_effect["0x" + row["authority"][2:]] = "0x" + row["delegate"][2:]
            for account, delegate in in_effect.items():
                in_transactions[account, number, row["transaction_index"]] = delegate
        expected |= {(account, number): delegate for account, delegate in in_effect.items()}
    assert dict(zip(expected, delegates_of(node, list(expected)), strict=True)) == expected
    columns = [list(values) for values in zip(*in_transactions, strict=True)]
    stored = execute(url, DELEGATES_IN, *columns)
    assert [delegate or ZERO for (delegate,) in stored] == [*in_transactions.values()]


def test_delegations_are_those_of_the_node(delegations):
    node, url, _ = delegations
    assert_as_the_node_has_it(node, url)
    stored = rows(url)
    outcomes = {(row["is_valid"], row["fault"], row["authority_nonce"] is None) for row in stored}
    assert outcomes == {
        (True, None, False),
        (False, None, False),
        (False, "wrong_chain", True),
        (False, "invalid_signature", True),
    }
    assert execute(url, "SELECT count(*) FROM internal_transfers WHERE type = 1")[0][0] > 0


def listed(client, **filters):
    """The whole list, a few at a time."""
    whole = lists.Listed("/authorizations", "authorizations", is_counted=False)
    return lists.by_links(client, whole, **filters)


def test_lists_have_what_was_signed_and_what_became_of_it(delegations):
    node, url, client = delegations
    every = listed(client)
    assert len(every) == len(rows(url)) > 40
    assert listed(client, orderBy="asc") == every[::-1]
    for record in every:
        sent = node.call("eth_getTransactionByHash", record["transactionHash"])
        signed = sent["authorizationList"][record["authorizationIndex"]]
        for name in ("yParity", "nonce", "chainId"):
            assert int(record[name]) == int(signed[name], 16)
        assert int(record["r"], 16) == int(signed["r"], 16)
        assert int(record["s"], 16) == int(signed["s"], 16)
        assert record["delegate"] == signed["address"].lower()
        assert (record["invalidReason"] is None) == record["valid"]
    for valid in ("true", "false"):
        records = listed(client, valid=valid)
        assert records == [record for record in every if record["valid"] is (valid == "true")]
    for hash_ in {record["transactionHash"] for record in every}:
        own = [record for record in every if record["transactionHash"] == hash_]
        assert listed(client, transaction=hash_) == own
        detail = client.get(f"/api/v1/transactions/{hash_}").json
        assert detail["type"] == 4
        assert (detail["authorizations"], detail["authorizationCount"]) == (own[::-1], len(own))
    assert listed(client, transaction="0x" + 64 * "7") == []
    other = node.call("eth_getBlockByNumber", "0x1", True)["transactions"][-1]["hash"]
    expected = other in {record["transactionHash"] for record in every}
    assert ("authorizations" in client.get(f"/api/v1/transactions/{other}").json) == expected


def test_a_delegating_account_is_shown_as_one(delegations):
    """Each delegation has until the next one begins, and the last one is what its code is now."""
    node, _, client = delegations
    assert "delegate" not in client.get(f"/api/v1/addresses/{MAKER}").json
    for account in EVERYBODY:
        address = account.address.lower()
        own = listed(client, authority=address, valid="true", orderBy="asc")
        ends = [record["untilBlock"] for record in own]
        assert ends == [record["blockNumber"] for record in own[1:]] + [None] != [None]
        assert own[-1]["delegate"] == delegate_of(node, address, node.head())
        for number in (1, node.head() // 2, node.head()):
            delegate = delegate_of(node, address, number)
            shown = client.get(f"/api/v1/addresses/{address}?block={number}").json
            assert shown["isContract"] is False
            assert shown.get("delegate", ZERO) == delegate
        [summary] = client.get(f"/api/v1/addresses?addresses={address}").json["addresses"]
        assert (summary["isContract"], summary.get("delegate", ZERO)) == (False, delegate)
        page = client.get(f"/address/{address}").text
        assert ("Delegating account" in page) == (delegate != ZERO)
        assert ("Delegates to" in page) == (delegate != ZERO)
        tab = client.get(f"/address/{address}?tab=delegations")
        assert tab.status_code == 200 and "in effect" in tab.text
    newest = listed(client)[0]
    page = client.get(f"/tx/{newest['transactionHash']}").text
    assert "<h2>Authorizations</h2>" in page and "EIP-7702" in page


@pytest.mark.thorough
def test_a_list_that_the_node_altered_contradicts_the_root(delegations):
    def contradiction(**changes):
        [(block, receipts)] = BlockSource(Node([delegations.node.url])).raw_blocks(1, 1)
        for transaction in block.transactions:
            for entry in transaction.authorizationList or ():
                entry.update(changes)
        return check_body(block, receipts).contradiction

    assert contradiction() == ""
    for changes in (
        {"address": "0x" + 40 * "7"},
        *({name: "0x77"} for name in ("chainId", "nonce", "r", "s")),
        {"yParity": "0x7"},
    ):
        assert contradiction(**changes).endswith(" and transactionsRoot"), changes


@pytest.mark.thorough
def test_what_was_not_traced_is_not_guessed(delegations, postgres, template):
    """Code that runs in an account's name may create contracts, which grow its nonce unseen; also
    before the first block of an index that begins later."""
    node = delegations.node
    with postgres.cloned(template) as traced, postgres.cloned(template) as url:
        indexing.Indexing(traced, node.url).run_until(node.head())
        known = {row["ordinal"]: row for row in rows(traced)}
        indexing.Indexing(url, node.url, traces="off").run_until(node.head())
        for row in rows(url):
            assert row["is_valid"] in (None, known[row["ordinal"]]["is_valid"])
        [(unknown,)] = execute(url, "SELECT count(*) FROM authorizations WHERE is_valid IS NULL")
        assert 0 < unknown < len(known) // 2
    with postgres.cloned(template) as url:
        indexing.Indexing(url, node.url, start_block=node.head() // 2).run_until(node.head())
        stored = rows(url)
        for row in stored:
            assert row["is_valid"] in (None, known[row["ordinal"]]["is_valid"])
        assert {row["is_valid"] for row in stored} == {None, True, False}


@pytest.mark.thorough
def test_what_an_untraced_block_created_is_not_guessed(anvil, postgres, template):
    """Between two authorizations of one block, code creates a contract in the account's name."""
    place_codes(anvil)
    for nonce, delegate in enumerate((MAKER, IDLE)):
        signed = [authorize(FRESH, delegate, nonce)]
        send(anvil, signed, to=FRESH.address, sender=key_of(3), nonce=nonce)
    anvil.mine()
    for traces, second in (("auto", False), ("off", None)):
        with postgres.cloned(template) as url:
            indexing.Indexing(url, anvil.url, traces=traces).run_until(anvil.head())
            assert [row["is_valid"] for row in rows(url)] == [True, second], traces


@pytest.mark.thorough
def test_without_traces_the_nonce_of_who_does_not_delegate_is_known(anvil, database_url):
    for authority, delegate, nonce in ((FRESH, ZERO, 0), (ALICE, MAKER, 0), (FRESH, ZERO, 1)):
        send(anvil, [authorize(authority, delegate, nonce)], sender=key_of(3))
        anvil.mine()
        indexing.Indexing(database_url, anvil.url, traces="off").run_until(anvil.head())
    assert [row["is_valid"] for row in rows(database_url)] == [True, True, True]


@pytest.mark.long
def test_what_was_missed_while_the_extension_was_off_is_not_guessed(postgres, template):
    with Anvil() as node, postgres.cloned(template) as url, postgres.cloned(template) as whole:
        for extensions in (TRACED, "none", TRACED):
            play(node)
            indexing.index_apart(url, node, extensions)
        indexing.Indexing(whole, node.url).run_until(node.head())
        known = {row["ordinal"]: row["is_valid"] for row in rows(whole)}
        stored = {row["ordinal"]: row["is_valid"] for row in rows(url)}
        older = {ordinal: valid for ordinal, valid in stored.items() if ordinal >> 20 <= BLOCKS}
        since = {ordinal: stored[ordinal] for ordinal in stored.keys() - older.keys()}
        assert all(known[ordinal] == valid for ordinal, valid in older.items())
        assert all(valid in (None, known[ordinal]) for ordinal, valid in since.items())
        assert {None, True, False} == set(since.values())
        settings = indexing.settings_for(url, node.url)
        assert auditing.run(settings, node=True) == 0
        client = create_app(settings).test_client()
        for account in EVERYBODY:
            shown = client.get(f"/api/v1/addresses/{account.address}").json
            assert shown.get("delegate") in (None, delegate_of(node, account.address, node.head()))


@pytest.mark.long
def test_bulk_reorganisations_and_the_audit_agree(own_delegations, postgres, template, tmp_path):
    node, whole, _ = own_delegations
    head = node.head()
    assert auditing.run(indexing.settings_for(whole, node.url), node=True) == 0
    with postgres.cloned(template) as url:
        settings = indexing.settings_for(url, node.url)
        assert backfill(settings, tmp_path / "files", last_block=head - BLOCKS // 2)
        follow(settings, head)
        assert table_digest.digest(url) == table_digest.digest(whole)
        client = create_app(settings).test_client()
        several = next(r for r in listed(client) if r["authorizationIndex"] > 0)
        query = {"transaction": several["transactionHash"], "limit": 1}
        page = client.get("/api/v1/authorizations", query_string=query).json
        node.reorganise(BLOCKS // 3)
        send(node, [authorize(ALICE, IDLE, nonce_of(node, ALICE))])
        node.mine()
        follow(settings, head + 1)
        assert_as_the_node_has_it(node, url)
        assert rows(url)[-1]["is_valid"]
        query["cursor"] = page["next"]  # of a transaction that was taken back
        refused = client.get("/api/v1/authorizations", query_string=query)
        assert (refused.status_code, refused.json["code"]) == (409, "reorganised")
        assert table_digest.digest(url) == table_digest.fresh_digest(postgres, template, node)
        execute(url, "UPDATE authorizations SET is_valid = NOT is_valid WHERE fault IS NULL")
        assert auditing.run(settings) == 1
        assert auditing.run(settings, repair=True) == 0
        assert_as_the_node_has_it(node, url)
