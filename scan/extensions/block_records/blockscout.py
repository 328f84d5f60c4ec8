"""The blobs of a transaction in Blockscout's form: their contents are not on the chain.

Deposits of validators in Blockscout's form.

Messages to L1 in Blockscout's forms for the OP Stack and for Arbitrum.

A chain's messages have one of the two forms; the paths of the other form are not found.
"""

from pathlib import Path

import orjson

from scan import parameters
from scan.errors import NotFound
from scan.extensions.block_records.rows import DEPOSIT
from scan.extensions.blockscout import blocks, hooks, paths, transactions
from scan.extensions.blockscout.address_and_token_objects import AddressObjects
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries.filter_values import Value
from scan.queries.filtered_pages import filtered_page
from scan.queries.list_pages import Window
from scan.queries.reader import Reader

UNKNOWN = dict.fromkeys(("blob_data", "kzg_commitment", "kzg_proof"))

blueprint = paths.Routes("block_records")


@blueprint.path("/transactions/<transaction_hash>/blobs")
def list_blobs(transaction_hash: str) -> Response:
    hashes = transactions.indexed(transaction_hash).get("blobVersionedHashes") or ()
    return json_value({"items": [{"hash": versioned_hash, **UNKNOWN} for versioned_hash in hashes]})


@blueprint.path("/blobs/<blob_hash>")
def get_blob(blob_hash: str) -> Response:
    """Return a blob with the transactions that carried it, at most as many as a page has."""
    key = parameters.hash32(blob_hash, "blob_hash")
    page = filtered_page(reader(), "blobs", {"versioned_hash": key}, Window(paths.ROWS, 0))
    # A transaction may carry a blob twice.
    hashes = dict.fromkeys(record["transactionHash"] for record in orjson.loads(page.data))
    carried = [{"block_consensus": True, "transaction_hash": hash_} for hash_ in hashes]
    if not carried:
        raise NotFound("No transaction that is indexed carried this blob.")
    return json_value({"hash": to_hex(key), **UNKNOWN, "transaction_hashes": carried})


REQUESTS = "execution_requests"
MOST_IN_BLOCK = 8192  # MAX_DEPOSIT_REQUESTS_PER_PAYLOAD of EIP-7732 and before
NONCE_BITS = 240  # of the OP Stack's nonces; above them is the version of the message
renamed = paths.renaming(
    Path(__file__).with_suffix(".toml"),
    nonce=lambda nonce: int(nonce) & ((1 << NONCE_BITS) - 1),
    seconds=parameters.unix_seconds,
    version=lambda nonce: int(nonce) >> NONCE_BITS,
)


@blueprint.path("/beacon/deposits")
def list_deposits() -> Response:
    return _deposits()


@blueprint.path("/beacon/deposits/count")
def get_count() -> Response:
    page = filtered_page(reader(), REQUESTS, {"request_type": DEPOSIT}, Window(1, 0))
    return json_value({"deposits_count": page.total})


@blueprint.path("/addresses/<address_hash>/beacon/deposits")
def list_deposits_of_address(address_hash: str) -> Response:
    """Return the deposits whose withdrawals go to an address."""
    return _deposits(address=paths.path_address(address_hash))


@blueprint.path("/blocks/<block>/beacon/deposits")
def list_deposits_of_block(block: str) -> Response:
    return _deposits(blocks.window_of(block))


@blueprint.path("/transactions/<transaction_hash>/beacon/deposits")
def list_deposits_of_transaction(transaction_hash: str) -> Response:
    """Return those of a page of the block's deposits that the transaction made, which may be none
    where more follow."""
    record = transactions.indexed(transaction_hash)
    return _deposits(blocks.window_of(str(record["blockNumber"])), record["hash"])


def count_deposits(reader: Reader, number: int) -> int:
    """Return how many deposits a block has."""
    window = Window(MOST_IN_BLOCK, 0, block_from=number, block_to=number)
    return filtered_page(reader, REQUESTS, {"request_type": DEPOSIT}, window).count


def _deposits(
    window: Window | None = None, transaction_hash: str | None = None, **filters: Value
) -> Response:
    are_kept = transaction_hash is not None
    records, following = paths.read_sparse_page(
        REQUESTS, window, are_kept=are_kept, request_type=DEPOSIT, **filters
    )
    listed = [r for r in records if transaction_hash in (None, r["transactionHash"])]
    context_of = paths.contexts_of(listed)
    deposits = [{**context_of[record["transactionHash"]], **record} for record in listed]
    objects = AddressObjects(d[name] for d in deposits for name in ("fromAddress", "address"))
    items = [renamed("deposit", deposit, address=objects.of_optional) for deposit in deposits]
    return paths.list_response(items, following)


MESSAGES = "messages_to_l1"
OPTIMISM, ARBITRUM = "optimism", "arbitrum"


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
    messages = transactions.indexed(transaction_hash).get("messagesToL1", [])
    _require_form(ARBITRUM, messages)
    return json_value({"items": [renamed("withdrawal", message) for message in messages]})


def _messages(form: str) -> Response:
    messages, following = paths.read_sparse_page(MESSAGES)
    _require_form(form, messages)
    objects = AddressObjects(message["sender"] for message in messages)
    items = [renamed(form, message, address=objects.of) for message in messages]
    return paths.list_response(items, following)


def _count(form: str) -> Response:
    page = filtered_page(reader(), MESSAGES, {}, Window(1, 0))
    _require_form(form, orjson.loads(page.data))
    return json_value(page.total)


def _require_form(form: str, messages: list[paths.Record]) -> None:
    for message in messages[:1]:
        of_optimism = message["gasLimit"] is not None
        if message["nonce"] is None or of_optimism != (form == OPTIMISM):
            raise NotFound("The chain's messages to L1 have another form.")


HOOKS = hooks.Blockscout(blueprint=blueprint, count_deposits=count_deposits)
