"""GET, POST and DELETE /api/v1/keys: API keys, which only an address's wallet can obtain."""

import time

from flask import Blueprint, Response

from scan import parameters
from scan.accounts import contract_wallets
from scan.accounts.api_keys import NewKey, new_key
from scan.accounts.ownership import require_owner
from scan.accounts.wallet_signatures import (
    MalformedSignature,
    key_request_message,
    message_hash,
    parse_signature,
    recover_signer,
)
from scan.errors import (
    InvalidParameter,
    LimitReached,
    MissingApiKey,
    NotFound,
    RateLimited,
    ReplayedRequest,
    SignatureMismatch,
)
from scan.hex import BadHex, data, to_hex
from scan.http.requests import api_key, client_address, json_object, query_arguments, reader
from scan.http.responses import json_body, json_value
from scan.http.services import services
from scan.rate_limits.limiter import requests_per_minute

blueprint = Blueprint("keys", __name__)

MOST_KEYS = 10
OLDEST_MS, NEWEST_MS = 5 * 60_000, 60_000
LONGEST_LABEL = 100
LONGEST_SIGNATURE = 8192  # of a contract wallet, which may be many signatures in one


@blueprint.get("/keys")
def list_keys() -> Response:
    owner = parameters.address(query_arguments("owner").get("owner"), "owner")
    mode = services().settings.owner_auth
    if mode == "always":
        require_owner(owner, api_key(), mode, claimed=True)
    return json_body(services().writes.value("accounts/api_keys_list", owner=owner))


@blueprint.post("/keys")
def create_key() -> Response:
    body = json_object()
    owner = parameters.address(body.get("ownerAddress"), "ownerAddress")
    label = parameters.text(body.get("label", ""), "label", most=LONGEST_LABEL)
    signature = _signature(body.get("signature"))
    timestamp_ms = _timestamp(body.get("timestamp"), now_ms=time.time_ns() // 1_000_000)
    _check_signer(owner, timestamp_ms, signature)
    key = _create(owner, timestamp_ms, label)
    created = {
        "id": key.id,
        "key": key.text,
        "keyPrefix": key.prefix,
        "message": "Keep this key now: it is shown only here. Send it as X-API-Key.",
    }
    return json_value(created, 201)


@blueprint.delete("/keys/<key_id>")
def delete_key(key_id: str) -> Response:
    number = parameters.integer_text({"id": key_id}, "id", default=0, least=1)
    key = api_key()
    if key is None:
        raise MissingApiKey("Deleting a key needs an API key of the same owner in X-API-Key.")
    with services().writes.transaction() as transaction:
        deleted = transaction.value("accounts/api_keys_deactivate", id=number, owner=key.owner)
    if deleted is None:
        raise NotFound("This owner has no active API key with this id.")
    services().key_lookup.clear_cache()
    return json_value({"success": True, "id": number})


def _signature(value: object) -> bytes:
    try:
        signature = data(value)
    except BadHex:
        signature = b""
    if not 0 < len(signature) <= LONGEST_SIGNATURE:
        raise InvalidParameter(
            "signature must be 0x followed by the hex bytes that the wallet's personal message"
            " signing gave.",
            field="signature",
        )
    return signature


def _timestamp(value: object, now_ms: int) -> int:
    """The Unix time in milliseconds that was signed, when it is recent."""
    if type(value) is not int:
        raise InvalidParameter(
            "timestamp must be a whole number: the Unix time in milliseconds that was signed.",
            field="timestamp",
        )
    if now_ms - OLDEST_MS <= value <= now_ms + NEWEST_MS:
        return value
    if abs(now_ms - value * 1000) < 86_400_000:
        reason = "looks like seconds; milliseconds are expected, in the signed message too"
    elif value < now_ms:
        reason = "is more than 5 minutes old; sign a new message"
    else:
        reason = "is more than 1 minute ahead; check the clock, or the unit (milliseconds)"
    raise InvalidParameter(f"timestamp {reason}. It is now {now_ms}.", field="timestamp")


def _check_signer(owner: bytes, timestamp_ms: int, signature: bytes) -> None:
    """Raises unless the owner signed: a plain wallet by recovery, a contract by ERC-1271."""
    message = key_request_message(owner, timestamp_ms)
    signer, malformed = None, None
    try:
        signer = recover_signer(message, parse_signature(signature))
    except MalformedSignature as error:
        malformed = error
    if signer == owner:
        return
    answer = contract_wallets.accepts(reader().node, owner, message_hash(message), signature)
    if answer:
        return
    if answer is None and malformed is not None:
        raise InvalidParameter(f"signature is malformed: {malformed}.", field="signature")
    raise SignatureMismatch(
        f"The signature is not one of {to_hex(owner)} over the expected message, which is three"
        f" lines joined by a line feed: {message.body.decode()!r}.",
        field="signature",
    )


def _create(owner: bytes, timestamp_ms: int, label: str) -> NewKey:
    key = new_key()
    with services().writes.transaction() as transaction:
        transaction.execute("accounts/api_keys_lock_owner", owner=owner)
        [(replayed, active_keys, created)] = transaction.rows(
            "accounts/api_keys_create",
            id=key.id,
            owner=owner,
            signed_at_ms=timestamp_ms,
            key_hash=key.hash,
            key_prefix=key.prefix,
            label=label,
            requests_per_minute=requests_per_minute(services().settings.rate_limit_key),
            most_keys=MOST_KEYS,
        )
        if created:
            _charge_new_key()
    if created:
        return key
    if replayed:
        raise ReplayedRequest("This signed request was used before; sign a new timestamp.")
    raise LimitReached(f"This owner has {active_keys} active API keys, the most; delete one first.")


def _charge_new_key() -> None:
    """Within the transaction that creates the key: one beyond the limit is rolled back, and only
    created keys are counted."""
    result = services().limiter.charge_new_key(client_address())
    if not result.allowed:
        wait_s = result.retry_after_s
        raise RateLimited(
            f"{result.limit} API keys were created from your address, the most in"
            f" {services().settings.rate_limit_new_keys}; try again in {wait_s} s.",
            headers={"Retry-After": str(wait_s)},
        )
