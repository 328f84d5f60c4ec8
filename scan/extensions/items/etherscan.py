"""The tokens that an address holds in Blockscout's form, with the items among them."""

import orjson

from scan.extensions.etherscan import account, hooks
from scan.extensions.etherscan.replies import Parameters, Reply, renamed, rows_reply
from scan.extensions.items import queries as items
from scan.http.current_request import reader
from scan.queries.addresses import tokens_held
from scan.queries.filter_values import WITH_AMOUNTS
from scan.queries.list_pages import Window


def token_list(parameters: Parameters) -> Reply:
    """Return the tokens that an address holds; for ERC-1155 a row each id."""
    limit, offset = parameters.limit_and_offset()
    address, window = parameters.address(), Window(limit, offset)
    held = orjson.loads(tokens_held(reader(), address, window).data)
    rows = [renamed("held_token", token) for token in held if token["type"] not in WITH_AMOUNTS]
    if len(rows) < len(held):
        rows.extend(
            {**renamed("held_token", {**item, "decimals": ""}), "id": item["tokenId"]}
            for item in orjson.loads(items.held_by(reader(), address, window).data)
            if item["type"] in WITH_AMOUNTS
        )
    return rows_reply(rows, account.NO_TOKENS)


HOOKS = hooks.Etherscan(actions={("account", "tokenlist"): token_list})
