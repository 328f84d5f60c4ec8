"""`scan key`: requests a key for a wallet over HTTP. In the database it makes keys without one, and
lists, changes and removes all."""

import argparse
import sys
import time
from typing import Any

from eth_account import Account
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount
from limits import parse

from scan import parameters, setting_kinds
from scan.accounts import api_keys
from scan.accounts.api_keys import MAX_LABEL_CHARACTERS
from scan.accounts.wallet_signatures import key_request_message
from scan.commands import EXIT_FAILED, arguments, service_client, startup
from scan.errors import ScanError, SettingError
from scan.hex import to_hex
from scan.observability.logs import print_lines
from scan.rate_limits.limiter import requests_per_minute
from scan.settings import Settings, own_call, wallet_private_key

TIMEOUT_S = 30
MOST_DAYS = 36_500

CREATE = """\
Makes an API key that belongs to no wallet, with a label and a limit of its own, and prints it once.
It counts as other keys do. It owns no webhooks, and only `scan key` changes or removes it."""

REQUEST = """\
Requests an API key for an address. With SCAN_PRIVATE_KEY in the environment this takes one step.
Otherwise run it with --owner to print the message to sign with that wallet; then run it again with
the printed --timestamp and the wallet's --signature."""

NAMES = ("id", "prefix", "owner", "perMinute", "requests", "lastUsedAt", "expiresAt", "label")
ID: dict[str, Any] = {"type": arguments.whole_number, "metavar": "ID"}
OF_USAGE = ("day", "id", "prefix", "requests", "label")


def add_key(group: argparse.ArgumentParser) -> None:
    actions = arguments.add_actions(group)
    ask = arguments.add_command(actions, "request", "get an API key for a wallet", REQUEST, request)
    service_client.add_url(ask)
    ask.add_argument("--owner", help="the wallet's address")
    ask.add_argument("--label", default="", help="a name for the key")
    ask.add_argument("--timestamp", type=int, help="the signed Unix time in milliseconds")
    ask.add_argument("--signature", help="the wallet's signature, 0x...")
    text = "make a key without a wallet, for the operator to give away"
    make = arguments.add_command(actions, "create", text, CREATE, create)
    make.add_argument("--label", type=_label, required=True, help="whose it is")
    _add_terms(make)
    text = "print the active keys in the database"
    lists = arguments.add_list(actions, text, list_active, NAMES)
    lists.add_argument("--owner", help="only keys of this address")
    lists.add_argument("--user", help="only those made by this person, whom a proxy has signed in")
    text = "change the label, limit or end of a key, within 5 s"
    alter = arguments.add_command(actions, "change", text, run=change)
    alter.add_argument("id", help="as `scan key list` prints it", **ID)
    alter.add_argument("--label", type=_label, help="another label")
    _add_terms(alter)
    text = "print the requests with keys by day (UTC), which are kept for 400 days"
    use = arguments.add_list(actions, text, usage, OF_USAGE, name="usage")
    use.add_argument("ids", nargs="*", help="only these keys", **ID)
    use.add_argument("--days", type=arguments.count, default=30, help="newest days; default: 30")
    text = "revoke keys; they become invalid within 5 s"
    remove = arguments.add_command(actions, "remove revoke", text, run=revoke)
    remove.add_argument("ids", nargs="+", help="as `scan key list` prints it", **ID)


def _add_terms(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--limit",
        type=arguments.setting_type(_rate),
        metavar="RATE",
        help="requests, such as 1000/minute; default of a new key: SCAN_RATE_LIMIT_KEY",
    )
    command.add_argument(
        "--expires", type=_days, metavar="TIME", help="when it ends, such as 90d, or never"
    )


