"""module=proxy: a list of allowed JSON-RPC methods, with checked parameters; and module=logs:
getLogs, from the database if logs are stored, otherwise from the node."""

from collections.abc import Callable, Mapping

from scan.errors import UpstreamFailed
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.client import AnswerTooLarge, RpcError
from scan.extensions.etherscan import replies
from scan.extensions.logs import queries as logs
from scan.extensions.logs.log_filter import LogFilter, having
from scan.extensions.logs.node_logs import ANOTHER_CHAIN, TooManyLogs
from scan.hex import to_hex
from scan.http import request_state, requests
from scan.queries import blocks, pages

MOST_GAS = 30_000_000
NOT_SENDING = "Error! eth_sendRawTransaction is disabled (SCAN_SEND_TRANSACTIONS is off)"


def method(name: str) -> Callable[[replies.Parameters], replies.RpcReply]:
    """Return the action of a JSON-RPC method: the node's own result or error."""

    @requests.requires(requests.Prerequisite.NODE)
    def call(parameters: replies.Parameters) -> replies.RpcReply:
        params = METHODS[name](parameters)
        try:
            return replies.RpcReply("result", requests.reader().node.call(name, *params))
        except AnswerTooLarge:
            raise replies.Failure(
                "Error! The node's response is too large; request less data"
            ) from None
        except RpcError as error:
            return replies.RpcReply("error", _error(error))

    return call


def _error(error: RpcError) -> dict[str, object]:
    message = error.message if "://" not in error.message else "the node rejected the call"
    fields: dict[str, object] = {"code": error.code, "message": message}
    return fields if error.data is None else {**fields, "data": error.data}


def _no_params(parameters: replies.Parameters) -> list[object]:
    return []


def _block_params(parameters: replies.Parameters) -> list[object]:
    block = _number_params(parameters)
    whole_transactions = parameters.text("boolean", "false").lower()
    if whole_transactions not in ("true", "false"):
        raise replies.Failure("Error! Invalid boolean: true or false")
    return [*block, whole_transactions == "true"]


def _number_params(parameters: replies.Parameters) -> list[object]:
    parameters.required("tag")
    return [parameters.block_tag()]


def _place_params(parameters: replies.Parameters) -> list[object]:
    """Return a block and an index in it: of a transaction, or of an uncle."""
    parameters.required("index")
    return [*_number_params(parameters), hex(parameters.integer("index", 0))]


def _hash_params(parameters: replies.Parameters) -> list[object]:
    return [to_hex(parameters.hash32("txhash"))]


def _address_params(parameters: replies.Parameters) -> list[object]:
    return [to_hex(parameters.address()), parameters.block_tag()]


def _storage_params(parameters: replies.Parameters) -> list[object]:
    parameters.required("position")
    return [
        to_hex(parameters.address()),
        hex(parameters.integer("position", 0)),
        parameters.block_tag(),
    ]


def _call_params(parameters: replies.Parameters) -> list[object]:
    """Return the parameters of eth_call, with a limit of gas even if the node has none."""
    parameters.address("to")
    return [{"gas": hex(MOST_GAS), **_call_object(parameters)}, parameters.block_tag()]


def _call_object(parameters: replies.Parameters) -> dict[str, object]:
    message: dict[str, object] = {}
    for name in ("to", "from"):
        address = parameters.optional_address(name)
        if address is not None:
            message[name] = to_hex(address)
    if parameters.text("data"):
        message["data"] = parameters.hex_data("data")
    for name in ("value", "gas", "gasPrice"):
        if parameters.text(name.lower()):
            message[name] = hex(parameters.integer(name.lower(), 0))
    if "gas" in message:
        message["gas"] = hex(min(parameters.integer("gas", 0), MOST_GAS))
    return message


def _raw_params(parameters: replies.Parameters) -> list[object]:
    if not request_state.services().settings.sends_transactions:
        raise replies.Failure(NOT_SENDING)
    parameters.required("hex")
    return [parameters.hex_data("hex")]


METHODS: Mapping[str, Callable[[replies.Parameters], list[object]]] = {
    "eth_blockNumber": _no_params,
    "eth_getBlockByNumber": _block_params,
    "eth_getBlockTransactionCountByNumber": _number_params,
    "eth_getUncleByBlockNumberAndIndex": _place_params,
    "eth_getTransactionByHash": _hash_params,
    "eth_getTransactionByBlockNumberAndIndex": _place_params,
    "eth_getTransactionReceipt": _hash_params,
    "eth_getTransactionCount": _address_params,
    "eth_getCode": _address_params,
    "eth_getStorageAt": _storage_params,
    "eth_call": _call_params,
    "eth_estimateGas": lambda parameters: [_call_object(parameters)],
    "eth_gasPrice": _no_params,
    "eth_sendRawTransaction": _raw_params,
}


MOST_ROWS = 1000  # per page
NO_LOGS = "No records found"
TOO_MUCH = "Query Timeout occurred. Please select a smaller result dataset"


def get_logs(parameters: replies.Parameters) -> replies.Reply:
    log_filter = _filter(parameters)
    if log_filter.address is None and not any(log_filter.topics):
        raise replies.Failure("Error! Missing address or topics")
    limit, offset = parameters.limit_and_offset(MOST_ROWS)
    if parameters.text("fromblock").lower() == "latest":
        first = last = blocks.newest_number(requests.reader()) or 0
    else:
        first, last = parameters.first_block("fromblock"), parameters.last_block("toblock")
    window = pages.Window(limit, offset, "asc", first, last)
    try:
        records = logs.records(requests.reader(), window, log_filter).records
    except TooManyLogs:
        raise replies.Failure(TOO_MUCH) from None
    rows = _rows(records) if records else []
    return replies.rows_reply(rows, NO_LOGS, kept_from=requests.reader().kept_from)


def _filter(parameters: replies.Parameters) -> LogFilter:
    """Return the filter, in which an operator (`and` by default) joins a topic with the nearest
    preceding one that is given."""
    given = [index for index in range(MAX_TOPICS) if parameters.text(f"topic{index}")]
    joined = []
    for number, index in enumerate(given):
        names = [f"topic{earlier}_{index}_opr" for earlier in reversed(given[:number])]
        operators = [parameters.text(name).lower() for name in names if parameters.text(name)]
        operator = operators[0] if operators else "and"
        if operator not in ("and", "or"):
            raise replies.Failure("Error! Invalid topic operator: and or or")
        joined.append((index, operator == "and"))
    topics = [
        parameters.hash32(f"topic{index}") if index in given else None
        for index in range(MAX_TOPICS)
    ]
    return having(parameters.optional_address("address"), topics, joined)


def _rows(records: list[logs.Record]) -> list[object]:
    """Return the logs in Etherscan's form; raises UpstreamFailed if a block was removed by a
    reorg in the meantime."""
    transactions = logs.transactions_at(
        requests.reader(), [(log["blockNumber"], log["transactionIndex"]) for log in records]
    )
    rows: list[object] = []
    for log, transaction in zip(records, transactions, strict=True):
        if transaction["hash"] != log["transactionHash"]:
            raise UpstreamFailed(ANOTHER_CHAIN)
        rows.append(replies.renamed("log", transaction | log))
    return rows
