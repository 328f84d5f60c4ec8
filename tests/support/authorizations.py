"""Authorizations of EIP-7702, signed here, and what a node says of the accounts."""

import random

from eth_account import Account

from tests.support.anvil import ZERO
from tests.support.scenario.transactions import key_of, nonce_of

CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
CHAIN_ID = 31337
SPONSOR = key_of(0)
# What accounts delegate to: code that creates an empty contract, that does nothing, and that fails.
MAKER, IDLE, FAILING = (f"0x{number:040x}" for number in (0x7702, 0x7703, 0x7704))
CODES = {MAKER: "0x5f5f5ff05000", IDLE: "0x00", FAILING: "0xfe"}


def new_account(seed):
    """An account without coin or transactions."""
    return Account.from_key(random.Random(seed).randbytes(32))


def authorize(account, delegate, nonce, chain_id=CHAIN_ID):
    return account.sign_authorization(
        {"chainId": chain_id, "address": bytes.fromhex(delegate[2:]), "nonce": nonce}
    )


def with_high_s(signed):
    """The same signature in its other form, which EIP-2 refuses."""
    return signed.model_copy(update={"s": CURVE_ORDER - signed.s, "y_parity": 1 - signed.y_parity})


def send(node, authorizations, to=IDLE, sender=SPONSOR, data="0x", nonce=None):
    """Hand a transaction of type 4, or of type 2 without authorizations, to the pool."""
    transaction = {
        "chainId": CHAIN_ID,
        "nonce": nonce_of(node, sender) if nonce is None else nonce,
        "to": bytes.fromhex(to[2:]),
        "value": 0,
        "gas": 200_000 + 40_000 * len(authorizations),
        "maxFeePerGas": 20 * 10**9,
        "maxPriorityFeePerGas": 10**9,
        "data": data,
        "type": 4 if authorizations else 2,
    }
    if authorizations:
        transaction["authorizationList"] = list(authorizations)
    signed = sender.sign_transaction(transaction)
    return str(node.call("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex()))


def place_codes(node):
    for address, code in CODES.items():
        node.call("anvil_setCode", address, code)


def delegates_of(node, pairs):
    """Whose code accounts run after blocks, as the node has it."""
    codes = node.batch([("eth_getCode", (account, hex(block))) for account, block in pairs])
    return ["0x" + code[8:] if code.startswith("0xef0100") else ZERO for code in codes]


def delegate_of(node, authority, block):
    return delegates_of(node, [(authority, block)])[0]
