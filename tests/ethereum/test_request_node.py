"""The gateway before a node that is slow, gone, busy or back again."""

import threading
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from scan.concurrency.turns import Postponed, RequestPlaces
from scan.concurrency.waiting_threads import WaitingThreads
from scan.errors import ClientBusy, HistoryUnavailable, ScanError, Unavailable, UpstreamFailed
from scan.ethereum import request_node, served_chain
from scan.ethereum.client import MAX_BATCH, AnswerTooLarge, Call, Node, RpcError
from scan.ethereum.node_errors import NodeError
from scan.hex import to_hex
from tests.support import WAIT_S, faulty_node, serving
from tests.support.faulty_node import FaultyNode, Reply
from tests.support.receiver import Answer
from tests.support.serving import cleared

pytestmark = pytest.mark.check


class Counting(FaultyNode):
    """Answers every call with its method; while `held` is cleared, calls of eth_call wait."""

    def __init__(self):
        super().__init__(serving.NOWHERE)
        self.methods = []
        self.held = threading.Event()
        self.held.set()
        self.waiting = threading.Semaphore(0)

    def forward(self, calls):
        self.methods += [call["method"] for call in calls]
        if any(call["method"] == "eth_getCode" for call in calls) and not self.held.is_set():
            self.waiting.release()
            self.held.wait(WAIT_S)
        return [{"jsonrpc": "2.0", "id": call["id"], "result": call["method"]} for call in calls]


@pytest.fixture
def node():
    with Counting() as node:
        yield node
        node.held.set()


@pytest.fixture
def gateway(node, monkeypatch):
    monkeypatch.setattr(request_node, "PROBE_TIMEOUT_S", 20.0)  # of a busy machine
    return request_node.NodeGateway(Node([node.url]), WaitingThreads())


def failure(session, method="eth_chainId"):
    try:
        session.call(method)
    except (UpstreamFailed, Unavailable) as error:
        return error
    return None


def test_refusals_are_values_or_raised_and_only_passing_ones_are_failures(node, gateway):
    node.fault = faulty_node.node_error(-32000, "no such thing")
    session = gateway.session("a")
    assert all(isinstance(result, RpcError) for result in session.results([Call("a", ())] * 2))
    for ask in (lambda: session.call("a"), lambda: session.batch([Call("a", ())] * 2)):
        with pytest.raises(RpcError):
            ask()
    assert not session.failed
    node.fault = faulty_node.node_error(-32603, "Internal error")
    with pytest.raises(RpcError):
        session.within(1.0).call("a")
    assert session.failed


def test_an_answer_past_its_bytes_is_no_failure_of_the_node(node, gateway):
    node.fault = faulty_node.every_result(f'"{"x" * 5000}"')
    with pytest.raises(AnswerTooLarge):
        gateway.session("a").call("eth_getCode", most_bytes=1000)
    node.fault = None
    session = gateway.session("a")
    calls = [Call("x" * 20, ())] * (3 * MAX_BATCH)  # whose answers take 10 KB a batch
    results = session.results(calls, most_in_all=15_000)
    assert results[:MAX_BATCH] == ["x" * 20] * MAX_BATCH
    assert {*map(type, results[MAX_BATCH:])} == {AnswerTooLarge} and len(results) == len(calls)
    assert len(node.methods) == 2 * MAX_BATCH
    assert failure(session) is None


def test_one_client_holds_three_places_and_all_hold_four(node, gateway):
    with ThreadPoolExecutor(4) as pool, cleared(node.held):
        futures = [pool.submit(gateway.session("a").call, "eth_getCode") for _ in range(3)]
        for _ in futures:
            node.waiting.acquire()
        with RequestPlaces():
            assert isinstance(failure(gateway.session("a")), ClientBusy)
        with RequestPlaces():
            assert failure(gateway.session("b")) is None
        futures.append(pool.submit(gateway.session("b").call, "eth_getCode"))
        node.waiting.acquire()
        places = RequestPlaces()
        with places:
            refusal = failure(gateway.session("c"))
            assert isinstance(refusal, Unavailable) and refusal.headers["Retry-After"]
        with pytest.raises(Postponed) as postponed, places:
            gateway.session("c", is_optional=False).call("eth_chainId")
        assert not places.queue(postponed.value).done()
        node.held.set()
        assert [future.result() for future in futures] == ["eth_getCode"] * 4
        places.require_turn()
        with places:
            assert failure(gateway.session("c")) is None
    assert failure(gateway.session("a")) is None


