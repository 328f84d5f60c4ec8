"""Messages to L1 in Blockscout's forms for the OP Stack and for Arbitrum.

A chain's messages have one of the two forms; the paths of the other form are not found.
"""

from datetime import datetime

import orjson

from scan.errors import NotFound
from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.hooks import Blockscout
from scan.extensions.blockscout.lists import Record, list_response, read_sparse_page
from scan.extensions.blockscout.objects import renaming
from scan.extensions.blockscout.routing import routes
from scan.extensions.blockscout.transactions import indexed
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.queries.pages import Window, filtered_page

ENTITY = "messages_to_l1"
OPTIMISM, ARBITRUM = "optimism", "arbitrum"
NONCE_BITS = 240  # of the OP Stack's nonces; above them is the version of the message

renamed = renaming(
    __file__,
    nonce=lambda nonce: int(nonce) & ((1 << NONCE_BITS) - 1),
    seconds=lambda iso: int(datetime.fromisoformat(iso).timestamp()),
    version=lambda nonce: int(nonce) >> NONCE_BITS,
)

blueprint = routes("messages_to_l1")


@blueprint.path("/optimism/withdrawals")
def list_withdrawals() -> Response:
    return _messages(OPTIMISM)


@blueprint.path("/optimism/withdrawals/count")
def get_count_of_withdrawals() -> Response:
    return _count(OPTIMISM)


@blueprint.path("/arbitrum/messages/from-rollup")
def list_messages_from_rollup() -> Response:
    return _messages(ARBITRUM)


@blueprint.path("/arbitrum/messages/from-rollup/count")
def get_count_of_messages() -> Response:
    return _count(ARBITRUM)


@blueprint.path("/arbitrum/messages/withdrawals/<transaction_hash>")
def list_withdrawals_of_transaction(transaction_hash: str) -> Response:
    """Return the messages of a transaction, as many as its record has."""
    messages = indexed(transaction_hash).get("messagesToL1", [])
    _require_form(ARBITRUM, messages)
    return json_value({"items": [renamed("withdrawal", message) for message in messages]})


def _messages(form: str) -> Response:
    messages, following = read_sparse_page(ENTITY)
    _require_form(form, messages)
    objects = AddressObjects(message["sender"] for message in messages)
    items = [renamed(form, message, address=objects.of) for message in messages]
    return list_response(items, following)


def _count(form: str) -> Response:
    page = filtered_page(reader(), ENTITY, {}, Window(1, 0))
    _require_form(form, orjson.loads(page.data))
    return json_value(page.total)


def _require_form(form: str, messages: list[Record]) -> None:
    for message in messages[:1]:
        of_optimism = message["gasLimit"] is not None
        if message["nonce"] is None or of_optimism != (form == OPTIMISM):
            raise NotFound("The chain's messages to L1 have another form.")


HOOKS = Blockscout(blueprint=blueprint)
