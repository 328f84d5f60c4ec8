"""Balances that the node proves: at genesis, read once and stored, and `scan audit --proofs`."""

import argparse

import pytest
from eth_utils import keccak

from scan.commands import audit as audit_command
from scan.extensions.history.genesis_balances import GenesisBalances
from tests.support import auditing
from tests.support.chain_forms.encoding import HEADER_FIELDS
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode, before, refuse, refuse_method, replacing
from tests.support.indexing import Indexing, sources
from tests.support.rehashed_chain import RehashedChain
from tests.support.scenario.stage import STRANGERS

DEV_BALANCE = 10_000 * 10**18


@pytest.fixture
def opened(database_url, anvil):
    """Two payments of somebody who has coin since genesis, beside a node whose block 0 has the root
    of its state, as other nodes' have and anvil's has not."""
    person = anvil.accounts[0].lower()
    for _ in range(2):
        anvil.send(anvil.accounts[0], STRANGERS[0], value=5)
        anvil.mine()
    proof = anvil.call("eth_getProof", person, [], "0x0")["accountProof"]

    def alter(header):
        if header["number"] == "0x0":
            header["stateRoot"] = "0x" + keccak(hexstr=proof[0]).hex()

    with (
        FaultyNode(anvil.url, RehashedChain(anvil, alter, HEADER_FIELDS)) as node,
        Indexing(database_url, node.url, until=anvil.head()) as indexing,
    ):
        yield indexing, node, person


def history(indexing, address):
    """By a service of its own, which remembers nothing."""
    return indexing.client().get(f"/api/v1/addresses/{address}/history").json


def stored(indexing):
    rows = execute(indexing.url, "SELECT balance, is_proven FROM genesis_balances")
    return [(int(balance), is_proven) for balance, is_proven in rows]


def test_a_history_is_the_same_while_the_node_does_not_answer(opened):
    indexing, node, person = opened
    first = history(indexing, person)
    assert (first["complete"], first["unexplained"]) == (True, "0")
    opening = first["history"][-1]
    assert (opening["type"], opening["amount"]) == ("genesis", str(DEV_BALANCE))
    assert opening["proven"] is True
    assert {row["proven"] for row in first["history"][:-1]} == {None}
    assert stored(indexing) == [(DEV_BALANCE, True)]
    node.fault = refuse(lambda call: True, -32603, "Internal error")
    after = history(indexing, person)
    assert after["history"] == first["history"] and after["total"] == first["total"]


@pytest.mark.thorough
def test_a_file_that_reads_a_beginning_stays_one_snapshot(opened):
    """Storing the balance would commit the transaction that the file's pages are read in."""
    indexing, _, person = opened
    client, statuses = indexing.client(), []

    class Looking(GenesisBalances):
        def read(self, *arguments):
            balance = super().read(*arguments)
            statuses.append(sources(client).database.is_in_transaction())
            return balance

    writes = client.application.extensions["scan"].writes
    sources(client).of_extensions[GenesisBalances] = Looking(writes)
    path = f"/api/v1/addresses/{person}/history"
    file = client.get(path, query_string={"format": "csv"})
    assert file.status_code == 200 and b"genesis" in file.data
    assert (statuses, stored(indexing)) == ([True], [])
    assert client.get(path).json["complete"]
    assert (statuses, stored(indexing)) == ([True, False], [(DEV_BALANCE, True)])


def test_a_history_says_that_its_beginning_is_not_known(opened):
    """It is not called unexplained: the balance is known, what it began with is not."""
    indexing, node, person = opened
    honest = node.fault
    node.fault = before(node.fault, refuse(lambda call: str(call["params"][-1:]) != "['latest']"))
    page = history(indexing, person)
    expected = (False, "balance_unknown", None)
    assert (page["complete"], page["reason"], page["unexplained"]) == expected
    assert stored(indexing) == []
    node.fault = honest
    assert history(indexing, person)["complete"]


def test_a_balance_that_only_the_node_says_is_replaced_by_a_proven_one(opened, anvil):
    """Without a proof a lie is believed, and shown as what the node says."""
    indexing, node, person = opened
    honest = node.fault
    genesis = anvil.call("eth_getBlockByNumber", "0x0", False)["hash"]

    def is_genesis(call):
        return call["method"] == "eth_getBalance" and genesis in str(call["params"][1])

    false = replacing(is_genesis, hex(DEV_BALANCE + 7))
    node.fault = before(node.fault, before(refuse_method("eth_getProof"), false))
    page = history(indexing, person)
    assert (page["history"][-1]["proven"], page["unexplained"]) == (False, "-7")
    assert stored(indexing) == [(DEV_BALANCE + 7, False)]
    node.fault = honest
    page = history(indexing, person)
    assert (page["history"][-1]["proven"], page["unexplained"]) == (True, "0")
    assert stored(indexing) == [(DEV_BALANCE, True)]


def audit(settings, *options):
    command = argparse.ArgumentParser()
    audit_command.add_audit(command)
    return audit_command.run(settings, command.parse_args(["--proofs", "150", *options]))


def test_histories_are_the_proven_balances(opened, capsys):
    indexing, *_ = opened
    assert audit(indexing.settings) == audit_command.EXACT
    first = capsys.readouterr().out.splitlines()
    assert first[0].startswith("seed ") and first[-1].startswith("balances that differ")
    assert ": 0 of " in first[-1] and ": 0 of 0" not in first[-1]
    assert audit(indexing.settings, "--seed", first[0].split()[1]) == audit_command.EXACT
    assert capsys.readouterr().out.splitlines() == first


def test_the_report_says_by_how_much_a_history_differs(opened, capsys):
    indexing, _, person = opened
    for change, words in ((3, "3 wei less than its history"), (-8, "5 wei more")):
        statement = "UPDATE addresses SET net_wei = net_wei + %s WHERE address = %s"
        execute(indexing.url, statement, change, bytes.fromhex(person[2:]))
        assert audit(indexing.settings) == audit_command.DIFFERS
        report = capsys.readouterr().out
        assert f"  {person}: its history is " in report and words in report
        assert "differ from their proofs: 1 of " in report


def test_without_proofs_nothing_is_compared(opened, capsys):
    indexing, node, _ = opened
    chain = node.fault

    def cut(proof):
        return proof | {"accountProof": proof["accountProof"][:-1]}

    for fault, reason in (
        (refuse_method("eth_getProof"), "the method eth_getProof does not exist"),
        (replacing("eth_getProof", cut), "its proof ends before the path does"),
    ):
        node.fault = before(chain, fault)
        assert audit(indexing.settings) == audit_command.NOT_COMPARED
        report = capsys.readouterr().out
        assert reason in report and "not proven for" in report and ": 0 of 0" in report


@pytest.mark.thorough
def test_sums_without_the_first_blocks_are_not_compared(opened, capsys):
    indexing, _, _ = opened
    auditing.spoil(indexing.settings, "UPDATE chain SET start_block = 1")
    assert audit(indexing.settings) == audit_command.NOT_COMPARED
    assert "rows of the first blocks are not indexed" in capsys.readouterr().out
