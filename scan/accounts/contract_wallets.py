"""Checks signatures of contract wallets (ERC-1271) with the node."""

import logging

from eth_abi.abi import encode

from scan.errors import UpstreamFailed
from scan.ethereum.client import RpcError
from scan.ethereum.gateway import NodeAway, NodeSession
from scan.hex import BadHex, data, to_hex

log = logging.getLogger(__name__)

TIMEOUT_S = 3.0
# isValidSignature(bytes32,bytes): it returns its own selector if the signature is valid.
MAGIC_VALUE = bytes.fromhex("1626ba7e")
_GAS = 10_000_000  # a passkey verified in Solidity takes some 400,000


def accepts(node: NodeSession, wallet: bytes, message_hash: bytes, signature: bytes) -> bool | None:
    """Whether the contract at `wallet` accepts a signature; None if there is no contract.

    Also None if the node does not respond; only plain wallets can then be verified.
    Raises Unavailable if too many requests wait for the node.
    """
    node = node.within(TIMEOUT_S)
    try:
        if not data(node.call("eth_getCode", to_hex(wallet), "latest")):
            return None
        call = {
            "to": to_hex(wallet),
            "gas": hex(_GAS),
            "data": to_hex(MAGIC_VALUE + encode(["bytes32", "bytes"], [message_hash, signature])),
        }
        returned = data(node.call("eth_call", call, "latest"))
        return returned[:32] == MAGIC_VALUE.ljust(32, b"\0")
    except (UpstreamFailed, NodeAway, BadHex) as error:
        log.warning("the signature of a contract wallet could not be checked: %s", error)
        return None
    except RpcError:
        return False
