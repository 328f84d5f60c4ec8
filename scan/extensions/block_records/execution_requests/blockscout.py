"""Deposits of validators in Blockscout's form."""

from scan.extensions.block_records.execution_requests.rows import DEPOSIT
from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.blocks import window_of
from scan.extensions.blockscout.hooks import Blockscout
from scan.extensions.blockscout.lists import (
    contexts_of,
    list_response,
    path_address,
    read_sparse_page,
)
from scan.extensions.blockscout.objects import renaming
from scan.extensions.blockscout.routing import routes
from scan.extensions.blockscout.transactions import indexed
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.queries.filters import Value
from scan.queries.pages import Window, filtered_page
from scan.queries.reader import Reader

ENTITY = "execution_requests"
MOST_IN_BLOCK = 8192  # MAX_DEPOSIT_REQUESTS_PER_PAYLOAD of EIP-7732 and before
renamed = renaming(__file__)

blueprint = routes("beacon_deposits")


@blueprint.path("/beacon/deposits")
def list_deposits() -> Response:
    return _deposits()


@blueprint.path("/beacon/deposits/count")
def get_count() -> Response:
    page = filtered_page(reader(), ENTITY, {"request_type": DEPOSIT}, Window(1, 0))
    return json_value({"deposits_count": page.total})


@blueprint.path("/addresses/<address_hash>/beacon/deposits")
def list_deposits_of_address(address_hash: str) -> Response:
    """Return the deposits whose withdrawals go to an address."""
    return _deposits(address=path_address(address_hash))


@blueprint.path("/blocks/<block>/beacon/deposits")
def list_deposits_of_block(block: str) -> Response:
    return _deposits(window_of(block))


@blueprint.path("/transactions/<transaction_hash>/beacon/deposits")
def list_deposits_of_transaction(transaction_hash: str) -> Response:
    """Return those of a page of the block's deposits that the transaction made, which may be none
    where more follow."""
    record = indexed(transaction_hash)
    return _deposits(window_of(str(record["blockNumber"])), record["hash"])


def count_deposits(reader: Reader, number: int) -> int:
    """Return how many deposits a block has."""
    window = Window(MOST_IN_BLOCK, 0, block_from=number, block_to=number)
    return filtered_page(reader, ENTITY, {"request_type": DEPOSIT}, window).count


def _deposits(
    window: Window | None = None, transaction_hash: str | None = None, **filters: Value
) -> Response:
    records, following = read_sparse_page(ENTITY, window, request_type=DEPOSIT, **filters)
    shown = [r for r in records if transaction_hash in (None, r["transactionHash"])]
    context_of = contexts_of(shown)
    deposits = [{**context_of[record["transactionHash"]], **record} for record in shown]
    objects = AddressObjects(d[name] for d in deposits for name in ("fromAddress", "address"))
    items = [renamed("deposit", deposit, address=objects.of_optional) for deposit in deposits]
    return list_response(items, following)


HOOKS = Blockscout(blueprint=blueprint, count_deposits=count_deposits)
