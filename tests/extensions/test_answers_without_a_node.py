"""Which endpoints answer whole while the node is stopped: all but those of the state, of traces and
of the head, which the table names."""

import re
from itertools import product

import pytest

from tests.extensions.paths import paths_of
from tests.support.serving import NOWHERE

pytestmark = pytest.mark.thorough


def test_every_transaction_is_whole_but_for_its_traces(indexed, scenario):
    """Nor is a sentence compared that tells of state, nor, where the implementations of proxies
    are state, what these decode."""
    clients = indexed.client(), indexed.client(rpc_urls=(NOWHERE,))
    by_traces = {"error", "summary", "unproven"}  # why one failed, and whether that is told
    transactions = scenario.truth.transactions[::4]
    undecoded = 0
    for sent in transactions:
        whole, alone = (c.get(f"/api/v1/transactions/{sent['hash']}").json for c in clients)
        left_out = {"finality", "summary", *(() if sent["status"] else by_traces)}
        if_undecoded = {"unavailable", "method", "logs"} if alone["unavailable"] else set()
        left_out |= if_undecoded
        undecoded += len(if_undecoded) > 0
        assert "implementations" in (alone["unavailable"] or "implementations")
        assert {name for name in whole if alone[name] != whole[name]} <= left_out, sent["hash"]
        assert whole.keys() == alone.keys() and alone["input"] is not None
    assert undecoded < len(transactions) / 10


def test_the_table_of_what_is_answered_without_a_node(indexed, scenario):
    """Of an account, a token, transactions of each type, one that failed and those with the most
    logs; but for what is said of the head."""
    # What traces, proofs and the node's pool are for, and approvals, whose events are searched for.
    refused = set(
        "/api/v1/transactions/<transaction_hash>/trace"
        " /api/v1/transactions/<transaction_hash>/gas"
        " /api/v1/transactions/<transaction_hash>/state-changes"
        " /api/v2/transactions/<transaction_hash>/raw-trace"
        " /api/v2/transactions/<transaction_hash>/state-changes"
        " /api/v1/addresses/<address>/proof /api/v1/addresses/<address>/approvals".split()
    )
    # What shows a state, the head, the health of the node, or why a transaction failed.
    in_part = set(
        "/address/<address> /api/v1/addresses/<address>/balances"
        " /api/v1/addresses/<address>/history /api/v1/addresses/<address>/pending-transactions"
        " /api/v2/addresses/<address_hash>/coin-balance-history"
        " /api/v1/transactions/<transaction_hash> /tx/<transaction_hash> /block/<block>"
        " /api/v2/transactions /api/v2/transactions/<transaction_hash>"
        " /api/v2/transactions/<transaction_hash>/summary /metrics /readyz /status".split()
    )
    truth = scenario.truth
    hashes = {(t["type"], t["status"]): t["hash"] for t in truth.transactions}
    logs = [log["transactionHash"] for log in truth.logs]
    busiest = sorted(set(logs), key=logs.count)[-3:]
    item = next(transfer for transfer in truth.token_transfers if transfer["tokenId"] is not None)
    parties = scenario.stage.people[1], scenario.stage.contracts["harbor"].address
    clients = indexed.client(), indexed.client(rpc_urls=(NOWHERE,))
    rules = {}
    for sent, address in product((*hashes.values(), *busiest), parties):
        values = {"address": address, "address_hash": address, "transaction_hash": sent}
        values |= {"block": "9", "number": "9", "token_id": item["tokenId"]}
        for path, rule in paths_of(clients[0], values, {"/live"}):
            rules.setdefault(path, rule)
    of_head = re.compile(r'"(finality|safeBlock|finalizedBlock)":("\w+"|\d+|null),?')
    answered = []
    for path, rule in rules.items():
        answers = [client.get(path) for client in clients]
        whole = [answer for answer in answers if answer.status_code == 200]
        texts = {of_head.sub("", answer.get_data(as_text=True)) for answer in whole}
        answered.append((rule, [answer.status_code for answer in answers], len(texts)))
    left_out = {rule for rule, (with_node, alone), _ in answered if with_node == 200 != alone}
    differing = {rule for rule, _, texts in answered if texts > 1}
    assert (left_out, differing - left_out) == (refused, in_part)
