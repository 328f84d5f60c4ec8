"""A chain that takes Amsterdam's form on the way: moving coin emits logs, which are no token's."""

import json
from collections import namedtuple

import pytest

from app import create_app
from scan.ethereum.sparse_tables import TransferType
from scan.extensions.backfill.tests.backfilling import follow
from tests.support import auditing, database, faulty_node, indexing, lists
from tests.support.amsterdam_chain import SYSTEM, AmsterdamChain
from tests.support.anvil import Anvil
from tests.support.anvil import Node as PlainNode
from tests.support.indexing import source_of
from tests.support.kept_answers import kept_answers
from tests.support.scenario.contracts import creations, failures, purses
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import honest_tokens, wrappers
from tests.support.truth import comparable, read_truth

FORKS = {"auto": 20, "off": 1}  # by SCAN_TRACES: without traces all is known from the fork on
Forked = namedtuple("Forked", "chain node url client truth traces")


@pytest.fixture(scope="module")
def plain():
    """The node that has the chain without the fork."""
    with Anvil() as node:
        stage = Stage(node)
        for act in (honest_tokens, wrappers, creations, failures, purses):
            act(stage)
        yield node


@pytest.fixture(
    scope="module",
    params=["auto", pytest.param("off", marks=pytest.mark.long)],
    ids=["traced", "untraced"],
)
def forked(request, plain, postgres, template, tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    with (
        faulty_node.FaultyNode(plain.url) as node,
        kept_answers(node.url, folder),
        postgres.cloned(template) as url,
    ):
        node.fault = chain = AmsterdamChain(plain, FORKS[request.param])
        settings = indexing.settings_for(url, node.url, traces=request.param)
        follow(settings, len(chain.headers) - 1)
        truth = read_truth(PlainNode(node.url), traces=request.param == "auto")
        yield Forked(chain, node, url, create_app(settings).test_client(), truth, request.param)


def test_records_are_the_nodes_and_the_audit_agrees(forked):
    for path, name in (
        ("tokens", "tokens"),
        ("blocks", "blocks"),
        ("transactions", "transactions"),
        ("token-transfers", "transfers"),
        ("internal-transfers", "internalTransfers"),
    ):
        rows = lists.by_links(forked.client, lists.Listed(f"/{path}", name), limit=100)
        entity = path.replace("-", "_")
        assert [*map(comparable, rows)] == getattr(forked.truth, entity), entity
    settings = indexing.settings_for(forked.url, forked.node.url, traces=forked.traces)
    assert auditing.run(settings, node=True) == 0


def test_logs_of_coin_are_no_tokens_and_no_second_rows(forked):
    client = forked.client
    assert client.get(f"/api/v1/tokens/{SYSTEM}").status_code == 404
    system = bytes.fromhex(SYSTEM[2:])
    for table, column in (
        *((name, "token_address") for name in ("token_transfers", "token_holders")),
        ("contracts", "address"),
    ):
        count = f"SELECT count(*) FROM {table} WHERE {column} = %s"  # noqa: S608
        assert database.execute(forked.url, count, system) == [(0,)]
    for transaction in forked.truth.transactions[::7]:
        detail = client.get(f"/api/v1/transactions/{transaction['hash']}").json
        assert SYSTEM not in str(detail["summary"]), detail["summary"]


def test_histories_add_up_through_the_fork(forked, plain):
    """Of all that have their coin by the chain, not by the test node's orders."""
    addresses = [a for a, record in forked.truth.addresses.items() if record["isContract"]]
    for address in [*plain.accounts, *addresses]:
        page = forked.client.get(f"/api/v1/addresses/{address}/history?limit=100").json
        assert (page["complete"], page["unexplained"]) == (True, "0"), (address, page)
    body = forked.client.post("/api/v1/query", json={"entity": "internal_transfers"}).json
    assert body["untracedBlocks"] == 0


def test_logs_of_coin_are_shown_as_what_they_are(forked):
    client = forked.client
    [log] = client.get("/api/v1/logs", query_string={"address": SYSTEM, "limit": 1}).json["logs"]
    event = log["event"]
    assert (event["name"], event["source"]) == ("Transfer", "protocol")
    assert event["arguments"][2]["value"] == str(int(log["data"], 16))
    events = client.get(f"/tx/{log['transactionHash']}?tab=events").text
    assert "Coin transfer" in events and "which the protocol logs (EIP-7708)" in events
    assert "Coin transfer" in client.get(f"/address/{SYSTEM}?tab=events").text
    moved = forked.truth.internal_transfers[0]
    overview = client.get(f"/tx/{moved['transactionHash']}").text
    assert ("from its event" in overview) == (moved["source"] == "log")


@pytest.mark.thorough
@pytest.mark.parametrize("forked", ["auto"], ids=["traced"], indirect=True)
def test_a_block_whose_traces_and_logs_differ_has_what_is_logged(forked, plain):
    moved = forked.truth.internal_transfers[0]
    number = moved["blockNumber"]

    def lying(calls, forward):
        reply = forked.chain(calls, forward)
        value = hex(int(moved["value"]))
        for call, answer in zip(calls, reply.body, strict=True):
            if call["method"] == "debug_traceBlockByHash":
                text = json.dumps(answer).replace(f'"value": "{value}"', '"value": "0x7"')
                answer |= json.loads(text)
        return reply

    with faulty_node.FaultyNode(plain.url, lying) as node:
        [block] = source_of(node).blocks(number, number)
    assert block.is_traced is False
    expected = [t for t in forked.truth.internal_transfers if t["blockNumber"] == number]
    assert {transfer.type for transfer in block.internal_transfers} == {TransferType.TRANSFER}
    assert sorted(str(transfer.value) for transfer in block.internal_transfers) == sorted(
        t["value"] for t in expected if t["value"] != "0"
    )


@pytest.mark.thorough
def test_a_payment_that_the_node_repeats_is_logged_once(anvil, node, database_url):
    """A contract pays 5 wei, then ends in its own favour, where anvil reports a second payment."""
    me, recipient = anvil.accounts[:2]
    code = f"5f5f5f5f600573{recipient[2:]}5af15030ff"
    created = anvil.send(me, None, data=f"0x60{len(code) // 2:02x}8060095f395ff3{code}")
    contract = anvil.receipt_of(created)["contractAddress"]
    anvil.receipt_of(anvil.send(me, contract, value=20, gas=200_000))
    node.fault = chain = AmsterdamChain(anvil, 1)
    [receipt] = chain.receipts[-1]
    assert receipt["logs"].pop()["data"] == receipt["logs"][-1]["data"]
    chain.seal()
    settings = indexing.settings_for(database_url, node.url)
    follow(settings, anvil.head())
    answer = create_app(settings).test_client().get("/api/v1/internal-transfers").json
    assert [(t["type"], t["value"]) for t in answer["internalTransfers"]] == [("call", "5")]
    assert answer["untracedBlocks"] == 0
