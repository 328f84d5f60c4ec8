"""module=proxy: a list of allowed JSON-RPC methods, with checked parameters, which Blockscout's
/api/eth-rpc takes as JSON-RPC; and module=logs: getLogs. What is stored comes from the database,
the rest from the node."""

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scan.errors import InvalidJson, TooLarge, UpstreamFailed
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.node_errors import revert_data
from scan.ethereum.served_chain import BlockId
from scan.extensions.etherscan import replies, transactions
from scan.extensions.logs import queries as logs
from scan.extensions.logs.log_filter import LogFilter, having
from scan.extensions.logs.unstored_logs import ANOTHER_CHAIN, TooManyLogs
from scan.hex import to_hex
from scan.http import request_bodies, services
from scan.http.current_request import reader
from scan.http.json_responses import JsonResponse, json_body
from scan.http.prerequisites import Prerequisite, requires
from scan.json_bodies import parse_json
from scan.parameters import BIGINT_MAX
from scan.queries import blocks
from scan.queries.list_pages import Window

MOST_GAS = 30_000_000
# A call's fields, as JSON-RPC names them.
QUANTITIES = ("value", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "nonce", "type")
CALL_FIELDS = {name: name for name in ("to", "from", "data", *QUANTITIES)} | {"input": "data"}
NOT_SENDING = "Error! eth_sendRawTransaction is disabled (SCAN_SEND_TRANSACTIONS is off)"


def method(name: str) -> Callable[[replies.Parameters], replies.RpcReply]:
    """Return the action of a JSON-RPC method: what is stored, or the node's own result or error."""

    @requires(None if name in transactions.MADE else Prerequisite.NODE)
    def call(parameters: replies.Parameters) -> replies.RpcReply:
        [result] = _results([_call(name, METHODS[name], parameters)])
        return _reply(result, name)

    return call


def _results(calls: Sequence[Call]) -> list[Any]:
    """Return the results of calls; the node is asked once, for those that are not stored."""
    made = [MADE[call.method](*call.params) if call.method in MADE else None for call in calls]
    missing = [_at_hash(call) for call, result in zip(calls, made, strict=True) if result is None]
    if missing:
        reader().do_not_cache()
    of_node = iter(reader().node.results(missing))
    return [next(of_node) if result is None else result for result in made]


def _at_hash(call: Call) -> Call:
    """Return a call for the state after a numbered block with its hash where it is indexed; tags
    are the node's."""
    *params, tag = call.params or ("",)
    if call.method not in OF_STATE or not str(tag).startswith("0x"):
        return call
    number = min(int(str(tag), 16), BIGINT_MAX)
    block = BlockId.of(number, blocks.hash_at(reader(), number))
    return Call(call.method, (*params, block)) if block else call


def _reply(result: Any, method: str, id_: object = 1) -> replies.RpcReply:
    """Return the node's result or error; raises Failure for a response that is too large."""
    if isinstance(result, AnswerTooLarge):
        raise replies.Failure("Error! The node's response is too large; request less data")
    if not isinstance(result, RpcError):
        return replies.RpcReply("result", result, id_)
    is_of_sender = result.is_refusal or method == "eth_sendRawTransaction"
    message = result.words if is_of_sender else "the node rejected the call"
    fields: dict[str, object] = {"code": result.code, "message": message}
    if (returned := revert_data(result.data)) is not None:
        fields["data"] = to_hex(returned)
    return replies.RpcReply("error", fields, id_)


def _call(name: str, declared: str, parameters: replies.Parameters) -> Call:
    """Return the call of a method with its parameters, as METHODS declare them."""
    names = declared.split()
    for required in (param for param in reversed(names) if param.endswith("!")):
        parameters.required(required.removesuffix("!"))
    params = [
        READERS[param.rstrip("!?")](parameters)
        for param in names
        if not param.endswith("?") or parameters.text(param.removesuffix("?"))
    ]
    return Call(name, params)


