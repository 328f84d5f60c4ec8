"""Signatures of contract wallets: ERC-1271, asked of the node."""

import logging
from threading import BoundedSemaphore

from eth_abi.abi import encode

from scan.errors import Unavailable
from scan.ethereum.client import Node, NodeError, RpcError
from scan.hex import BadHex, data, to_hex

log = logging.getLogger(__name__)

TIMEOUT_S = 3.0
ASKED_AT_ONCE = 3
# isValidSignature(bytes32,bytes): its selector is also the value that says yes.
MAGIC_VALUE = bytes.fromhex("1626ba7e")
_GAS = 10_000_000  # a passkey checked in Solidity takes some 400,000


class ContractWallets:
    """Asks few at once: a node that hangs must not hold every thread with it."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._slots = BoundedSemaphore(ASKED_AT_ONCE)

    def accept(self, wallet: bytes, message_hash: bytes, signature: bytes) -> bool | None:
        """What the contract at `wallet` says of a signature; None without a contract to ask.

        Also None where the node cannot be asked: then only plain wallets can prove themselves.
        Raises Unavailable when enough are being asked already.
        """
        if not self._slots.acquire(blocking=False):
            raise Unavailable("Too many signatures are being checked; try again shortly.")
        try:
            return _answer(self._node, wallet, message_hash, signature)
        finally:
            self._slots.release()


def _answer(node: Node, wallet: bytes, message_hash: bytes, signature: bytes) -> bool | None:
    try:
        if not data(node.call("eth_getCode", to_hex(wallet), "latest", timeout_s=TIMEOUT_S)):
            return None
        return _is_valid(node, wallet, message_hash, signature)
    except (NodeError, BadHex) as error:
        log.warning("a contract wallet could not be asked about a signature: %s", error)
        return None
    except RpcError:
        return False


def _is_valid(node: Node, wallet: bytes, message_hash: bytes, signature: bytes) -> bool:
    call = {
        "to": to_hex(wallet),
        "gas": hex(_GAS),
        "data": to_hex(MAGIC_VALUE + encode(["bytes32", "bytes"], [message_hash, signature])),
    }
    answer = data(node.call("eth_call", call, "latest", timeout_s=TIMEOUT_S))
    return len(answer) >= 32 and answer[:32] == MAGIC_VALUE.ljust(32, b"\0")
