"""Checks signatures of contract wallets (ERC-1271) with the node."""

import logging

from eth_abi.abi import encode

from scan.ethereum.client import Node, NodeError, RpcError
from scan.hex import BadHex, data, to_hex
from scan.rate_limits.concurrency import ConcurrencyLimit

log = logging.getLogger(__name__)

TIMEOUT_S = 3.0
MOST_CHECKS = 3  # at once: a node that hangs must not hold every thread with it
# isValidSignature(bytes32,bytes): its selector is also the value that accepts.
MAGIC_VALUE = bytes.fromhex("1626ba7e")
_GAS = 10_000_000  # a passkey checked in Solidity takes some 400,000


class ContractWallets:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._checks = ConcurrencyLimit(
            MOST_CHECKS, busy="Too many signatures are being checked; try again shortly."
        )

    def accept(self, wallet: bytes, message_hash: bytes, signature: bytes) -> bool | None:
        """Whether the contract at `wallet` accepts a signature; None where there is no contract.

        Also None where the node does not answer: then only plain wallets can prove themselves.
        Raises Unavailable while enough signatures are being checked.
        """
        with self._checks.place():
            return _check(self._node, wallet, message_hash, signature)


def _check(node: Node, wallet: bytes, message_hash: bytes, signature: bytes) -> bool | None:
    try:
        if not data(node.call("eth_getCode", to_hex(wallet), "latest", timeout_s=TIMEOUT_S)):
            return None
        return _is_valid(node, wallet, message_hash, signature)
    except (NodeError, BadHex) as error:
        log.warning("the signature of a contract wallet could not be checked: %s", error)
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