def test_one_budget_for_all_that_a_request_asks(node, gateway):
    session = gateway.session("a").within(0.03)  # which tests have ten times as long
    assert failure(session) is None
    node.fault = faulty_node.hang(0.5)
    assert isinstance(failure(session), UpstreamFailed)
    requests = node.requests
    assert isinstance(failure(session), UpstreamFailed)
    assert session.left_s() <= 0 and node.requests == requests  # it is not asked in vain


@pytest.mark.thorough
def test_while_the_node_is_away_one_asks_and_all_others_are_refused_at_once(node, gateway):
    node.fault = faulty_node.cut_connection
    first = gateway.session("a")
    assert isinstance(failure(first), UpstreamFailed) and first.failed
    held, probing = threading.Event(), threading.Event()

    def hold(calls, forward):
        probing.set()
        held.wait(WAIT_S)
        return Reply(body=forward(calls))

    node.fault = hold
    with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        stack.callback(held.set)
        probe = pool.submit(gateway.session("a").within(20).call, "eth_getCode")
        probing.wait(WAIT_S)
        requests = node.requests
        for client in "abcdefgh":
            assert isinstance(failure(gateway.session(client)), request_node.NodeAway)
            assert isinstance(gateway.refusal(client), request_node.NodeAway)
        assert node.requests == requests
        held.set()
        node.fault = None
        assert probe.result() == "eth_getCode"
    assert failure(gateway.session("b")) is None


def test_a_slow_question_of_one_client_closes_the_gateway_for_nobody(node, gateway):
    """Its time-out looks like a node that is away; whoever comes next finds out that it is not."""
    node.held.clear()
    for _ in range(3):
        assert isinstance(failure(gateway.session("a").within(0.05), "eth_getCode"), UpstreamFailed)
        assert failure(gateway.session("b")) is None
    with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        stack.callback(node.held.set)
        while node.waiting.acquire(blocking=False):
            pass
        slow = pool.submit(gateway.session("a").call, "eth_getCode")  # the next one to be slow
        node.waiting.acquire()
        assert failure(gateway.session("b")) is None
        node.held.set()
        assert slow.result() == "eth_getCode"


HASH = bytes(31) + b"\1"
BLOCK = served_chain.BlockId(7, HASH)


def of_block(error, by_hash):
    """Answers as a node of which the block is the newest, but eth_getCode at it as given."""

    def answer(call):
        if call["method"] == "eth_blockNumber":
            return {"result": "0x40"}
        takes = not isinstance(call["params"][-1], dict) or call["params"][-1] == {
            "blockHash": to_hex(HASH)
        }
        if call["method"].startswith("eth_getBlock"):
            return {"result": {"number": "0x7", "hash": to_hex(HASH), "parentHash": to_hex(HASH)}}
        if call["method"] == "eth_getBalance":
            if takes and (by_hash or isinstance(call["params"][-1], str)):
                return {"result": "0x1"}
            return {"error": {"code": -32602, "message": "cannot unmarshal object"}}
        is_refused = error and call["params"][-1] != "latest"
        return {"error": error} if is_refused else {"result": call["method"]}

    return lambda calls, _: Reply(
        body=[{"jsonrpc": "2.0", "id": call["id"], **answer(call)} for call in calls]
    )


@pytest.mark.parametrize("by_hash", [True, False])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32601, "the method eth_call does not exist"),
        (-32602, "invalid argument 1: json: cannot unmarshal object"),
        (-32000, "missing trie node"),
    ],
)
def test_a_node_that_refuses_a_call_is_not_away(node, gateway, code, message, by_hash):
    node.fault = of_block({"code": code, "message": message}, by_hash)
    for _ in range(2):
        with pytest.raises((RpcError, UpstreamFailed)):
            gateway.session("a").call("eth_getCode", {}, BLOCK)
        with suppress(ScanError):
            request_node.read(gateway.session("a"), BLOCK, [Call("eth_getCode", ({}, BLOCK))])
    requests = node.requests
    node.fault = None
    assert failure(gateway.session("b")) is None
    assert node.requests == requests + 1  # without a probe


