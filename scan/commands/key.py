"""`scan key request`: from a wallet to an API key, with or without its private key at hand."""

import argparse
import json
import time
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from eth_account import Account
from eth_account.signers.local import LocalAccount

from scan import parameters
from scan.accounts.wallet_signatures import key_request_message
from scan.errors import ScanError, SettingError
from scan.hex import to_hex
from scan.settings import Settings, wallet_private_key

TIMEOUT_S = 30


def run(settings: Settings, options: argparse.Namespace) -> int:
    private_key = wallet_private_key()
    timestamp_ms: int = options.timestamp or time.time_ns() // 1_000_000
    if options.signature:
        body = _request(_owner(options), timestamp_ms, options.signature, options.label)
    elif private_key:
        body = _signed_request(_wallet(private_key), timestamp_ms, options.label)
    else:
        _explain(_owner(options), timestamp_ms)
        return 0
    created = _post(options.url or _default_url(settings), body)
    print(f"{created['key']}\n\n{created['message']}")
    return 0


def _owner(options: argparse.Namespace) -> bytes:
    if options.owner is None:
        raise ScanError("Give --owner, or the wallet's SCAN_PRIVATE_KEY in the environment.")
    return parameters.address(options.owner, "--owner")


def _wallet(private_key: str) -> LocalAccount:
    try:
        wallet: LocalAccount = Account.from_key(private_key)
    except ValueError:
        reason = "64 hex digits of a private key are expected"
        raise SettingError("SCAN_PRIVATE_KEY", "***", reason) from None
    return wallet


def _signed_request(wallet: LocalAccount, timestamp_ms: int, label: str) -> dict[str, Any]:
    owner = bytes.fromhex(wallet.address[2:])
    signature = wallet.sign_message(key_request_message(owner, timestamp_ms)).signature
    return _request(owner, timestamp_ms, to_hex(bytes(signature)), label)


def _request(owner: bytes, timestamp_ms: int, signature: str, label: str) -> dict[str, Any]:
    return {
        "ownerAddress": to_hex(owner),
        "label": label,
        "signature": signature,
        "timestamp": timestamp_ms,
    }


def _explain(owner: bytes, timestamp_ms: int) -> None:
    message = key_request_message(owner, timestamp_ms).body.decode()
    print(
        "Sign these three lines with the wallet (personal message signing):\n\n"
        f"{message}\n\n"
        "Then, within 5 minutes:\n\n"
        f"  scan key request --owner {to_hex(owner)} --timestamp {timestamp_ms} --signature 0x..."
    )


def _default_url(settings: Settings) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def _post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = Request(
        f"{url.rstrip('/')}/api/v1/keys",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urlopen(request, timeout=TIMEOUT_S) as response:
            created: dict[str, Any] = json.load(response)
            return created
    except HTTPError as error:
        raise ScanError(_reason(error)) from None
    except (URLError, OSError, ValueError) as error:
        raise ScanError(f"{url} does not answer as Scan does: {error}") from None


def _reason(error: HTTPError) -> str:
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {error.code} without a reason"
