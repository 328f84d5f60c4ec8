"""EIP-7702: which authorizations took effect, as the node's state has it."""

import pytest

from scan.ethereum.block_validation import check_body
from scan.extensions.block_records.tests.authorizations import delegating
from scan.extensions.block_records.tests.authorizations.delegating import delegations
from tests.support import authorizations as accounts
from tests.support import indexing, lists
from tests.support.anvil import ZERO
from tests.support.database import execute
from tests.support.indexing import source_of
from tests.support.scenario.transactions import key_of

__all__ = ["delegations"]

# In transactions by their block and place in it.
DELEGATES_IN = """
    SELECT hex(delegate_in(decode(substr(a.account, 3), 'hex'), a.block, a.index))
    FROM unnest(%s::text[], %s::bigint[], %s::integer[]) WITH ORDINALITY
        AS a (account, block, index, place)
    ORDER BY a.place
"""


def rows(url):
    stored = execute(url, "SELECT to_jsonb(a) FROM authorizations a ORDER BY ordinal")
    return [row for (row,) in stored]


def assert_as_the_node_has_it(node, url):
    """After every block each account delegates to whom its last valid authorization says, and in a
    transaction to whom the last one up to this says."""
    in_effect = dict.fromkeys((account.address.lower() for account in delegating.EVERYBODY), ZERO)
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
    assert dict(zip(expected, accounts.delegates_of(node, list(expected)), strict=True)) == expected
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


def test_a_delegating_account_is_shown_as_one(delegations):
    """Each delegation has until the next one begins, and the last one is what its code is now."""
    node, _, client = delegations
    assert "delegate" not in client.get(f"/api/v1/addresses/{accounts.MAKER}").json
    for account in delegating.EVERYBODY:
        address = account.address.lower()
        own = listed(client, authority=address, valid="true", orderBy="asc")
        ends = [record["untilBlock"] for record in own]
        assert ends == [record["blockNumber"] for record in own[1:]] + [None] != [None]
        assert own[-1]["delegate"] == accounts.delegate_of(node, address, node.head())
        for number in (1, node.head() // 2, node.head()):
            delegate = accounts.delegate_of(node, address, number)
            shown = client.get(f"/api/v1/addresses/{address}?block={number}").json
            assert shown["isContract"] is False
            assert shown.get("delegate", ZERO) == delegate
        [summary] = client.get(f"/api/v1/addresses?addresses={address}").json["addresses"]
        assert (summary["isContract"], summary.get("delegate", ZERO)) == (False, delegate)
        page = client.get(f"/address/{address}").text
        assert ("Delegates to" in page) == (delegate != ZERO)
        assert "in effect" in client.get(f"/address/{address}?tab=delegations").text
    page = client.get(f"/tx/{own[-1]['transactionHash']}").text
    assert "<h2>Authorizations</h2>" in page and "EIP-7702" in page


@pytest.mark.thorough
def test_a_list_that_the_node_altered_contradicts_the_root(delegations):
    node, _, _ = delegations

    def contradiction(**changes):
        [(block, receipts)] = source_of(node).raw_blocks(1, 1)
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
def test_what_an_untraced_block_created_is_not_guessed(anvil, clone, template):
    """Between two authorizations of one block, code creates a contract in the account's name."""
    accounts.place_codes(anvil)
    for nonce, delegate in enumerate((accounts.MAKER, accounts.IDLE)):
        signed = [accounts.authorize(delegating.FRESH, delegate, nonce)]
        accounts.send(anvil, signed, to=delegating.FRESH.address, sender=key_of(3), nonce=nonce)
    anvil.mine()
    for traces, second in (("auto", False), ("off", None)):
        url = clone(template)
        indexing.Indexing(url, anvil.url, traces=traces).run_until(anvil.head())
        assert [row["is_valid"] for row in rows(url)] == [True, second], traces


@pytest.mark.thorough
def test_without_traces_the_nonce_of_who_does_not_delegate_is_known(anvil, database_url):
    for authority, delegate, nonce in (
        (delegating.FRESH, ZERO, 0),
        (delegating.ALICE, accounts.MAKER, 0),
        (delegating.FRESH, ZERO, 1),
    ):
        accounts.send(anvil, [accounts.authorize(authority, delegate, nonce)], sender=key_of(3))
        anvil.mine()
        indexing.Indexing(database_url, anvil.url, traces="off").run_until(anvil.head())
    assert [row["is_valid"] for row in rows(database_url)] == [True, True, True]
