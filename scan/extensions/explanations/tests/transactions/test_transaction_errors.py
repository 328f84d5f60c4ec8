"""Why transactions failed: `error` of GET /transactions/:hash and of lists, beside the node's own
trace."""

import re
from html import unescape

import pytest
from eth_utils import keccak

from scan.extensions.explanations.tests.transactions import conftest
from scan.extensions.explanations.transactions import transaction_failures
from tests.support import expected, faulty_node, indexing, lists, serving
from tests.support.database import execute


def error_of(played, name, client=None):
    return lists.get(client or played.client, f"/transactions/{played.sent[name]}")["error"]


def test_each_way_to_fail_is_answered_as_expected(played):
    """Each function of Reasons fails in the way that the transaction's name says."""
    client = indexing.client_over(played.url, played.anvil.url)
    expected.compare(__file__, client, conftest.names_of(played))


def test_errors_of_unverified_contracts_are_decoded_by_imported_signatures(played):
    assert error_of(played, "creation")["name"] is None
    selector = keccak(text="BadStart(uint256)")[:4]
    insert = "INSERT INTO signatures (selector, signature) VALUES (%s, %s)"
    execute(played.url, insert, selector, "BadStart(uint256 number)")
    # The cache of responses learns of it a moment later.
    serving.wait_until(lambda: error_of(played, "creation")["name"])
    error = error_of(played, "creation")
    execute(played.url, "DELETE FROM signatures")
    assert (error["kind"], error["source"]) == ("custom", "imported")
    assert error["reason"] == "The call reverted: BadStart(number=77)"


def test_the_node_is_asked_once_and_never_again(played):
    """By another process, too: what is kept is of the block alone, and not decoded."""
    with faulty_node.FaultyNode(played.anvil.url) as node:
        first, second = (indexing.client_over(played.url, node.url) for _ in range(2))
        assert error_of(played, "recurse", first)["name"] == "Empty"
        node.fault = conftest.NO_TRACES
        assert error_of(played, "recurse", second)["name"] == "Empty"
        assert error_of(played, "recurse", second)["approximate"] is False


def test_what_is_kept_of_another_block_is_ignored(played):
    error_of(played, "require")
    hash_ = bytes.fromhex(played.sent["require"][2:])
    update = "UPDATE transaction_failures SET block_hash = %s, kind = 'out_of_gas' WHERE"
    execute(played.url, f"{update} transaction_hash = %s", bytes(32), hash_)
    with conftest.behind(played) as (client, _):
        assert error_of(played, "require", client)["kind"] == "error"
    select = "SELECT count(*) FROM transaction_failures WHERE transaction_hash = %s AND kind = %s"
    assert execute(played.url, select, hash_, "revert") == [(1,)]


def test_the_table_keeps_the_newest(played, monkeypatch):
    monkeypatch.setattr(transaction_failures, "KEPT", 2)
    execute(played.url, "DELETE FROM transaction_failures")
    names = ("require", "silent", "own error", "panic 0x11")
    with conftest.behind(played) as (client, _):
        for name in names:
            error_of(played, name, client)
    select = "SELECT '0x' || encode(transaction_hash, 'hex') FROM transaction_failures"
    kept = [hash_ for (hash_,) in execute(played.url, f"{select} ORDER BY number")]
    assert kept == [played.sent[name] for name in names[-2:]]


def test_without_traces_the_same_call_is_made_on_the_block_before(played):
    # Which contract refused is not known, so only the called one's ABI is.
    of_callee = {"kind": "unknown_error", "name": None, "arguments": None}
    approximate = (
        "require", "silent", "own error", "panic 0x12", "out of gas", "invalid opcode",
        "missing function", "short data", "callee's error",
    )  # fmt: skip
    traced = {name: error_of(played, name) for name in approximate} | {"callee's error": of_callee}
    execute(played.url, "DELETE FROM transaction_failures")
    with conftest.behind(played, conftest.NO_TRACES) as (client, _):
        for name, told in traced.items():
            error = error_of(played, name, client)
            assert {key: error[key] for key in of_callee} == {key: told[key] for key in of_callee}
            assert (error["approximate"], error["reverting"]) == (True, None)


@pytest.mark.parametrize(
    ("replaced", "words"),
    [
        ({"result": "0x"}, "the same call succeeds on the state of the block before"),
        (
            {"error": {"code": -32000, "message": "missing trie node 0x00"}},
            "nor the state of the block before",
        ),
    ],
    ids=["succeeds", "pruned"],
)
def test_a_reason_that_no_call_shows_is_not_guessed(played, replaced, words):
    execute(played.url, "DELETE FROM transaction_failures")

    def alter(call, answer):
        if call["method"] == "eth_call" and call["params"][1] != "latest":
            answer.pop("error", None)
            answer.update(replaced)

    without_traces = faulty_node.before(faulty_node.altering(alter), conftest.NO_TRACES)
    with conftest.behind(played, without_traces) as (client, _):
        error = error_of(played, "require", client)
    assert (error["kind"], error["name"], error["reverting"]) == ("unknown", None, None)
    assert words in error["reason"]


@pytest.mark.parametrize(
    "fault",
    [
        faulty_node.cut_connection,
        faulty_node.refuse(lambda call: conftest.is_trace(call) or call["method"] == "eth_call"),
    ],
    ids=["away", "refuses"],
)
def test_what_a_node_does_not_tell_now_is_asked_again(played, fault):
    execute(played.url, "DELETE FROM transaction_failures")
    with conftest.behind(played) as (client, node):
        node.fault = fault
        assert error_of(played, "require", client)["kind"] == "unknown"
        node.fault = conftest.NO_TRACES
        assert error_of(played, "require", client)["kind"] == "error"


def test_a_trace_of_another_block_is_not_believed(played):
    execute(played.url, "DELETE FROM transaction_failures")
    other = {"blockHash": "0x" + 64 * "a"}
    fault = faulty_node.replacing("eth_getTransactionByHash", lambda sent: sent | other)
    with conftest.behind(played, fault) as (client, _):
        assert error_of(played, "require", client)["kind"] == "unknown"
    assert execute(played.url, "SELECT count(*) FROM transaction_failures") == [(0,)]


def test_lists_say_why_transactions_failed_without_the_node(played):
    """Of one whose reason nobody has read yet, only that it used all its gas."""
    stored = {
        "require": "the door is shut",
        "panic 0x11": "panic 0x11 (arithmetic overflow or underflow)",
        "callee's error": "NotAllowed(",
        "unknown data": "The call reverted with data that no known ABI decodes",
    }
    for name in stored:
        answer = played.client.get(f"/api/v1/transactions/{played.sent[name]}").json
    forget = "DELETE FROM transaction_failures WHERE transaction_hash = %s"
    for name in ("out of gas", "silent inside"):
        execute(played.url, forget, bytes.fromhex(played.sent[name][2:]))
    client = indexing.client_over(played.url)
    reason = re.compile(r'href="/tx/(0x\w{64})#reason"[^>]*><bdi>([^<]*)</bdi>')
    for path in ("/txs?status=false&limit=100", f"/address/{played.anvil.accounts[0]}?limit=100"):
        page = client.get(path)
        reasons = {hash_: unescape(text) for hash_, text in reason.findall(page.text)}
        assert page.status_code == 200 and len(reasons) == page.text.count('class="failed"') > 0
        for name, words in stored.items():
            assert reasons[played.sent[name]].startswith(words), name
        assert reasons[played.sent["out of gas"]] == "used all its gas"
        assert reasons[played.sent["silent inside"]] == "Why?"
    assert reason.search(client.get(f"/block/{answer['blockNumber']}").text)
