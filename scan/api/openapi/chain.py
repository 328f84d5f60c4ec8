"""Reading the chain: /stats, /blocks, /transactions, /tokens, /addresses and /search."""

from scan.api.addresses import INCLUDED, MOST_ADDRESSES
from scan.api.openapi.filtered_lists import ORDERED
from scan.api.openapi.records import LARGER_NAMESAKE, TOKEN_SUMMARY, UNTRACED_BLOCKS
from scan.api.openapi.schemas import (
    ADDRESS,
    ADDRESS_EXAMPLE,
    LISTED,
    STATE_BLOCK,
    TOKEN,
    TOKEN_EXAMPLE,
    TRANSACTION,
    Json,
    address,
    amount,
    array,
    flag,
    moment,
    nullable,
    number,
    one_of,
    operation,
    or_null,
    page_of,
    path,
    query,
    record,
    ref,
    text,
    time,
)
from scan.parameters import MAX_LIMIT
from scan.queries.search import MAX_FOUND, MAX_TEXT

_BLOCK = path(
    "block",
    text("A block's number or hash, or latest.", "17",
         pattern="^([0-9]{1,18}|0[xX][0-9a-fA-F]{64}|latest)$"),
)  # fmt: skip

PATHS: Json = {
    "/stats/finality": operation(
        "get", "getFinality", "Which blocks the node calls safe and finalized", ref("Finality"),
    ),
    "/stats": operation("get", "getStats", "Statistics of the chain", ref("NetworkStats")),
    "/blocks": operation(
        "get", "listBlocks", "Blocks, newest first; or the newest at or before a time",
        {"anyOf": [ref("BlockPage"), ref("BlockDetail")]}, errors=(404,),
        parameters=(*ORDERED, query("time", time("The block at or before it, alone."))),
    ),
    "/blocks/{block}": operation(
        "get", "getBlock", "One block", ref("BlockDetail"), parameters=(_BLOCK,), errors=(404,)
    ),
    "/transactions/{transaction_hash}": operation(
        "get", "getTransaction", "One transaction, with its input, method and logs",
        ref("TransactionDetail"), parameters=(TRANSACTION,), errors=(404,),
    ),
    "/transactions/{transaction_hash}/adjacent": operation(
        "get", "getAdjacentTransactions", "What its sender sent before and after it",
        ref("AdjacentTransactions"), parameters=(TRANSACTION,), errors=(404,),
    ),
    "/transactions/{transaction_hash}/internal": operation(
        "get", "listTransactionInternalTransfers",
        "A transaction's internal transfers, in call order", ref("InternalTransferPage"),
        description="Includes contract creations without value. Also 404 if the block's traces"
        " were not read.",
        parameters=(TRANSACTION, *LISTED), errors=(404,),
    ),
    "/tokens": operation(
        "get", "listTokens", "Tokens by number of holders", ref("TokenPage"), parameters=LISTED
    ),
    "/tokens/{address}": operation(
        "get", "getToken", "One token", ref("TokenDetail"), parameters=(TOKEN,), errors=(404,)
    ),
    "/tokens/{address}/holders": operation(
        "get", "listTokenHolders", "A token's holders, largest balance first",
        ref("TokenHolderPage"), parameters=(TOKEN, *LISTED), errors=(404,),
    ),
    "/addresses": operation(
        "get", "listAddresses", f"Balances and counters of up to {MOST_ADDRESSES} addresses",
        ref("AddressList"),
        description="In the order of the request. Balances as in /addresses/{address}; an"
        " address that is not indexed has txCount 0.",
        parameters=(
            query(
                "addresses",
                text("Comma-separated addresses.",
                     f"{ADDRESS_EXAMPLE},{TOKEN_EXAMPLE}", minLength=42),
                required=True,
            ),
            query("include", one_of("The token that each is the contract of.", INCLUDED)),
        ),
        errors=(502,),
    ),
    "/addresses/{address}": operation(
        "get", "getAddress", "One address, with its newest transactions", ref("Address"),
        description="Balance and isContract are read from the node at the indexed head; if it"
        " does not respond at once, they are the last known, as of balanceBlock. With `block`"
        " they are of that block, everything else is of the head.",
        parameters=(ADDRESS, STATE_BLOCK), errors=(404, 422, 502),
    ),
    "/addresses/{address}/tokens": operation(
        "get", "listAddressTokens", "The tokens held by an address", ref("TokenBalancePage"),
        parameters=(ADDRESS, *LISTED, STATE_BLOCK), errors=(404, 422),
    ),
    "/search": operation(
        "get", "search",
        f"Search blocks, transactions, addresses, tokens and contracts: the best {MAX_FOUND}",
        ref("SearchResults"),
        description="Finds blocks by number or hash, transactions, addresses, labels, tokens by"
        " name or symbol and verified contracts by name. Names match in any letter case:"
        " equal ones first, then prefixes, then substrings in the names of the most held"
        " tokens.",
        parameters=(
            query("q", text("The search text.", "WETH", maxLength=MAX_TEXT), required=True),
        ),
    ),
}  # fmt: skip