def _boolean(parameters: replies.Parameters) -> bool:
    value = parameters.text("boolean", "false").lower()
    if value not in ("true", "false"):
        raise replies.Failure("Error! Invalid boolean: true or false")
    return value == "true"


def _limited_call(parameters: replies.Parameters) -> dict[str, object]:
    """Return a call with a limit of gas even if the node has none."""
    parameters.address("to")
    return {"gas": hex(MOST_GAS), **_call_object(parameters)}


def _call_object(parameters: replies.Parameters) -> dict[str, object]:
    message: dict[str, object] = {}
    for name in ("to", "from"):
        address = parameters.optional_address(name)
        if address is not None:
            message[name] = to_hex(address)
    if parameters.text("data"):
        message["data"] = parameters.hex_data("data")
    for name in QUANTITIES:
        if parameters.text(name.lower()):
            message[name] = hex(parameters.integer(name.lower(), 0))
    if "gas" in message:
        message["gas"] = hex(min(parameters.integer("gas", 0), MOST_GAS))
    return message


def _raw_transaction(parameters: replies.Parameters) -> str:
    if not services.services().settings.sends_transactions:
        raise replies.Failure(NOT_SENDING)
    parameters.required("hex")
    return parameters.hex_data("hex")


# A node's parameters by the names of those of a request; an object has its fields as parameters.
READERS: Mapping[str, Callable[[replies.Parameters], object]] = {
    "address": lambda parameters: to_hex(parameters.address()),
    "blockhash": lambda parameters: to_hex(parameters.hash32("blockhash")),
    "boolean": _boolean,
    "call{}": _limited_call,
    "estimate{}": _call_object,
    "hex": _raw_transaction,
    "index": lambda parameters: hex(parameters.integer("index", 0)),
    "position": lambda parameters: hex(parameters.integer("position", 0)),
    "tag": lambda parameters: parameters.block_tag(),
    "txhash": lambda parameters: to_hex(parameters.hash32("txhash")),
}
# The parameters of methods by position: with ! they must be there, with ? the node does without.
METHODS: Mapping[str, str] = {
    "eth_blockNumber": "",
    "eth_getBlockByNumber": "tag! boolean",
    "eth_getBlockTransactionCountByNumber": "tag!",
    "eth_getUncleByBlockNumberAndIndex": "tag! index!",
    "eth_getTransactionByHash": "txhash",
    "eth_getTransactionByBlockNumberAndIndex": "tag! index!",
    "eth_getTransactionReceipt": "txhash",
    "eth_getTransactionCount": "address tag",
    "eth_getCode": "address tag",
    "eth_getStorageAt": "address position! tag",
    "eth_call": "call{} tag",
    "eth_estimateGas": "estimate{} tag?",
    "eth_gasPrice": "",
    "eth_sendRawTransaction": "hex",
}
OF_STATE = (
    "eth_call",
    "eth_estimateGas",
    "eth_getBalance",
    "eth_getCode",
    "eth_getStorageAt",
    "eth_getTransactionCount",
)
# Those of /api/eth-rpc, whose clients also ask for these.
RPC_METHODS: Mapping[str, str] = {
    **METHODS,
    "eth_chainId": "",
    "eth_getBalance": "address tag",
    "eth_getBlockByHash": "blockhash! boolean",
    "eth_getLogs": "filter{}",
    "eth_maxPriorityFeePerGas": "",
}
MOST_CALLS = 5  # of a batch, as at Blockscout
MOST_FILTERS = 8  # that the alternatives of a filter make


def respond_to_rpc() -> JsonResponse:
    """Answer a JSON-RPC request or a batch of them, as Blockscout does: what is refused here has a
    text as its error, and what the node refuses the node's object."""
    try:
        body = parse_json(request_bodies.whole_body(InvalidJson, is_kept=False).decode())
    except (ValueError, RecursionError):
        raise InvalidJson("The body must be a JSON-RPC request, or a list of them.") from None
    calls = body if isinstance(body, list) else [body]
    if len(calls) > MOST_CALLS:
        raise TooLarge(f"Payload Too Large. Max batch size is {MOST_CALLS}")
    answers = [reply.body() for reply in _rpc_replies(calls)]
    return json_body(b"[%b]" % b",".join(answers) if calls is body else answers[0])


