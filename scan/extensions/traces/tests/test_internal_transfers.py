"""Internal transfers and withdrawals: beside the node, through forks, without some traces."""

import time
from collections import Counter

import pytest
import rlp
from eth_utils import keccak, to_bytes, to_checksum_address

from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.traces import block_traces
from scan.hex import to_hex
from tests.support import database, faulty_node, serving
from tests.support.anvil import Anvil
from tests.support.auditing import EXACT, run
from tests.support.indexing import Indexing, client_over
from tests.support.made_blocks import Move, address
from tests.support.scenario import tokens
from tests.support.scenario.contracts import creations, failures, purses
from tests.support.scenario.stage import STRANGERS, Stage
from tests.support.truth import read_truth

TRACERS = ("debug_traceBlockByHash", "trace_block")


@pytest.mark.thorough
@pytest.mark.parametrize("hardfork", ["shanghai", "cancun"])
@pytest.mark.parametrize("to_itself", [False, True])
def test_what_a_contract_gets_after_its_end_is_burnt(database_url, hardfork, to_itself):
    """And what it destroys in its own favour. The node names both parties where coin is gone."""
    with Anvil(hardfork=hardfork) as node:
        node.call("evm_setNextBlockTimestamp", 1_800_000_000)
        me = node.accounts[0]
        purse = node.deploy(me, "Purse")
        pouch = to_checksum_address(keccak(rlp.encode([to_bytes(hexstr=purse.address), 1]))[12:])
        heir = pouch if to_itself else STRANGERS[0]
        sent = node.transact(me, purse, "makeCloseAndPay", heir, 5, 7, value=12)
        assert node.receipt_of(sent)["status"] == "0x1"
        assert node.call("eth_getBalance", pouch, "latest") == "0x0"
        with Indexing(database_url, node.url, until=node.head()) as indexing:
            body = indexing.client().get(f"/api/v1/addresses/{pouch}/history").get_json()
        burns = [int(row["amount"]) for row in body["history"] if row["type"] == "burn"]
        assert burns == [12 if to_itself else 7]
        assert (body["complete"], body["unexplained"]) == (True, "0")
        assert run(indexing.settings) == run(indexing.settings, node=True) == EXACT


@pytest.mark.thorough
@pytest.mark.parametrize("wei", [5, 150 * 10**18])
@pytest.mark.parametrize(
    ("heir", "times", "ends"),
    [("itself", 1, 0), ("itself", 3, 0), ("recipient", 2, 1)],
    ids=["in its own favour", "with more left", "in the recipient's"],
)
def test_a_payment_that_the_node_repeats_moved_coin_once(database_url, heir, times, ends, wei):
    """A contract, which gets the payment `times`, pays and ends: since Cancun that moves nothing in
    its own favour, but anvil and reth report the payment again. Another contract pays in the
    same block."""
    with Anvil(hardfork="cancun") as node:
        me, recipient = node.accounts[0], STRANGERS[0]
        purse = node.deploy(me, "Purse")
        code = f"5f5f5f5f68{wei:018x}73{recipient[2:]}5af150"
        code += "30ff" if heir == "itself" else f"73{recipient[2:]}ff"
        creation = node.send(me, None, data=f"0x60{len(code) // 2:02x}8060095f395ff3{code}")
        node.mine()
        contract = node.receipt_of(creation)["contractAddress"]
        node.send(me, contract, value=times * wei, gas=200_000)
        node.transact(me, purse, "pay", STRANGERS[1], 7, value=7)
        node.mine()
        with Indexing(database_url, node.url, until=node.head()) as indexing:
            client = indexing.client()
            rows = client.get(f"/api/v1/addresses/{contract}/internal").get_json()
            assert rows["untracedBlocks"] == 0
            types = [row["type"] for row in rows["internalTransfers"]]
            assert types == ["selfdestruct"] * ends + ["call"]
            for address in (contract, recipient, STRANGERS[1]):
                history = client.get(f"/api/v1/addresses/{address}/history").get_json()
                assert (history["complete"], history["unexplained"]) == (True, "0")
        assert run(indexing.settings) == run(indexing.settings, node=True) == EXACT


def test_a_transaction_without_a_trace_in_its_block_s_is_traced_alone(database_url, anvil, node):
    @faulty_node.altering
    def fail_one_entry(call, answer):
        if call["method"] == "debug_traceBlockByHash":
            for entry in answer["result"][:1]:
                del entry["result"]
                entry["error"] = "execution timeout"

    purses(Stage(anvil))
    node.fault = fail_one_entry
    with Indexing(database_url, node.url, until=anvil.head()) as indexing:
        query = {"entity": "internal_transfers", "limit": 100}
        body = indexing.client().post("/api/v1/query", json=query).get_json()
    assert body["untracedBlocks"] == 0
    assert body["data"] == read_truth(anvil).internal_transfers[:100] != []


