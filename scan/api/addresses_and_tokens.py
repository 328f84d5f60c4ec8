"""GET /api/v1/addresses, /addresses/:address and its /tokens; /tokens, /tokens/:address, its
/holders and /change."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint

from scan import parameters
from scan.errors import NotFound
from scan.hex import to_hex
from scan.http.current_request import block_argument, query_arguments, reader
from scan.http.json_responses import Response, json_body, json_fragment, json_value
from scan.http.list_formats import Format
from scan.http.list_responses import LISTED, file_of, list_response, time_of
from scan.http.prerequisites import Prerequisite, requires
from scan.queries import addresses, contracts, holdings, tokens
from scan.queries.addresses import AddressName, AddressNames, Balance
from scan.queries.list_pages import Page, Window

blueprint = Blueprint("addresses_and_tokens", __name__)

MOST_ADDRESSES = 100
INCLUDED = ("token",)
SORTS = ("worth",)
UNPROVEN = ("balance", "isContract")  # /addresses/:address/proof compares them with a state root
OF_TOKEN = tuple(
    "address name symbol decimals type totalSupply holderCount transferCount unproven".split()
)


@blueprint.get("/addresses")
def list_addresses() -> Response:
    arguments = query_arguments("addresses", "include")
    texts = arguments.get("addresses", "").split(",")
    reason = f"addresses must be at most {MOST_ADDRESSES} addresses, separated by commas."
    parameters.require(len(texts) <= MOST_ADDRESSES, "addresses", reason)
    keys = [parameters.address(text.strip(), "addresses") for text in texts]
    included: dict[str, Any] = {}
    if "include" in arguments:
        parameters.one_of(arguments["include"], "include", INCLUDED)
        records = tokens.records_of(reader(), keys)
        included = {a: {name: r[name] for name in OF_TOKEN} for a, r in records.items()}
    rows = [
        {
            "address": to_hex(key),
            **_amount(summary.balance),
            "txCount": summary.transaction_count,
            "isContract": summary.balance.is_contract,
            "unproven": _unproven(more),
            **summary.more,
            **more,
            **({"token": included.get(to_hex(key))} if "include" in arguments else {}),
        }
        for key, summary, more in zip(
            keys, addresses.get_many(reader(), keys), _names(keys), strict=True
        )
    ]
    return json_value({"addresses": rows})


def _amount(balance: Balance) -> dict[str, Any]:
    balance_read = balance.required()
    return {"balance": balance_read.wei, "balanceBlock": balance_read.block}


def _unproven(names: Mapping[str, Any]) -> Sequence[str]:
    return (*UNPROVEN, "name") if names else UNPROVEN


def _names(keys: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return the fields of addresses that have their names; none without a name service."""
    names = reader().sources.get(AddressNames).of_addresses(reader(), keys)
    if names is None:
        return [{} for _ in keys]
    of_keys = (names.get(key, AddressName()) for key in keys)
    return [{"name": name.name, "nameProblem": name.problem} for name in of_keys]


@blueprint.get("/addresses/<address>")
@requires(Prerequisite.NODE_FIELDS)
def get_address(address: str) -> Response:
    block = block_argument(query_arguments("block"))
    key = parameters.address(address)
    account = addresses.get(reader(), key, block, has_recent=True)
    [names] = _names([key])
    detail = {
        "address": to_hex(key),
        **_amount(account.balance),
        "txCount": account.transaction_count,
        "isContract": account.balance.is_contract,
        "unproven": _unproven(names),
        "label": account.label,
        "firstSeen": account.first_seen,
        "lastSeen": account.last_seen,
        "recentTxs": json_fragment(account.recent),
        "creation": None,
    }
    detail |= {**account.more, **names}
    if known := addresses.KNOWN_ADDRESSES.get(to_hex(key)):
        detail["knownName"] = known
    if account.balance.is_contract or block is None:  # also of a contract that was destroyed
        detail["creation"] = contracts.creation_record(account.creation)
    return json_value(detail)


@blueprint.get("/addresses/<address>/tokens")
def list_tokens_held(address: str) -> Response:
    arguments, key = query_arguments(*LISTED, "block", "sort"), parameters.address(address)
    if "sort" in arguments:
        parameters.one_of(arguments["sort"], "sort", SORTS)
        reason = "Prices are of the newest state; leave out block."
        parameters.require("block" not in arguments, "block", reason)
        prices = holdings.unit_prices(reader())
        return list_response(
            "tokens",
            arguments,
            lambda window: holdings.tokens_by_worth(reader(), key, window, prices),
            kind="tokensByWorth",
            address=key,
        )
    block = block_argument(arguments)

    def read(window: Window) -> Page:
        if block is None:
            return addresses.tokens_held(reader(), key, window)
        return addresses.tokens_held_at(reader(), key, window, block)

    def read_for_file(window: Window) -> Page:
        parameters.require(block is None, "block", "A file has the newest state; leave out block.")
        return addresses.tokens_held(reader(), key, window)

    return list_response(
        "tokens", arguments, read, read_for_file=read_for_file, kind="tokenBalances", address=key
    )


@blueprint.get("/tokens")
def list_tokens() -> Response:
    arguments = query_arguments(*LISTED, *tokens.LISTING)
    listing = tokens.listing(arguments)
    return list_response("tokens", arguments, lambda window: listing.page(reader(), window))


@blueprint.get("/tokens/<address>")
def get_token(address: str) -> Response:
    query_arguments()
    return json_body(tokens.detail(reader(), parameters.address(address)))


@blueprint.get("/tokens/<address>/holders/change")
def get_holder_change(address: str) -> Response:
    query_arguments()
    key = parameters.address(address)
    if tokens.type_of(reader(), key) is None:
        raise NotFound(tokens.UNKNOWN)
    return json_value(tokens.holder_change(reader(), key))


@blueprint.get("/tokens/<address>/holders")
def list_holders(address: str) -> Response:
    arguments, key = query_arguments(*LISTED, "block", "timeTo"), parameters.address(address)
    past = tokens.past(arguments.get("block"), time_of(arguments, "timeTo"))
    if past is None:
        return list_response(
            "holders", arguments, lambda window: tokens.holders(reader(), key, window), address=key
        )
    sources, cursor = reader().sources, arguments.get("cursor")
    listed = sources.get(tokens.PastHolders).open(reader(), key, past, cursor)
    kind, read_for_file = "", listed.page_of_file
    if listed.has_ids and file_of(arguments) is Format.CSV:
        kind, read_for_file = "heldItems", listed.page_of_rows
    return list_response(
        "holders", arguments, listed.page, kind=kind, address=key, read_for_file=read_for_file
    )