def _rpc_replies(requested: Sequence[object]) -> Iterator[replies.RpcReply]:
    """Yield the replies to requests, of which some may be refused."""
    calls = [_requested_call(request) for request in requested]
    taken = [call for call in calls if isinstance(call, Call)]
    results = iter(_results(taken))
    for request, call in zip(requested, calls, strict=True):
        id_ = request.get("id", 0) if isinstance(request, dict) else 0
        id_ = id_ if isinstance(id_, int | float | str | None) else ""
        try:
            if isinstance(call, replies.Failure):
                raise call
            yield _reply(next(results), call.method, id_)
        except replies.Failure as failure:
            yield replies.RpcReply("error", failure.reply.result, id_)


def _requested_call(request: object) -> Call | replies.Failure:
    """Return the call of a request, or why it is refused, in Blockscout's words where it has
    some."""
    if not isinstance(request, dict) or not {"jsonrpc", "method"} <= request.keys():
        return replies.Failure("Method, and jsonrpc are required parameters.")
    if "id" not in request:
        return replies.Failure("id is a required field")
    if request["jsonrpc"] != "2.0":
        return replies.Failure("invalid rpc version")
    params = request.get("params", [])
    if not isinstance(params, list):
        return replies.Failure("Invalid params. Params must be a list.")
    name = request["method"]
    declared = RPC_METHODS.get(name) if isinstance(name, str) else None
    if declared is None:
        return replies.Failure("Action not found.")
    names = declared.replace("!", "").replace("?", "").split()
    if len(params) > len(names):
        return replies.Failure("Incorrect number of params.")
    try:
        if name == "eth_getLogs":
            return Call(name, _log_filters(params[0] if params else None))
        return _call(name, declared, replies.Parameters(_named(names, params)))
    except replies.Failure as failure:
        return failure


def _named(names: Sequence[str], params: Sequence[object]) -> Iterator[tuple[str, str]]:
    """Yield a request's parameters as those of a form; raises Failure for one of another kind."""
    for name, value in zip(names, params, strict=False):
        if name.endswith("{}") and isinstance(value, dict):
            fields = [CALL_FIELDS.get(field, "") for field in value]
            yield from _named(fields, [*value.values()])
        elif name and not name.endswith("{}") and isinstance(value, str | int):
            yield name, str(value)
        elif value is not None:
            raise replies.Failure("Error! Invalid params")


MOST_ROWS = 1000  # per page
NO_LOGS = "No records found"
TOO_MUCH = "Query Timeout occurred. Please select a smaller result dataset"


def get_logs(parameters: replies.Parameters) -> replies.Reply:
    log_filter = _filter(parameters)
    if not log_filter.addresses and not any(log_filter.topics):
        raise replies.Failure("Error! Missing address or topics")
    window = _window(parameters, *parameters.limit_and_offset(MOST_ROWS))
    try:
        page = logs.records(reader(), window, log_filter)
    except TooManyLogs:
        raise replies.Failure(TOO_MUCH) from None
    rows = _rows(page.records, "log") if page.records else []
    return replies.rows_reply(rows, NO_LOGS, kept_from=page.kept_from)


def _window(parameters: replies.Parameters, limit: int, offset: int) -> Window:
    first, last = parameters.block("fromblock", 0), parameters.block("toblock", BIGINT_MAX)
    return Window(limit, offset, "asc", first, last)


