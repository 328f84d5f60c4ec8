"""`scan audit --proofs`: sums of histories beside balances that the node proves."""

import argparse

from scan.commands import audit as audit_command
from tests.support import auditing, faulty_node
from tests.support.database import execute


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
        (faulty_node.refuse_method("eth_getProof"), "the method eth_getProof does not exist"),
        (faulty_node.replacing("eth_getProof", cut), "its proof ends before the path does"),
    ):
        node.fault = faulty_node.before(chain, fault)
        assert audit(indexing.settings) == audit_command.NOT_COMPARED
        report = capsys.readouterr().out
        assert reason in report and "not proven for" in report and ": 0 of 0" in report


def test_sums_without_the_first_blocks_are_not_compared(opened, capsys):
    indexing, _, _ = opened
    auditing.spoil(indexing.settings, "UPDATE chain SET start_block = 1")
    assert audit(indexing.settings) == audit_command.NOT_COMPARED
    assert "rows of the first blocks are not indexed" in capsys.readouterr().out