def test_a_node_on_another_fork_is_not_away(node, gateway):
    node.fault = of_block(None, by_hash=False)
    other = BLOCK._replace(hash=bytes(32))
    with pytest.raises(UpstreamFailed, match="state of this block"):
        request_node.read(gateway.session("a"), other, [Call("eth_getCode", ({}, other))])
    node.fault = of_block({"code": -32000, "message": "header not found"}, by_hash=True)
    gateway = request_node.NodeGateway(Node([node.url]), WaitingThreads())
    with pytest.raises(UpstreamFailed, match="does not have block 7"):
        request_node.read(gateway.session("a"), other, [Call("eth_getCode", ({}, other))])
    with pytest.raises(HistoryUnavailable):
        request_node.read(gateway.session("a"), BLOCK, [Call("eth_getCode", ({}, BLOCK))])
    requests = node.requests
    node.fault = None
    assert failure(gateway.session("b")) is None and node.requests == requests + 1


def test_a_refusal_with_status_400_is_of_the_call(node, gateway):
    error = {"code": -32602, "message": "invalid params"}
    node.fault = lambda calls, _: Reply(400, {"jsonrpc": "2.0", "id": 0, "error": error})
    with pytest.raises(RpcError, match="invalid params"):
        gateway.session("a").call("eth_getCode")
    node.fault = lambda calls, _: Reply(400, raw=b"<html>")
    assert isinstance(failure(gateway.session("a")), UpstreamFailed)
    node.fault = lambda calls, _: Reply(400, {"error": {"message": "x" * 100_000}})
    assert isinstance(failure(gateway.session("a")), UpstreamFailed)


def test_a_node_over_tls_is_of_a_trusted_authority_and_is_sent_the_user_of_its_url(
    authority, receiver
):
    body = b'{"jsonrpc": "2.0", "id": 0, "result": "0x7"}'
    receiver.behaviour = lambda *_: Answer(200, body=body)
    url = receiver.url("/v3/key?token=t").replace("//", "//anna:p%40ss@")
    node = Node([url], ca_bundle=str(authority.bundle))
    assert [node.call("eth_blockNumber") for _ in range(2)] == ["0x7"] * 2
    request = receiver.received[0]
    assert (request.path, receiver.connections) == ("/v3/key?token=t", 1)
    assert b64decode(request.headers["Authorization"].removeprefix("Basic ")) == b"anna:p@ss"
    for untrusted in (url, url.replace("localhost", "127.0.0.1")):
        bundle = "" if untrusted == url else str(authority.bundle)
        with pytest.raises(NodeError, match="cannot be reached or cut the connection"):
            Node([untrusted], ca_bundle=bundle).call("eth_blockNumber")


@pytest.mark.thorough
def test_several_nodes_share_the_time(node):
    with FaultyNode(serving.NOWHERE) as frozen:
        frozen.fault = faulty_node.hang(20)
        both = request_node.NodeGateway(Node([frozen.url, node.url]), WaitingThreads())
        assert both.session("a").within(0.2).call("eth_getCode") == "eth_getCode"


def test_without_a_place_to_wait_for_another_request_a_session_has_failed(gateway):
    lock = threading.Lock()
    with ExitStack() as stack:
        stack.enter_context(lock)
        for _ in range(3):
            stack.enter_context(gateway.place("a"))
        stack.enter_context(RequestPlaces())
        session = gateway.session("a")
        with pytest.raises(Unavailable):
            session.acquire(lock)
    assert session.failed


@pytest.mark.parametrize(
    ("method", "gas", "costly"),
    [
        ("debug_traceTransaction", None, True),
        ("eth_estimateGas", 21_000, True),
        ("eth_call", 30_000_000, True),
        ("eth_call", 1_000_000, False),
        ("eth_getBalance", None, False),
    ],
)
def test_costly_calls_are_known_by_method_and_gas(method, gas, costly):
    call = {"to": "0x" + "00" * 20, **({} if gas is None else {"gas": hex(gas)})}
    assert request_node.is_costly(Call(method, (call, "latest"))) is costly
