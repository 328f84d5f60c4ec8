"""A node that answers without end, or in forms that take memory: bounded, and waited out."""

import pytest

from scan.ethereum import client, served_chain, token_metadata
from scan.indexer.state_reader import StateQuery, StateReader
from tests.support import endless_responses, faulty_node, indexing
from tests.support.database import execute, wait_for_problem
from tests.support.indexer_process import IndexerProcess
from tests.support.memory import PeakMemory

pytestmark = pytest.mark.thorough

TIMEOUT_S = 0.3


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(endless_responses.dripping_head, id="head"),
        pytest.param(endless_responses.dripping_body, id="body"),
        pytest.param(endless_responses.dripping_chunk_head, id="chunk's head"),
    ],
)
def test_a_deadline_is_for_all_of_an_answer(node, fault):
    node.fault = fault
    with pytest.raises(client.NodeError, match="did not respond in time"):
        client.Node([node.url], timeout_s=TIMEOUT_S).call("eth_chainId")


def test_halves_of_a_batch_that_timed_out_are_not_asked_for(node):
    """Each would have a deadline of its own."""
    node.fault = faulty_node.hang(2)
    with pytest.raises(client.NodeError):
        client.Node([node.url]).batch(
            [client.Call("eth_getBalance", ()), client.Call("eth_getCode", ())], TIMEOUT_S
        )
    assert node.requests == 1


@pytest.mark.long
def test_the_head_goes_on_when_the_node_is_sane_again(node, anvil, database_url):
    mebibyte = b" " * 2**20
    too_large = "larger than 8 MiB"
    faults = {
        "endless body": (endless_responses.endless_body, too_large),
        "endless chunks": (endless_responses.endless_chunks, too_large),
        "endless head": (endless_responses.endless_head, "cannot be reached"),
        "declares too much": (endless_responses.declares_too_much, too_large),
        "declares too little": (endless_responses.declares_too_little, "not JSON"),
        "1 GB of spaces": (endless_responses.compressed(mebibyte, 1024), too_large),
        "1 GB twice compressed": (
            endless_responses.compressed(mebibyte, 1024, layers=2),
            too_large,
        ),
        "8 MB of empty arrays": (faulty_node.raw(b"[" + b"[]," * 2_700_000 + b"[]]"), "elements"),
        "deep arrays": (faulty_node.raw(b"[" * 100_000), "nested too deeply"),
        "deep objects": (faulty_node.raw(b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "nested"),
        "a number of 10^6 digits": (faulty_node.every_result("1" * 10**6), "not JSON"),
        "a quantity of 10^6 digits": (faulty_node.every_result(f'"0x{"1" * 10**6}"'), "malformed"),
    }
    with IndexerProcess(database_url, node.url) as indexer, PeakMemory(indexer.pid) as memory:
        for head, (fault, reason) in enumerate(faults.values(), start=1):
            node.fault = fault
            wait_for_problem(database_url, reason)
            node.fault = None
            anvil.mine()
            indexer.wait_for(head, anvil.call("eth_getBlockByNumber", "latest", False)["hash"])
    print(memory.mebibytes, "MiB")
    most_mebibytes = 400
    assert memory.mebibytes < most_mebibytes


@pytest.mark.parametrize("lie", [("eth_chainId", "0x123"), ("eth_getBlockByNumber", None)])
def test_what_a_node_says_of_the_chain_at_first_may_be_wrong(node, anvil, database_url, lie):
    """Its first response, before there is a block, dedicates the database to no chain."""
    method, result = lie
    lies = [method]
    anvil.mine()

    @faulty_node.altering
    def lie_once(call, answer):
        if call["method"] in lies:
            lies.clear()
            answer["result"] = result or anvil.call("eth_getBlockByNumber", "0x1", False)

    node.fault = lie_once
    indexing.Indexing(database_url, node.url).run_until(1)
    assert not lies
    genesis = anvil.call("eth_getBlockByNumber", "0x0", False)["hash"]
    chain = execute(database_url, "SELECT chain_id, '0x' || encode(genesis_hash, 'hex') FROM chain")
    assert chain == [(31337, genesis)]


def test_an_answer_that_a_contract_makes_too_large_stands_for_its_call_alone(node):
    def answer(calls, forward):
        length = {"large": 5000, "small": 10}
        results = [{"id": c["id"], "result": length[c["method"]] * "x"} for c in calls]
        return faulty_node.Reply(body=results)

    node.fault = answer
    methods = [*["small"] * 50, "large", *["small"] * 50]
    calls = [client.Call(method, ()) for method in methods]
    results = list(client.Node([node.url]).results(calls, most_bytes=4096))
    assert isinstance(results[50], client.AnswerTooLarge)
    assert results[:50] + results[51:] == 100 * [10 * "x"]
    assert node.requests < 40


def test_a_call_answered_twice_is_asked_again(node):
    node.fault = faulty_node.limit_batch(1, faulty_node.duplicate_ids)
    calls = [client.Call("eth_getBlockByNumber", (tag, False)) for tag in ("0x0", "latest")]
    assert [block["number"] for block in client.Node([node.url]).batch(calls)] == ["0x0", "0x0"]


def test_false_state_is_read_again_or_from_another_node_and_a_refusal_is_not(node, anvil):
    token = anvil.deploy(anvil.accounts[0], "Coin", "Coin", "COIN", 18)
    anvil.mine()
    newest = anvil.call("eth_getBlockByNumber", "latest", False)
    block = served_chain.BlockId(int(newest["number"], 16), bytes.fromhex(newest["hash"][2:]))
    query = StateQuery(bytes.fromhex(token.address[2:]), token_metadata.TOTAL_SUPPLY, block)
    expected, lies = {query: bytes(32)}, 2

    @faulty_node.altering
    def lie(call, answer):
        nonlocal lies
        if call["method"] == "eth_call" and lies > 0:
            lies -= 1
            answer["result"] = "0xzz"

    node.fault = lie
    single = client.Node([node.url])
    assert StateReader(single).read([query]) == expected and lies == 0
    lies = 100
    with pytest.raises(client.MalformedResponse):
        StateReader(single).read([query])
    assert StateReader(client.Node([node.url, anvil.url])).read([query]) == expected
    node.fault = faulty_node.too_many_requests(0)
    requests = node.requests
    with pytest.raises(client.RateLimited):
        StateReader(single).read([query])
    assert node.requests == requests + 1
