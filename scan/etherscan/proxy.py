"""module=proxy: named methods of the node, with checked parameters."""

from collections.abc import Callable, Mapping

from scan.ethereum.client import AnswerTooLarge, RpcError
from scan.etherscan.parameters import Parameters
from scan.etherscan.replies import Failure, RpcReply
from scan.hex import to_hex
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import reader
from scan.http.services import services

MOST_GAS = 30_000_000
NOT_SENDING = "Error! eth_sendRawTransaction is not offered here (SCAN_SEND_TRANSACTIONS is off)"


def method(name: str) -> Callable[[Parameters], RpcReply]:
    """An action: the node's own result or error."""

    @requires(Prerequisite.NODE)
    def call(asked: Parameters) -> RpcReply:
        params = METHODS[name](asked)
        try:
            return RpcReply("result", reader().node.call(name, *params))
        except AnswerTooLarge:
            raise Failure("Error! The node's answer is too large; ask for less") from None
        except RpcError as error:
            return RpcReply("error", _error(error))

    return call


def _error(error: RpcError) -> dict[str, object]:
    message = error.message if "://" not in error.message else "the node refused the call"
    fields: dict[str, object] = {"code": error.code, "message": message}
    return fields if error.data is None else {**fields, "data": error.data}


def _nothing(asked: Parameters) -> list[object]:
    return []


def _block(asked: Parameters) -> list[object]:
    asked.required("tag")
    return [asked.block_tag(), asked.text("boolean").lower() == "true"]


def _hash(asked: Parameters) -> list[object]:
    return [to_hex(asked.hash32("txhash"))]


def _address(asked: Parameters) -> list[object]:
    return [to_hex(asked.address()), asked.block_tag()]


def _storage(asked: Parameters) -> list[object]:
    asked.required("position")
    return [to_hex(asked.address()), hex(asked.integer("position", 0)), asked.block_tag()]


def _call(asked: Parameters) -> list[object]:
    """Gas is bounded also where the node would not."""
    asked.address("to")
    return [{"gas": hex(MOST_GAS), **_message(asked)}, asked.block_tag()]


def _estimate(asked: Parameters) -> list[object]:
    return [_message(asked)]


def _message(asked: Parameters) -> dict[str, object]:
    message: dict[str, object] = {}
    for name in ("to", "from"):
        address = asked.optional_address(name)
        if address is not None:
            message[name] = to_hex(address)
    if asked.text("data"):
        message["data"] = asked.hex_data("data")
    for name in ("value", "gas", "gasPrice"):
        if asked.text(name.lower()):
            message[name] = hex(asked.integer(name.lower(), 0))
    if "gas" in message:
        message["gas"] = hex(min(asked.integer("gas", 0), MOST_GAS))
    return message


def _raw(asked: Parameters) -> list[object]:
    if not services().settings.sends_transactions:
        raise Failure(NOT_SENDING)
    asked.required("hex")
    return [asked.hex_data("hex")]


METHODS: Mapping[str, Callable[[Parameters], list[object]]] = {
    "eth_blockNumber": _nothing,
    "eth_getBlockByNumber": _block,
    "eth_getTransactionByHash": _hash,
    "eth_getTransactionReceipt": _hash,
    "eth_getTransactionCount": _address,
    "eth_getCode": _address,
    "eth_getStorageAt": _storage,
    "eth_call": _call,
    "eth_estimateGas": _estimate,
    "eth_gasPrice": _nothing,
    "eth_sendRawTransaction": _raw,
}