@pytest.mark.thorough
def test_blocks_that_cannot_be_traced_are_counted(database_url, anvil, node):
    stage = Stage(anvil)
    purses(stage)
    head = anvil.head()
    truth = read_truth(anvil)
    numbers = {head - 3, head - 1}
    purse = stage.contracts["purse"].address
    missing = [t for t in truth.internal_transfers if t["blockNumber"] in numbers]
    assert {t["blockNumber"] for t in missing} == numbers
    untraced = {1, *numbers}  # the first one, which shows nothing of the method
    blocks = [anvil.call("eth_getBlockByNumber", hex(number), False) for number in untraced]
    hashes = {hash_ for block in blocks for hash_ in (block["hash"], *block["transactions"])}

    requested = Counter()

    def is_untraceable(call):
        if call["method"] in ("eth_getBlockReceipts", "debug_traceBlockByHash"):
            requested[call["params"][0]] += 1
        return call["method"].startswith("debug_trace") and call["params"][0] in hashes

    node.fault = faulty_node.refuse(is_untraceable, -32000, "execution timeout")
    with Indexing(database_url, node.url, until=head) as indexing:
        client = indexing.client()
        body = client.get(f"/api/v1/addresses/{purse}/internal?limit=100").get_json()
        assert body["untracedBlocks"] == len(untraced)
        query = {"entity": "internal_transfers", "limit": 100, "orderBy": "asc"}
        result = client.post("/api/v1/query", json=query).get_json()
        assert result["untracedBlocks"] == len(untraced)
        expected = [t for t in truth.internal_transfers if t["blockNumber"] not in numbers]
        assert result["data"] == expected[::-1][:100]
        answer = client.get(f"/api/v1/transactions/{missing[0]['transactionHash']}/internal")
        assert answer.status_code == 404
        assert "indexed without traces" in answer.get_json()["error"]
    refused = {block["hash"] for block in blocks}
    assert {name for name, times in requested.items() if times > 1} == refused
    assert run(indexing.settings) == EXACT
    assert run(indexing.settings, node=True) == EXACT


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"traces": "off"}, "SCAN_TRACES is off"), ({}, "debug_traceBlockByHash")],
    ids=["off", "not offered"],
)
def test_without_any_traces_the_reason_is_given(database_url, anvil, node, settings, reason):
    anvil.receipt_of(anvil.send(anvil.accounts[0], STRANGERS[0], value=1))
    tracing = []
    node.fault = faulty_node.refuse(
        lambda call: call["method"] in TRACERS and not tracing.append(call["method"])
    )
    with Indexing(database_url, node.url, until=anvil.head(), **settings) as indexing:
        client = indexing.client()
        plain = client.get(f"/api/v1/addresses/{STRANGERS[0]}/internal")
        # Payments to people run no code, so no traces are needed to know it.
        expected = {"internalTransfers": [], "total": 0, "untracedBlocks": 0, "next": None}
        assert plain.get_json() == expected
        purses(Stage(anvil))
        indexing.wait_for(anvil.head())
        last = anvil.call("eth_getBlockByNumber", "latest", False)["transactions"][0]
        # The first answer is kept until this process has heard of the new block.
        kept = f"/api/v1/addresses/{STRANGERS[0]}/internal"
        serving.wait_until(lambda: client.get(kept).status_code != 200)
        for path in (kept, f"/api/v1/transactions/{last}/internal"):
            answer = client.get(path)
            assert answer.status_code == 404 and reason in answer.get_json()["error"]
        form = f"/api?module=account&action=txlistinternal&txhash={last}"
        assert reason in client.get(form).get_json()["result"]
        assert reason in client.get(f"/address/{STRANGERS[0]}?tab=internal").text
    assert bool(tracing) == (not settings)
    assert run(indexing.settings) == EXACT


