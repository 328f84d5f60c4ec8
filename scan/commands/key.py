"""`scan key`: requests a key over HTTP; lists and revokes keys in the database."""

import argparse
import sys
import time

from eth_account import Account
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from scan import parameters
from scan.accounts.wallet_signatures import key_request_message
from scan.commands import EXIT_FAILED, service_client, startup
from scan.commands.arguments import add_actions, add_command, whole_number
from scan.errors import ScanError, SettingError
from scan.hex import to_hex
from scan.observability.logs import print_lines
from scan.settings import Settings, wallet_private_key

TIMEOUT_S = 30

REQUEST = """\
Requests an API key for an address. With SCAN_PRIVATE_KEY in the environment this takes one step.
Otherwise run it with --owner to print the message to sign with that wallet; then run it again with
the printed --timestamp and the wallet's --signature."""


def add_key(group: argparse.ArgumentParser) -> None:
    actions = add_actions(group)
    ask = add_command(actions, "request", "get an API key for a wallet", REQUEST, request)
    service_client.add_url(ask)
    ask.add_argument("--owner", help="the wallet's address")
    ask.add_argument("--label", default="", help="a name for the key")
    ask.add_argument("--timestamp", type=int, help="the signed Unix time in milliseconds")
    ask.add_argument("--signature", help="the wallet's signature, 0x...")
    text = "print the active keys in the database"
    add_command(actions, "list", text, run=list_active).add_argument(
        "--owner", help="only keys of this address"
    )
    text = "revoke keys; they become invalid within 5 s"
    add_command(actions, "revoke", text, run=revoke).add_argument(
        "ids", nargs="+", type=whole_number, metavar="ID", help="as `scan key list` prints it"
    )


def request(settings: Settings, options: argparse.Namespace) -> int:
    private_key = wallet_private_key()
    timestamp_ms: int = options.timestamp or time.time_ns() // 1_000_000
    if private_key and not options.signature:
        owner, signature = _sign(private_key, timestamp_ms)
    elif options.owner is not None:
        owner, signature = parameters.address(options.owner, "--owner"), options.signature
    else:
        raise ScanError("--owner or the environment variable SCAN_PRIVATE_KEY is required.")
    if not signature:
        _explain(owner, timestamp_ms)
        return 0
    body = {
        "ownerAddress": to_hex(owner),
        "label": options.label,
        "signature": signature,
        "timestamp": timestamp_ms,
    }
    url = f"{service_client.service_url(settings, options)}/api/v1/keys"
    response = service_client.send(settings, url, TIMEOUT_S, body=body)
    created = response.json()
    if "key" not in created:
        without = f"HTTP {response.status} without an error message"
        raise ScanError(str(created.get("error", without)))
    print_lines(str(created["key"]), "", str(created["message"]))
    return 0


def list_active(settings: Settings, options: argparse.Namespace) -> int:
    """Print a line per key: id, prefix, owner, requests a minute and in total, last use, label."""
    owner = None if options.owner is None else parameters.address(options.owner, "--owner")
    with startup.connected(settings, "scan-keys") as database:
        for row in database.rows("commands/api_keys_list", owner=owner):
            print_lines(" ".join("never" if value is None else str(value) for value in row))
    return 0


def revoke(settings: Settings, options: argparse.Namespace) -> int:
    with startup.connected(settings, "scan-keys") as database:
        revoked = {id_ for (id_,) in database.rows("commands/api_keys_revoke", ids=options.ids)}
    for id_ in options.ids:
        if id_ in revoked:
            print_lines(f"revoked {id_}")
        else:
            print_lines(f"scan: no active key {id_}", file=sys.stderr)
    return 0 if revoked.issuperset(options.ids) else EXIT_FAILED


def _sign(private_key: str, timestamp_ms: int) -> tuple[bytes, str]:
    """Return the wallet's address, and its signature of the request."""
    try:
        wallet: LocalAccount = Account.from_key(private_key)
    except ValueError:
        reason = "must be a private key of 64 hex digits"
        raise SettingError("SCAN_PRIVATE_KEY", "***", reason) from None
    owner = bytes.fromhex(wallet.address[2:])
    message = key_request_message(owner, timestamp_ms)
    signature = wallet.sign_message(encode_defunct(text=message)).signature
    return owner, to_hex(bytes(signature))


def _explain(owner: bytes, timestamp_ms: int) -> None:
    message = key_request_message(owner, timestamp_ms)
    command = f"scan key request --owner {to_hex(owner)} --timestamp {timestamp_ms}"
    print_lines("Sign these three lines with the wallet (personal message signing):", "")
    print_lines(*message.splitlines(), "", "Then, within 5 minutes:", "")
    print_lines(f"  {command} --signature 0x...")