def _log_filters(criteria: object) -> list[tuple[LogFilter, Window]]:
    """Return the filters of eth_getLogs, one for each choice of its alternatives."""
    if not isinstance(criteria, dict):
        raise replies.Failure("Error! Invalid params")
    block_hash, topics = criteria.get("blockHash"), criteria.get("topics") or []
    bounds: list[tuple[str, object]] = [
        ("fromblock", "latest" if criteria.get("fromBlock") is None else criteria["fromBlock"]),
        ("toblock", criteria.get("toBlock")),
    ]
    if block_hash is not None:
        key = replies.Parameters(_named(["blockhash"], [block_hash])).hash32("blockhash")
        block = json.loads(blocks.get(reader(), key) or "null")
        if block is None:
            raise replies.Failure("unknown block")
        bounds = [("fromblock", block["number"]), ("toblock", block["number"])]
    if not isinstance(topics, list) or len(topics) > MAX_TOPICS:
        raise replies.Failure("Error! Invalid params")
    fields = [criteria.get("address"), *topics]
    choices = [(value or [None]) if isinstance(value, list) else [value] for value in fields]
    if math.prod(map(len, choices)) > MOST_FILTERS:
        raise replies.Failure(f"Error! At most {MOST_FILTERS} choices of addresses and topics")
    names = ["address", *(f"topic{index}" for index in range(len(topics)))]
    filters = {}
    for chosen in itertools.product(*choices):
        pairs = [*bounds, *zip(names, chosen, strict=True)]
        parameters = replies.Parameters(_named(*zip(*pairs, strict=True)))
        filters[_filter(parameters)] = _window(parameters, MOST_ROWS, 0)
    return [*filters.items()]


def _logs_of_node(*filters: tuple[LogFilter, Window]) -> list[object] | RpcError:
    """Return the result of eth_getLogs by _log_filters(): at most MOST_ROWS logs, of which several
    filters may match one."""
    records: dict[tuple[int, int], logs.Record] = {}
    try:
        for log_filter, window in filters:
            if reader().node.left_s() <= 0:  # of the time that a batch has
                return RpcError(-32005, TOO_MUCH)
            page = logs.records(reader(), window, log_filter)
            records |= {(log["blockNumber"], log["logIndex"]): log for log in page.records}
            if page.next or len(records) > MOST_ROWS:
                return RpcError(-32005, f"query returned more than {MOST_ROWS} results")
    except TooManyLogs:
        return RpcError(-32005, TOO_MUCH)
    in_order = [log for _, log in sorted(records.items())]
    return _rows(in_order, "log_of_node") if records else []


MADE: Mapping[str, Callable[..., object]] = {**transactions.MADE, "eth_getLogs": _logs_of_node}


def _filter(parameters: replies.Parameters) -> LogFilter:
    """Return the filter, in which an operator (`and` by default) joins a topic with the nearest
    preceding one that is given."""
    topic_indexes = [index for index in range(MAX_TOPICS) if parameters.text(f"topic{index}")]
    joined = []
    for position, index in enumerate(topic_indexes):
        names = [f"topic{earlier}_{index}_opr" for earlier in reversed(topic_indexes[:position])]
        operators = [parameters.text(name).lower() for name in names if parameters.text(name)]
        operator = operators[0] if operators else "and"
        if operator not in ("and", "or"):
            raise replies.Failure("Error! Invalid topic operator: and or or")
        joined.append((index, operator == "and"))
    topics = [
        parameters.hash32(f"topic{index}") if index in topic_indexes else None
        for index in range(MAX_TOPICS)
    ]
    return having(parameters.optional_address("address"), topics, joined)


def _rows(records: list[logs.Record], form: str) -> list[object]:
    """Return the logs in a form of objects.toml; raises UpstreamFailed if a block was removed by a
    reorg in the meantime."""
    places = [(log["blockNumber"], log["transactionIndex"]) for log in records]
    sent = logs.transactions_at(reader(), places)
    rows: list[object] = []
    for log, transaction in zip(records, sent, strict=True):
        if transaction["hash"] != log["transactionHash"]:
            raise UpstreamFailed(ANOTHER_CHAIN)
        rows.append(replies.renamed(form, transaction | log))
    return rows
