"""Key requests as a wallet makes them."""

import secrets
import time
from threading import Lock

import requests
from eth_account import Account
from eth_account.messages import encode_defunct

from scan.accounts.wallet_signatures import key_request_message
from tests.support import WAIT_S

_lock = Lock()
_latest_ms = 0


def new_wallet():
    return Account.from_key(secrets.token_bytes(32))


def owner_of(wallet):
    return str(wallet.address).lower()


def fresh_timestamp_ms():
    """Now, and never the same twice."""
    global _latest_ms
    with _lock:
        _latest_ms = max(_latest_ms + 1, time.time_ns() // 1_000_000)
        return _latest_ms


def key_request(wallet, **more):
    """The body of POST /api/v1/keys, signed."""
    timestamp_ms = fresh_timestamp_ms()
    message = key_request_message(bytes.fromhex(wallet.address[2:]), timestamp_ms)
    signature = "0x" + bytes(wallet.sign_message(encode_defunct(text=message)).signature).hex()
    body = {"ownerAddress": wallet.address, "signature": signature, "timestamp": timestamp_ms}
    return {**body, **more}


def obtain_key(server, wallet):
    """The answer of a successful POST /api/v1/keys."""
    response = requests.post(f"{server}/api/v1/keys", json=key_request(wallet), timeout=WAIT_S)
    assert response.status_code == 201, response.text
    return response.json()