def test_a_stored_balance_is_the_heads_while_nothing_has_changed_it(chain, database, database_url):
    """The node does not answer here."""
    client = client_over(database_url)

    def balance_block(who):
        hex_address = to_hex(address(who))
        alone = client.get(f"/api/v1/addresses/{hex_address}").get_json()["balanceBlock"]
        listed = client.get(f"/api/v1/addresses?addresses={hex_address}").get_json()
        assert listed["addresses"][0]["balanceBlock"] == alone
        assert f'href="/block/{alone}"' in client.get(f"/address/{hex_address}").text
        return alone

    paid = Move(address("person"), address("purse"))
    chain.append([paid, Move(address("x"), address("y"))], is_traced=True)
    chain.store_balances({address(name): 5 for name in ("person", "purse", "x", "y")})
    chain.append([Move(address("x"), address("y"))], is_traced=True)
    chain.append()
    assert balance_block("person") == 2
    path = f"/api?module=account&action=balance&address={to_hex(address('person'))}"
    assert client.get(path).get_json()["result"] == "5"
    # Inside a transaction of somebody else, so that a balance read before does not stand.
    inside = [InternalTransfer(0, 0, TransferType.CALL, address("y"), address("purse"), 1)]
    chain.append([Move(address("x"), address("y"))], internal_transfers=inside, is_traced=True)
    assert client.get(f"/api/v1/addresses/{to_hex(address('purse'))}").get_json()["balance"] == "5"
    assert balance_block("person") == 3
    stale = database.rows("indexer/addresses_list_stale", limit=100)
    assert address("purse") in {bytes(row[0]) for row in stale}
    # Where traces are missing, anything may have happened.
    chain.append([Move(address("x"), address("y"))], is_traced=False)
    assert balance_block("person") == 0
    assert client.get(path).get_json()["status"] == "0"
    chain.store_balances({address("person"): 5})
    chain.append()
    assert balance_block("person") == 5


def steps_for_calls(calls, forward):
    """As a node that does not know the tracer asked for, and traces without it."""
    requests = [dict(call) for call in calls]
    for call in requests:
        if call["method"] == "debug_traceBlockByHash":
            call["params"] = call["params"][:1]
    return faulty_node.refuse_method("trace_block")(requests, forward)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "fault",
    [
        # As Hardhat's node, which knows no tracer.
        faulty_node.refuse(
            lambda call: call["method"] in TRACERS or {"tracer": "callTracer"} in call["params"],
            *(-32004, "Method is not supported"),
        ),
        steps_for_calls,
    ],
    ids=["steps alone", "steps for calls"],
)
def test_steps_show_all_but_what_a_destroyed_contract_had(database_url, fault):
    with Anvil("--steps-tracing") as recording, faulty_node.FaultyNode(recording.url) as node:
        stage = Stage(recording)
        for act in (tokens.honest_tokens, tokens.wrappers, creations, failures):
            act(stage)
        stage.deploy("purse", "Purse")
        for kind in ("payAroundRevert", "offer"):
            stage.do(1, "purse", kind, STRANGERS[0], 5, value=100, gas=1_000_000)
        stage.do(2, "maker", "makeNest", gas=800_000)
        stage.mine()
        truth = read_truth(recording)
        node.fault = fault
        with Indexing(database_url, node.url, until=recording.head()) as indexing:
            client = indexing.client()
            query = {"entity": "internal_transfers", "limit": 100}
            body = client.post("/api/v1/query", json=query).get_json()
            assert body["untracedBlocks"] == 1
            shown = {t["transactionHash"] for t in body["data"]}
            missing = {t["transactionHash"] for t in truth.internal_transfers} - shown
            assert len(missing) <= 1 < len(shown)
            expected = [t for t in truth.internal_transfers if t["transactionHash"] in shown]
            assert body["data"] == expected
            for account, right in truth.addresses.items():
                record = client.get(f"/api/v1/addresses/{account}").get_json()
                for name in ("isContract", "txCount"):
                    assert record[name] == right[name], (account, name)


@pytest.mark.thorough
def test_a_trace_that_never_comes_is_given_up(node, anvil, database_url, monkeypatch, caplog):
    monkeypatch.setattr(block_traces, "TRACE_TIMEOUT_S", 0.5)
    maker = anvil.deploy(anvil.accounts[0], "Maker")
    made = []

    def hang(calls, forward):
        if len(made) == 1 and any(call["method"].startswith("debug_") for call in calls):
            time.sleep(1.0)
        return faulty_node.Reply(body=forward(calls))

    node.fault = hang
    with Indexing(database_url, node.url, until=1) as indexing:
        for _ in range(2):  # one by one: a batch is given the time of any other request
            made.append(anvil.transact(anvil.accounts[0], maker, "make"))
            anvil.mine()
            indexing.wait_for(anvil.head())
    contracts = database.execute(database_url, "SELECT block_number FROM contracts ORDER BY 1")
    assert contracts == [(1,), (3,)]
    assert "block 2 cannot be traced" in caplog.text
