"""A node that fails: a proxy before a real one, for what the real one will not do by itself."""

import itertools
import json
import random
import socket
import threading
import time
from collections import namedtuple
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import urllib3

from tests.support import WAIT_S
from tests.support.serving import in_thread


class Reply(
    namedtuple(
        "Reply", "status body headers raw cut stream", defaults=(200, None, (), None, False, None)
    )
):
    """What goes over the wire instead of the node's answer. `stream`: written as they are, in the
    place of head and body, until the client has had enough."""


# By the address of a node whose state no test changes: what it has answered, as JSON.
ANSWERS = {}


def status(code, *headers):
    return lambda _calls, _forward: Reply(code, {"error": "no"}, headers)


def too_many_requests(seconds):
    return status(429, ("Retry-After", str(seconds)))


def cut_connection(_calls, _forward):
    return Reply(cut=True)


def half_json(calls, forward):
    whole = json.dumps(forward(calls)).encode()
    return Reply(raw=whole[: len(whole) // 2])


def raw(body):
    return lambda _calls, _forward: Reply(raw=body)


html = raw(b"<html>Bad gateway</html>")


def hang(seconds):
    """Answer so much later."""

    def reply(calls, forward):
        time.sleep(seconds)
        return Reply(body=forward(calls))

    return reply


def null_results(calls, _forward):
    return Reply(body=[{"jsonrpc": "2.0", "id": call["id"], "result": None} for call in calls])


def answers_missing(calls, forward):
    return Reply(body=forward(calls)[1:])


def node_error(code, message):
    """Of every call."""
    return lambda calls, _forward: Reply(
        body=[{"jsonrpc": "2.0", "id": c["id"], "error": _error(code, message)} for c in calls]
    )


def altering(alter):
    """`alter` is given each call and its answer, which it changes in place."""

    def reply(calls, forward):
        answers = forward(calls)
        for call, answer in zip(calls, answers, strict=True):
            alter(call, answer)
        return Reply(body=answers)

    return reply


def replacing(meant, result):
    """The calls of a method, or those that a function chooses, have another result: a value, or
    what a function makes of the node's."""
    is_meant = meant if callable(meant) else lambda call: call["method"] == meant

    def alter(call, answer):
        if is_meant(call):
            answer.pop("error", None)
            answer["result"] = result(answer.get("result")) if callable(result) else result

    return altering(alter)


def changing(change, *methods, block=None):
    """The results of these methods, of one block alone where its number is given, are changed in
    place."""

    def alter(call, answer):
        is_meant = call["method"] in methods and (block is None or call["params"][0] == hex(block))
        if is_meant and answer.get("result"):
            change(answer["result"])

    return altering(alter)


def records_of(result):
    """The transactions of a block, unless it has their hashes, or its receipts."""
    records = result["transactions"] if isinstance(result, dict) else result
    return [record for record in records if isinstance(record, dict)]


def balanced(*forwards):
    """As a balancer before nodes, of which each in turn is sent a request."""
    turns = itertools.cycle(forwards)
    return lambda calls, _: Reply(body=next(turns)(calls))


def routed(is_others, other):
    """As a balancer that routes by method: another node is sent some calls of a batch."""

    def reply(calls, forward):
        to_other = [call for call in calls if is_others(call)]
        to_node = [call for call in calls if not is_others(call)]
        answers = [*(other(to_other) if to_other else ()), *(forward(to_node) if to_node else ())]
        return Reply(body=answers)

    return reply


def before(first, second):
    """The fault `first` of a node that has the fault `second`."""
    return lambda calls, forward: first(calls, lambda inner: second(inner, forward).body)


def refuse(is_refused, code=-32601, message="not found"):
    """An error is the answer of some calls."""

    def alter(call, answer):
        if is_refused(call):
            answer.pop("result", None)
            answer["error"] = _error(code, message)

    return altering(alter)


# The block is there, its receipts are not yet.
RECEIPTS = ("eth_getBlockReceipts", "eth_getTransactionReceipt")
null_receipts = replacing(lambda call: call["method"] in RECEIPTS, None)


def prune(first, way, genesis=False):
    """Blocks before `first` are dropped: they, or their receipts, are null or [], or an error."""
    methods = ("eth_getBlockReceipts",) if "receipts" in way else ("eth_getBlockByNumber",)
    range_ = {"requested": "0x1", "earliest_available": hex(first)}
    answer = {
        "null": {"result": None},
        "null receipts": {"result": None},
        "no receipts": {"result": []},
        "4444": {"error": _error(4444, "pruned history unavailable") | {"data": range_}},
        "-32000": {"error": _error(-32000, "history is not here")},
    }[way]

    def alter(call, own):
        number = call["params"][0] if call["method"] in methods else ""
        if number.startswith("0x") and (0 if genesis else 1) <= int(number, 16) < first:
            own.pop("result", None)
            own.update(answer)

    return altering(alter)


# Where a call names the block of whose state it is, and what traces are of.
PLACE_OF_BLOCK = {
    **dict.fromkeys(("eth_call", "eth_getBalance", "eth_getCode", "eth_getTransactionCount"), 1),
    **dict.fromkeys(("debug_traceCall", "eth_simulateV1"), 1),
    **dict.fromkeys(("eth_getStorageAt", "eth_getProof"), 2),
    **dict.fromkeys(("debug_traceBlockByHash", "debug_traceBlockByNumber", "trace_block"), 0),
    **dict.fromkeys(("debug_traceTransaction", "trace_transaction"), 0),
}
# How clients say that they have pruned a state, and ways that no client has.
WORDS_OF_PRUNED_STATE = {
    "Besu": (-32000, "World state unavailable"),
    "Erigon": (-32000, "historical state 0x5e9c is pruned"),
    "geth": (-32000, "missing trie node 5e9c (path ) state 0x5e9c is not available, not found"),
    "Nethermind": (-32002, "No state available for block 0x5e9c"),
    "reth": (
        -32603,
        "insufficient changesets to revert to block #1. Available changeset range: 40..=42",
    ),
    "reth by code": (4444, "pruned history unavailable"),
    "Sonic": (-32000, "state does not maintain archive data"),
    "unknown": (-39999, "ask somebody older"),
    "internal": (-32603, "Internal error"),
    "late": (-32000, "request timed out, try again"),
    "no block": (-32000, "header not found"),
    "no method": (-32000, "the method is not available for this block"),
    "empty": (0, ""),
}


def without_old_state(kept, code, message):
    """A full node, which has the state of the newest `kept` blocks alone, and traces these."""

    def reply(calls, forward):
        def ask(method, *params):
            call = {"jsonrpc": "2.0", "id": 0, "method": method, "params": [*params]}
            return forward([call])[0]["result"]

        def number(named):
            text = named["blockHash"] if isinstance(named, dict) else named
            if len(text) < 66:
                return int(text, 16)
            of_block = ask("eth_getBlockByHash", text, False) or {}
            sent = {} if of_block else ask("eth_getTransactionByHash", text) or {}
            return int(of_block.get("number") or sent.get("blockNumber") or "0x0", 16)

        def is_old(call):
            place = PLACE_OF_BLOCK.get(call["method"])
            named = "latest" if place is None else call["params"][place]
            return named != "latest" and number(named) <= head - kept

        head = int(ask("eth_blockNumber"), 16)
        return refuse(is_old, code, message)(calls, forward)

    return reply


def foreign_receipts(calls, forward):
    """Those of the block before."""
    requests = [dict(call) for call in calls]
    for call in requests:
        if call["method"] == "eth_getBlockReceipts":
            call["params"] = [hex(max(0, int(call["params"][0], 16) - 1))]
    return Reply(body=forward(requests))


# The tip of a node that is some blocks behind.
stale_head = replacing("eth_blockNumber", lambda head: hex(max(0, int(head, 16) - 5)))


@altering
def other_block(_, answer):
    """Blocks of another hash: what a node on another fork says."""
    block = answer.get("result")
    if isinstance(block, dict) and "parentHash" in block:
        block["hash"] = "0x" + 64 * "b"


# By which a node says that it is a developer's.
OF_DEVELOPMENT = {"hardhat_metadata", "anvil_nodeInfo", "web3_clientVersion"}
no_development = refuse(lambda call: call["method"] in OF_DEVELOPMENT)


def refuse_method(method):
    message = f"the method {method} does not exist"
    return refuse(lambda call: call["method"] == method, message=message)


def names_block_hash(call):
    return any(isinstance(param, dict) and "blockHash" in param for param in call["params"])


# A node from before EIP-1898, and Ganache.
refuse_block_hashes = refuse(names_block_hash, -32602, "cannot unmarshal object")
refuse_block_objects = refuse(names_block_hash, -32700, 'Cannot wrap a "object" as a json-rpc type')


def ignore_block_hashes(calls, forward):
    """Takes any block hash, and answers from the newest block."""

    def newest(param):
        return "latest" if isinstance(param, dict) and "blockHash" in param else param

    return Reply(body=forward([c | {"params": [*map(newest, c["params"])]} for c in calls]))


def limit_batch(most, refusal):
    return lambda calls, forward: (
        refusal(calls, forward) if len(calls) > most else Reply(body=forward(calls))
    )


def batch_error(_calls, _forward):
    """One error for the whole batch."""
    error = {"jsonrpc": "2.0", "id": None, "error": _error(-32600, "batch size exceeds limit")}
    return Reply(raw=json.dumps(error).encode())


def batch_error_in_list(_calls, _forward):
    return Reply(body=[{"jsonrpc": "2.0", "id": None, "error": _error(-32005, "too many calls")}])


def cap_results(most):
    """As geth does: what fits is answered, of the rest it says that it is too large."""
    too_large = node_error(-32003, "response too large")
    return lambda calls, forward: Reply(
        body=[*forward(calls[:most]), *too_large(calls[most:], forward).body]
    )


def duplicate_ids(calls, forward):
    """The right answers, and before them wrong ones."""
    wrong = [{"jsonrpc": "2.0", "id": call["id"], "result": "0x1"} for call in calls]
    return Reply(body=[*wrong, *forward(calls)])


def every_result(result):
    """Of every call, as JSON, except those of is_chain_check(), which learn nothing."""

    def reply(calls, forward):
        if is_chain_check(calls):
            return null_results(calls, forward)
        answers = (f'{{"jsonrpc":"2.0","id":{c["id"]},"result":{result}}}' for c in calls)
        return Reply(raw=f"[{','.join(answers)}]".encode())

    return reply


def is_chain_check(calls):
    """Whether a client may only be looking whether this is the right chain, as it does every few
    seconds, whatever a test is about."""
    requests = [(call["method"], call["params"]) for call in calls]
    return requests in ([("eth_chainId", [])], [("eth_getBlockByNumber", ["0x0", False])])


PASSING_FAULTS = (
    too_many_requests(0),
    *(status(code) for code in (500, 502, 503)),
    cut_connection,
    half_json,
    html,
    hang(0.2),
    null_results,
    answers_missing,
    node_error(-32603, "Internal error"),
    node_error(-32005, "rate limit exceeded"),
    node_error(-32000, "header not found"),
    null_receipts,
    foreign_receipts,
    stale_head,
    other_block,
)


class FaultyNode:
    """Forwards to `upstream`, but for what `fault` makes of it."""

    def __init__(self, upstream, fault=None, seed=0, rate=0.0):
        self.upstream = upstream
        self.fault = fault  # of every request, while it is set
        self.rate = rate  # how many of the requests meet one of PASSING_FAULTS
        self.requests = 0
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._upstream = urllib3.PoolManager(maxsize=100, retries=False)
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        self._serving = in_thread(self._server)

    def __enter__(self):
        self._serving.__enter__()
        return self

    def __exit__(self, *_):
        self._serving.__exit__(None, None, None)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def reply(self, calls):
        fault = self.fault
        with self._lock:
            self.requests += 1
            if fault is None and self._random.random() < self.rate:
                fault = self._random.choice(PASSING_FAULTS)
        return fault(calls, self.forward) if fault else Reply(body=self.forward(calls))

    def forward(self, calls):
        """In the order of the calls."""
        answers = ANSWERS.get(self.upstream, {})
        missing = [call for call in calls if _key(call) not in answers]
        if missing:
            answer = self._upstream.request("POST", self.upstream, json=missing, timeout=WAIT_S)
            by_id = {a["id"]: a for a in answer.json()}
            answers |= {_key(call): json.dumps(by_id[call["id"]]) for call in missing}
        return [json.loads(answers[_key(call)]) | {"id": call["id"]} for call in calls]


def _key(call):
    return call["method"], json.dumps(call.get("params"))


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that was killed while it spoke is what tests want, and no news."""


def _handler_of(node):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Or the body waits for the client's delayed acknowledgement of the head: 40 ms a request.
        disable_nagle_algorithm = True

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_batch = isinstance(request, list)
            try:
                reply = node.reply(request if is_batch else [request])
            except urllib3.exceptions.HTTPError:
                reply = Reply(502, {"error": "upstream"})
            self._send(reply, is_batch)

        def _send(self, reply, is_batch):
            if reply.cut:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            if reply.stream is not None:
                self._write(reply.stream)
                return
            body = reply.body
            if isinstance(body, list) and not is_batch:
                body = body[0] if body else {}
            raw = json.dumps(body).encode() if reply.raw is None else reply.raw
            self.send_response(reply.status)
            for name, value in (("Content-Length", str(len(raw))), *reply.headers):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def _write(self, pieces):
            self.close_connection = True
            with suppress(OSError):  # the client has had enough
                for piece in pieces:
                    self.wfile.write(piece)
                    self.wfile.flush()

        def log_message(self, *_):
            pass

    return Handler


def _error(code, message):
    return {"code": code, "message": message}
