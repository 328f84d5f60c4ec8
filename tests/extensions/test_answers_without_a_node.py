"""Which endpoints answer whole while the node is stopped: all but those of the state, of traces and
of the head, which the table names."""

import re

import pytest

from tests.support.serving import NOWHERE

pytestmark = pytest.mark.thorough

# What traces, proofs and the node's pool are for, and approvals, whose events are searched for.
REFUSED = set(
    "/api/v1/transactions/<transaction_hash>/trace"
    " /api/v1/transactions/<transaction_hash>/gas"
    " /api/v1/transactions/<transaction_hash>/state-changes"
    " /api/v2/transactions/<transaction_hash>/raw-trace"
    " /api/v2/transactions/<transaction_hash>/state-changes"
    " /api/v1/addresses/<address>/proof /api/v1/addresses/<address>/approvals".split()
)
# What shows a state, the head, the health of the node, or why a transaction failed.
IN_PART = set(
    "/address/<address> /api/v1/addresses/<address>/balances"
    " /api/v1/addresses/<address>/history /api/v1/addresses/<address>/pending-transactions"
    " /api/v2/addresses/<address_hash>/coin-balance-history"
    " /api/v1/transactions/<transaction_hash> /tx/<transaction_hash> /block/<block>"
    " /api/v2/transactions /api/v2/transactions/<transaction_hash>"
    " /api/v2/transactions/<transaction_hash>/summary /metrics /readyz /status".split()
)
# Why a transaction failed, by its trace, and whether that is told.
BY_TRACES = {"error", "summary", "unproven"}
OF_HEAD = re.compile(r'"(finality|safeBlock|finalizedBlock)":("\w+"|\d+|null),?')


@pytest.fixture(scope="module")
def clients(indexed):
    return [indexed.client(), indexed.client(rpc_urls=(NOWHERE,))]


def values_of(scenario):
    """Values of the paths' parameters: of an account, a token, transactions of each type, one that
    failed and those with the most logs."""
    truth = scenario.truth
    hashes = {(t["type"], t["status"]): t["hash"] for t in truth.transactions}
    logs = [log["transactionHash"] for log in truth.logs]
    busiest = sorted(set(logs), key=logs.count)[-3:]
    item = next(transfer for transfer in truth.token_transfers if transfer["tokenId"] is not None)
    for sent in (*hashes.values(), *busiest):
        for address in (scenario.stage.people[1], scenario.stage.contracts["harbor"].address):
            yield {
                "address": address,
                "address_hash": address,
                "transaction_hash": sent,
                "block": "9",
                "number": "9",
                "token_id": item["tokenId"],
            }


def outcome(with_node, alone):
    if with_node.status_code != 200:
        return "absent"
    if alone.status_code != with_node.status_code:
        return "refused"
    texts = [OF_HEAD.sub("", answer.get_data(as_text=True)) for answer in (with_node, alone)]
    return "whole" if texts[0] == texts[1] else "in part"


def test_every_transaction_is_whole_but_for_its_traces(clients, scenario):
    """Nor is a sentence compared that tells of state, nor, where the implementations of proxies
    are state, what these decode."""
    transactions = scenario.truth.transactions[::4]
    undecoded = 0
    for sent in transactions:
        whole, alone = (c.get(f"/api/v1/transactions/{sent['hash']}").json for c in clients)
        left_out = {"finality", "summary", *(() if sent["status"] else BY_TRACES)}
        if_undecoded = {"unavailable", "method", "logs"} if alone["unavailable"] else set()
        left_out |= if_undecoded
        undecoded += len(if_undecoded) > 0
        assert "implementations" in (alone["unavailable"] or "implementations")
        assert {name for name in whole if alone[name] != whole[name]} <= left_out, sent["hash"]
        assert whole.keys() == alone.keys() and alone["input"] is not None
    assert undecoded < len(transactions) / 10


def test_the_table_of_what_is_answered_without_a_node(clients, scenario):
    rules = [
        rule
        for rule in clients[0].application.url_map.iter_rules()
        if rule.rule != "/live" and "GET" in (rule.methods or ())
    ]
    paths = {}
    for values in values_of(scenario):
        for rule in rules:
            arguments = {name: values.get(name, "1") for name in rule.arguments}
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule).format(**arguments)
            paths.setdefault(path, rule.rule)
    outcomes = {}
    for path, rule in paths.items():
        outcomes.setdefault(rule, set()).add(outcome(*(client.get(path) for client in clients)))
    refused = {rule for rule, all_ in outcomes.items() if "refused" in all_}
    in_part = {rule for rule, all_ in outcomes.items() if "in part" in all_} - refused
    assert (refused, in_part) == (REFUSED, IN_PART)
