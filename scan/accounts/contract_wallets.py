"""Checks signatures of contract wallets (ERC-1271) with the node."""

import logging

from eth_abi.abi import encode

from scan.errors import UpstreamFailed
from scan.ethereum.client import RpcError
from scan.ethereum.gateway import NodeAway, NodeSession
from scan.hex import BadHex, data, to_hex

log = logging.getLogger(__name__)

TIMEOUT_S = 3.0
# isValidSignature(bytes32,bytes): its selector is also the value that accepts.
MAGIC_VALUE = bytes.fromhex("1626ba7e")
_GAS = 10_000_000  # a passkey checked in Solidity takes some 400,000


def accepts(node: NodeSession, wallet: bytes, message_hash: bytes, signature: bytes) -> bool | None:
    """Whether the contract at `wallet` accepts a signature; None where there is no contract.

    Also None where the node does not answer: then only plain wallets can prove themselves.
    Raises Unavailable where too many wait for the node.
    """
    node = node.within(TIMEOUT_S)
    try:
        if not data(node.call("eth_getCode", to_hex(wallet), "latest")):
            return None
        return _is_valid(node, wallet, message_hash, signature)
    except (UpstreamFailed, NodeAway, BadHex) as error:
        log.warning("the signature of a contract wallet could not be checked: %s", error)
        return None
    except RpcError:
        return False


def _is_valid(node: NodeSession, wallet: bytes, message_hash: bytes, signature: bytes) -> bool:
    call = {
        "to": to_hex(wallet),
        "gas": hex(_GAS),
        "data": to_hex(MAGIC_VALUE + encode(["bytes32", "bytes"], [message_hash, signature])),
    }
    answer = data(node.call("eth_call", call, "latest"))
    return len(answer) >= 32 and answer[:32] == MAGIC_VALUE.ljust(32, b"\0")