def _label(text: str) -> str:
    if not 0 < len(text.strip()) <= MAX_LABEL_CHARACTERS or "\0" in text:
        raise argparse.ArgumentTypeError(f"must have 1 to {MAX_LABEL_CHARACTERS} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("must be UTF-8") from None
    return text


def _rate(text: str) -> str:
    """Parse a rate that a key can have: its requests are counted by the minute."""
    rate = setting_kinds.rate(text)
    item = parse(rate)
    if item.amount * 60 < item.get_expiry():
        raise ValueError("must be 1/minute or more")
    return rate


def _days(text: str) -> int:
    """Parse `90d` as days from now on, `never` as 0."""
    if text == "never":
        return 0
    number = text.removesuffix("d")
    if number == text or not (number.isascii() and number.isdecimal()) or len(number) > 5:
        raise argparse.ArgumentTypeError("must be days, such as 90d, or never")
    if not 1 <= int(number) <= MOST_DAYS:
        raise argparse.ArgumentTypeError(f"must be 1d to {MOST_DAYS}d, or never")
    return int(number)


def create(settings: Settings, options: argparse.Namespace) -> int:
    """Print the key alone on the first line, for scripts."""
    key = api_keys.new_key()
    limit = requests_per_minute(options.limit or settings.rate_limit_key)
    with startup.connected(settings, "scan-keys") as database:
        [(end,)] = database.rows(
            "commands/api_keys_create",
            id=key.id,
            key_hash=key.hash,
            key_prefix=key.prefix,
            label=options.label,
            requests_per_minute=limit,
            days=options.expires or None,
        )
    until = "does not end" if end is None else f"ends at {end}"
    text = f"Key {key.id} of {options.label} allows {limit} requests a minute and {until}."
    print_lines(key.text, "", f"{text} Keep it now: it is shown only here.")
    _warn_of_limit(settings, limit)
    return 0


def change(settings: Settings, options: argparse.Namespace) -> int:
    if options.label is options.limit is options.expires is None:
        raise ScanError("What is to change? Give --label, --limit or --expires.")
    limit = None if options.limit is None else requests_per_minute(options.limit)
    with startup.connected(settings, "scan-keys") as database:
        changed = database.rows(
            "commands/api_keys_change",
            id=options.id,
            label=options.label,
            requests_per_minute=limit,
            days=options.expires,
        )
    if not changed:
        raise ScanError(f"no active key {options.id}")
    [(limit, end, label)] = changed
    print_lines(f"{options.id} {limit} {'never' if end is None else end} {label}")
    _warn_of_limit(settings, limit)
    return 0


def _warn_of_limit(settings: Settings, limit: int) -> None:
    """The address of its client has a limit as well."""
    of_address = requests_per_minute(settings.rate_limit_address)
    if limit > of_address:
        text = f"scan: SCAN_RATE_LIMIT_ADDRESS lets one address send {of_address} requests a minute"
        print_lines(f"{text} with all of its keys: raise it, too.", file=sys.stderr)


def usage(settings: Settings, options: argparse.Namespace) -> int:
    """Print a row per day and key."""
    with startup.connected(settings, "scan-keys") as database:
        rows = database.rows(
            "commands/api_key_uses_list", ids=options.ids or None, days=options.days
        )
    arguments.print_rows(options, rows)
    return 0


def request(settings: Settings, options: argparse.Namespace) -> int:
    private_key, signature = wallet_private_key(), options.signature
    timestamp_ms: int = options.timestamp or time.time_ns() // 1_000_000
    if private_key and not signature:
        try:
            wallet: LocalAccount = Account.from_key(private_key)
        except ValueError:
            reason = "must be a private key of 64 hex digits"
            raise SettingError("SCAN_PRIVATE_KEY", "***", reason) from None
        owner = bytes.fromhex(wallet.address[2:])
        message = encode_defunct(text=key_request_message(owner, timestamp_ms))
        signature = to_hex(bytes(wallet.sign_message(message).signature))
    elif options.owner is not None:
        owner = parameters.address(options.owner, "--owner")
    else:
        raise ScanError("--owner or the environment variable SCAN_PRIVATE_KEY is required.")
    if not signature:
        command = f"{own_call()} key request --owner {to_hex(owner)} --timestamp {timestamp_ms}"
        print_lines("Sign these three lines with the wallet (personal message signing):", "")
        print_lines(*key_request_message(owner, timestamp_ms).splitlines(), "")
        print_lines("Then, within 5 minutes:", "", f"  {command} --signature 0x...")
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
    """Print a row per key. `owner` is an address or "operator", `requests` are all so far."""
    owner = None if options.owner is None else parameters.address(options.owner, "--owner")
    with startup.connected(settings, "scan-keys") as database:
        rows = database.rows("commands/api_keys_list", owner=owner, person=options.user)
    arguments.print_rows(options, rows)
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
