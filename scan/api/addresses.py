"""GET /api/v1/addresses/:address and /addresses/:address/tokens."""

import json
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

from flask import Blueprint, Response, current_app

from scan import parameters
from scan.api.lists import Records, page
from scan.errors import NotFound, UpstreamFailed
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.hex import BadHex, data, quantity, to_hex
from scan.http.requests import query_arguments
from scan.http.responses import chain_body, json_body
from scan.http.services import services

blueprint = Blueprint("addresses", __name__)

ASK_TIMEOUT_S = 0.5
ASKED_AT_ONCE = 8
REMEMBERED = 10_000


class State(NamedTuple):
    """What the node says of an address at a block; balance in wei."""

    balance: int
    is_contract: bool


class NodeStates:
    """Balance and code at the indexed head: asked once for each address and head."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._slots = threading.BoundedSemaphore(ASKED_AT_ONCE)
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[bytes, bytes], State] = OrderedDict()

    def at(self, address: bytes, head_number: int, head_hash: bytes) -> State | None:
        """None when the node cannot say within half a second, or too many are asking."""
        key = (address, head_hash)
        known = self._known.get(key)
        if known is not None:
            return known
        if not self._slots.acquire(blocking=False):
            return None
        try:
            state = _ask(self._node, address, head_number)
        except (NodeError, BadHex):
            return None
        finally:
            self._slots.release()
        if state is not None:
            with self._lock:
                self._known[key] = state
                while len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
        return state


def _ask(node: Node, address: bytes, block_number: int) -> State | None:
    block = hex(block_number)
    balance, code = node.once(
        [
            Call("eth_getBalance", (to_hex(address), block)),
            Call("eth_getCode", (to_hex(address), block)),
        ],
        ASK_TIMEOUT_S,
    )
    if isinstance(balance, RpcError) or isinstance(code, RpcError):
        return None
    code_bytes = data(code)
    return State(quantity(balance), bool(code_bytes) and not code_bytes.startswith(DELEGATION))


@blueprint.get("/addresses/<address>")
def get_address(address: str) -> Response:
    key = parameters.address(address)
    row = services().reads.prepared_row("api/addresses_get", address=key)
    if row is None:
        raise NotFound("This address has not been seen in any indexed block.")
    count, label, first_seen, last_seen, recent, *stored, head_number, head_hash = row
    balance, balance_block, is_contract = _state(key, stored, head_number, bytes(head_hash))
    # What the node could not tell now it may tell to the next who asks.
    body_of = chain_body if balance_block == head_number else json_body
    detail = json.dumps(
        {
            "address": to_hex(key),
            "balance": balance,
            "txCount": count,
            "isContract": is_contract,
            "label": label,
            "firstSeen": first_seen,
            "lastSeen": last_seen,
            "balanceBlock": balance_block,
        }
    )
    return body_of(f'{detail[:-1]}, "recentTxs": {recent}}}')


def _state(
    address: bytes, stored: list[Any], head_number: int, head_hash: bytes
) -> tuple[str, int, bool]:
    """(balance, its block, is contract): stored when fresh, else the node's, else stored."""
    balance, balance_block, is_contract = stored
    if balance_block != head_number:
        states: NodeStates = current_app.extensions["scan.states"]
        state = states.at(address, head_number, head_hash)
        if state is not None:
            return str(state.balance), head_number, state.is_contract
    if balance is None:
        raise UpstreamFailed("The node does not answer, and this balance has not been read yet.")
    return balance, balance_block, is_contract


@blueprint.get("/addresses/<address>/tokens")
def list_tokens_held(address: str) -> Response:
    limit, offset = parameters.page(query_arguments())
    row = services().reads.prepared_row(
        "api/addresses_list_tokens", address=parameters.address(address), limit=limit, offset=offset
    )
    assert row is not None
    return chain_body(page("tokens", Records(*row)))