SCHEMAS: Json = {
    "Finality": record(
        "Null where the chain has none, or the node does not answer.",
        {name: ref("CountOrNull") for name in ("latestBlock", "safeBlock", "finalizedBlock")},
    ),
    "SearchResults": record(
        "Search results.",
        {"results": array(ref("SearchResult"), "Best first.", maxItems=MAX_FOUND)},
    ),
    "SearchResult": record(
        "A search result.",
        {
            "type": one_of("Its type.", ("block", "transaction", "address", "token", "contract")),
            "value": text("Number, hash or address.", TOKEN_EXAMPLE),
            "name": nullable(text("A token's or contract's name, or a label.", "Wrapped Ether")),
            "symbol": nullable(text("A token's symbol.", "WETH")),
            "match": one_of("The kind of match.", ("exact", "prefix", "similar")),
            "holderCount": nullable(number("Of a token: its holders.", 12)),
            "firstSeen": nullable(moment("Of a token: since when.")),
            "verified": {
                "type": ["boolean", "null"],
                "description": "Whether its source is verified.",
                "examples": [True],
            },
            "largerNamesake": LARGER_NAMESAKE,
        },
    ),
    "BlockPage": page_of("blocks", "Block", "Blocks, newest first."),
    "TokenPage": page_of("tokens", "Token", "Tokens, most holders first."),
    "TokenHolderPage": page_of("holders", "TokenHolder", "Holders, largest balance first."),
    "AddressList": record(
        "Addresses in the order of the request.",
        {"addresses": array(ref("AddressSummary"), "Addresses.", maxItems=MOST_ADDRESSES)},
    ),
    "AddressSummary": record(
        "An address.",
        {
            "address": address("The address."),
            "balance": amount("In wei.", "1000000000000000000"),
            "balanceBlock": number("The block of the balance.", 353),
            "txCount": number("Transactions it sent, received or was created by.", 12),
            "isContract": flag("Whether it has contract code."),
            "token": or_null(ref("TokenSummary"), "Its token, with include=token; null of others."),
        },
        optional=("token",),
    ),
    "TokenSummary": record("A token in a list of addresses.", TOKEN_SUMMARY),
    "InternalTransferPage": page_of(
        "internalTransfers", "InternalTransfer", "Internal transfers of a transaction."
    ),
    "AddressInternalTransferPage": record(
        "Internal transfers, newest first.",
        {
            "internalTransfers": array(ref("InternalTransfer"), "This page.", maxItems=MAX_LIMIT),
            "total": ref("QueryTotal"),
            "untracedBlocks": UNTRACED_BLOCKS,
            "keptFrom": ref("KeptFrom"),
            "next": ref("Next"),
        },
        optional=("keptFrom",),
    ),
    "TokenBalancePage": page_of("tokens", "TokenBalance", "Balances, by token address."),
}
