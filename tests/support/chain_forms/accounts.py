"""Accounts of made chains: each signs with the key that its name makes; others' signatures are made
up, as nobody recovers a sender from them."""

import rlp
from eth_keys import keys
from eth_utils import keccak

from tests.support.chain_forms.encoding import encodable

private_keys = {}  # by address


def account(key):
    """The address of a private key, with which add() signs its transactions."""
    private_key = keys.PrivateKey(key)
    holder = private_key.public_key.to_canonical_address()
    private_keys[holder] = private_key
    return holder


def address(name):
    return account(keccak(text=f"account {name}"))


def signed(transaction, names):
    """The transaction with its sender's signature, where its encoding by these fields ends with one
    and the sender's key is known."""
    key = private_keys.get(transaction["from"])
    if key is None or names[-2:] != ("r", "s") or "from" in names:
        return transaction
    type_ = transaction["type"]
    values = [encodable(transaction[name]) for name in names[:-3]]
    chain_id = (transaction["v"] - 35) // 2
    values += [] if type_ else [encodable(number) for number in (chain_id, 0, 0)]
    message = (bytes([type_]) if type_ else b"") + rlp.encode(values)
    parity, r, s = key.sign_msg_hash(keccak(message)).vrs
    own = {"yParity": parity} if type_ else {"v": 35 + 2 * chain_id + parity}
    return {**transaction, **own, "r": r, "s": s}
