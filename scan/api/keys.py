"""GET, POST and DELETE /api/v1/keys: API keys, which only an address's wallet can obtain."""

import time

from flask import Blueprint

from scan import parameters
from scan.accounts import api_keys, signed_key_requests
from scan.accounts.owner_authorization import require_key_of
from scan.errors import InvalidParameter, MissingApiKey
from scan.hex import BadHex, data
from scan.http.requests import api_key, client_address, json_object, query_arguments, reader
from scan.http.responses import Response, json_body, json_value
from scan.http.services import services

blueprint = Blueprint("keys", __name__)


@blueprint.get("/keys")
def list_keys() -> Response:
    owner = parameters.address(query_arguments("owner").get("owner"), "owner")
    if services().settings.owner_auth == "always":
        require_key_of(owner, api_key())
    return json_body(services().writes.value("accounts/api_keys_list", owner=owner))


@blueprint.post("/keys")
def create_key() -> Response:
    query_arguments()
    body = json_object()
    owner = parameters.address(body.get("ownerAddress"), "ownerAddress")
    label = parameters.text(body.get("label", ""), "label", most=api_keys.MAX_LABEL_CHARACTERS)
    signature = _signature(body.get("signature"))
    timestamp_ms = _timestamp_ms(body.get("timestamp"))
    signed_key_requests.require_recent(timestamp_ms, now_ms=time.time_ns() // 1_000_000)
    signed_key_requests.require_signed(owner, timestamp_ms, signature, reader().node)
    key = api_keys.create(
        services().writes,
        services().limiter,
        services().settings,
        owner=owner,
        signed_at_ms=timestamp_ms,
        label=label,
        client_address=client_address(),
    )
    created = {
        "id": key.id,
        "key": key.text,
        "keyPrefix": key.prefix,
        "message": "Keep this key now: it is shown only here. Send it as X-API-Key.",
    }
    return json_value(created, 201)


@blueprint.delete("/keys/<key_id>")
def delete_key(key_id: str) -> Response:
    query_arguments()
    number = parameters.integer_text({"id": key_id}, "id", default=0, least=1)
    key = api_key()
    if key is None:
        raise MissingApiKey("Deleting a key requires an API key of the same owner in X-API-Key.")
    api_keys.deactivate(services().writes, number, key.owner)
    services().key_lookup.clear_cache()
    return json_value({"success": True, "id": number})


def _signature(value: object) -> bytes:
    try:
        signature = data(value)
    except BadHex:
        signature = b""
    if not 0 < len(signature) <= signed_key_requests.MAX_SIGNATURE_BYTES:
        raise InvalidParameter(
            "signature must be 0x followed by hex: the signature of the message by the wallet's"
            " personal message signing.",
            field="signature",
        )
    return signature


def _timestamp_ms(value: object) -> int:
    if type(value) is not int:
        raise InvalidParameter(
            "timestamp must be a whole number: the signed Unix time in milliseconds.",
            field="timestamp",
        )
    return value
