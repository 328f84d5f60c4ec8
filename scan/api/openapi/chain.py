"""Reading the chain: /stats, /blocks, /transactions, /tokens, /addresses and /query."""

from scan.api.addresses import MOST_ADDRESSES
from scan.api.openapi.filtered import FILTERS, ORDERED
from scan.api.openapi.logs import LOG_FILTERS
from scan.api.openapi.records import UNTRACED_BLOCKS
from scan.api.openapi.schemas import (
    ADDRESS,
    ADDRESS_EXAMPLE,
    BIGINT,
    LISTED,
    SCALARS,
    TOKEN,
    TOKEN_EXAMPLE,
    TRANSACTION,
    Json,
    address,
    amount,
    array,
    flag,
    form,
    nullable,
    number,
    one_of,
    operation,
    page_of,
    path,
    query,
    range_filters,
    record,
    ref,
    sends,
    text,
    time,
)
from scan.api.query import FILTER_KEYS
from scan.parameters import DEFAULT_LIMIT, MAX_LIMIT
from scan.queries.cursors import MAX_CURSOR
from scan.queries.search import MAX_FOUND, MAX_TEXT

TAG = "Chain"


def _schema_name(entity: str) -> str:
    """token_transfers -> TokenTransfers"""
    return "".join(word.capitalize() for word in entity.split("_"))


ENTITIES = {entity: _schema_name(entity).removesuffix("s") for entity in FILTER_KEYS}

_BLOCK = path(
    "block",
    text("Its number, its hash in any letter case, or latest: the newest indexed.", "17",
         pattern="^([0-9]{1,18}|0[xX][0-9a-fA-F]{64}|latest)$"),
)  # fmt: skip

CHAIN_PATHS: Json = {
    "/stats": {
        "get": operation("getStats", TAG, "The network's statistics", ref("NetworkStats")),
    },
    "/blocks": {
        "get": operation(
            "listBlocks", TAG, "Blocks, newest first; or the newest at or before a time",
            {"anyOf": [ref("BlockPage"), ref("BlockDetail")]}, errors=(404,),
            parameters=(*ORDERED, query("time", time("The block at or before it, alone."))),
        ),
    },
    "/blocks/{block}": {
        "get": operation(
            "getBlock", TAG, "One block", ref("BlockDetail"), parameters=(_BLOCK,), errors=(404,)
        ),
    },
    "/transactions/{transaction_hash}": {
        "get": operation(
            "getTransaction",
            TAG,
            "One transaction, with its input, method and logs",
            ref("TransactionDetail"),
            parameters=(TRANSACTION,),
            errors=(404,),
        ),
    },
    "/transactions/{transaction_hash}/internal": {
        "get": operation(
            "listTransactionInternalTransfers",
            TAG,
            "The value that moved inside a transaction, in the order of the calls",
            ref("InternalTransferPage"),
            description="With the contracts created there, also without value. 404 also where the"
            " traces of its block were not read.",
            parameters=(TRANSACTION, *LISTED),
            errors=(404,),
        ),
    },
    "/tokens": {
        "get": operation(
            "listTokens", TAG, "Tokens by number of holders", ref("TokenPage"),
            parameters=LISTED,
        ),
    },
    "/tokens/{address}": {
        "get": operation(
            "getToken", TAG, "One token", ref("TokenDetail"), errors=(404,),
            parameters=(TOKEN,),
        ),
    },
    "/tokens/{address}/holders": {
        "get": operation(
            "listTokenHolders", TAG, "Who holds a token, largest balance first",
            ref("TokenHolderPage"), errors=(404,),
            parameters=(
                TOKEN,
                *LISTED,
            ),
        ),
    },
    "/addresses": {
        "get": operation(
            "listAddresses", TAG,
            f"Balances and counters of up to {MOST_ADDRESSES} addresses at once",
            ref("AddressList"),
            description="Balances and counters of the addresses, in the order asked."
            " Balances are the node's at the indexed head where it answers at once, else what was"
            " read last, which is the head's, too, where nothing indexed has changed it since; an"
            " address never seen has txCount 0.",
            parameters=(
                query(
                    "addresses",
                    text("Addresses in any letter case, with commas between them.",
                         f"{ADDRESS_EXAMPLE},{TOKEN_EXAMPLE}", minLength=42),
                    required=True,
                ),
            ),
            errors=(502,),
        ),
    },
    "/addresses/{address}": {
        "get": operation(
            "getAddress", TAG, "One address, with its newest transactions", ref("Address"),
            description="Balance and isContract are the"
            " node's at the indexed head where it answers at once, else what was read last, which"
            " is the head's, too, where nothing indexed has changed it since.",
            parameters=(ADDRESS,),
            errors=(502,),
        ),
    },
    "/addresses/{address}/tokens": {
        "get": operation(
            "listAddressTokens", TAG, "The tokens an address holds; none of one never seen",
            ref("TokenBalancePage"),
            parameters=(ADDRESS, *LISTED),
        ),
    },
    "/search": {
        "get": operation(
            "search", TAG,
            f"Blocks, transactions, addresses, tokens and contracts: the best {MAX_FOUND}",
            ref("SearchResults"),
            description="A block by number or hash, a transaction, an address, a label, a token by"
            " name or symbol, a verified contract by name; names in any letter case. Whole names"
            " come first, then what begins with the text, then names that hold it among the tokens"
            " held most.",
            parameters=(
                query("q", text("What to look for.", "WETH", maxLength=MAX_TEXT), required=True),
            ),
        ),
    },
    "/query": {
        "post": operation(
            "query", TAG, "Seven entities, filtered, in either order, from any offset",
            ref("QueryAnswer"),
            description="Newest first by (block, index in block), or oldest first with `asc`;"
            " tokens by (holderCount, address). Without a filter, by a range of blocks, and by one"
            " other key in any range, every offset takes the same time and total is exact. Several"
            " keys combine: then total is null, and what takes too long is answered 503: narrow it"
            " by blockFrom and blockTo. Unknown keys are refused. Of logs that are not stored, what"
            " lies before the page is read from the node, too. internal_transfers are answered 404"
            " where no traces were read.",
            body=sends(
                ref("Query"),
                newest={"entity": "transactions"},
                filtered={
                    "entity": "token_transfers",
                    "filter": {"tokenAddress": TOKEN_EXAMPLE, "blockFrom": 100, "blockTo": 200},
                    "orderBy": "asc",
                    "limit": 50,
                    "offset": 0,
                },
            ),
            errors=(404, 409, 502),
        ),
    },
}  # fmt: skip


_FILTERS: Json = {**FILTERS, "blockNumber": number("The block.", 17), **range_filters()}
_FILTERS_OF: Json = {"logs": {**LOG_FILTERS, **range_filters()}}


def _query(entity: str) -> Json:
    filters = {key: _FILTERS_OF.get(entity, _FILTERS)[key] for key in FILTER_KEYS[entity]}
    return form(
        f"A query of {entity}.",
        {
            "entity": {"const": entity, "description": "What is asked for."},
            "filter": form(f"What {entity} must match, all of it.", filters, ()),
            "orderBy": ref("QueryOrder"),
            "limit": ref("QueryLimit"),
            "offset": ref("QueryOffset"),
            "cursor": ref("QueryCursor"),
        },
        ("entity",),
    )


def _answer(entity: str) -> Json:
    lacking = {"untracedBlocks": UNTRACED_BLOCKS} if entity == "internal_transfers" else {}
    return record(
        f"The {entity} of a query.",
        {
            "entity": {"const": entity, "description": "What was asked for."},
            "count": ref("QueryCount"),
            "data": array(ref(ENTITIES[entity]), "The records.", maxItems=MAX_LIMIT),
            "total": ref("QueryTotal"),
            **lacking,
            "next": ref("Next"),
        },
    )


def _by_entity(description: str, ending: str) -> Json:
    schemas = {entity: ref(f"{_schema_name(entity)}{ending}") for entity in ENTITIES}
    mapping = {entity: schema["$ref"] for entity, schema in schemas.items()}
    return {
        "description": description,
        "oneOf": [*schemas.values()],
        "discriminator": {"propertyName": "entity", "mapping": mapping},
    }


CHAIN_SCHEMAS: Json = {
    "SearchResults": record(
        "What was found.",
        {"results": array(ref("SearchResult"), "The best first.", maxItems=MAX_FOUND)},
    ),
    "SearchResult": record(
        "Something that a text may mean.",
        {
            "type": one_of("What it is.", ("block", "transaction", "address", "token", "contract")),
            "value": text("Its number, hash or address.", TOKEN_EXAMPLE),
            "name": nullable(text("A token's or contract's name, or a label.", "Wrapped Ether")),
            "symbol": nullable(text("A token's symbol.", "WETH")),
            "match": one_of("How the text fits.", ("exact", "prefix", "similar")),
        },
    ),
    "BlockPage": page_of("blocks", "Block", "Blocks, newest first."),
    "TokenPage": page_of("tokens", "Token", "Tokens, those with most holders first."),
    "TokenHolderPage": page_of("holders", "TokenHolder", "Holders, largest balance first."),
    "AddressList": record(
        "Addresses in the order asked.",
        {"addresses": array(ref("AddressSummary"), "One for each.", maxItems=MOST_ADDRESSES)},
    ),
    "AddressSummary": record(
        "An address.",
        {
            "address": address("The address."),
            "balance": amount("Its balance in wei.", "1000000000000000000"),
            "balanceBlock": number("The block it was read at.", 353),
            "txCount": number("Transactions it sent, received or was created by.", 12),
            "isContract": flag("Whether it has code of its own."),
        },
    ),
    "InternalTransferPage": page_of(
        "internalTransfers", "InternalTransfer", "Internal transfers of a transaction."
    ),
    "AddressInternalTransferPage": record(
        "Internal transfers, newest first.",
        {
            "internalTransfers": array(ref("InternalTransfer"), "This page.", maxItems=MAX_LIMIT),
            "total": ref("Total"),
            "untracedBlocks": UNTRACED_BLOCKS,
            "next": ref("Next"),
        },
    ),
    "TokenBalancePage": page_of("tokens", "TokenBalance", "Balances, by token address."),
    **{f"{_schema_name(entity)}Query": _query(entity) for entity in ENTITIES},
    "Query": _by_entity("What to find.", "Query"),
    "QueryOrder": {**one_of("Oldest or newest first.", ("asc", "desc")), "default": "desc"},
    "QueryCount": {**SCALARS["Count"], "description": "Records in data."},
    "QueryTotal": {
        **nullable({**SCALARS["Total"]}),
        "description": "How many records match the filter, exactly; null where several of its keys"
        " other than blocks are combined, and of logs that the node is asked for.",
    },
    "QueryLimit": number(
        "How many at most.", DEFAULT_LIMIT, minimum=1, maximum=MAX_LIMIT, default=DEFAULT_LIMIT
    ),
    "QueryCursor": text(
        "`next` of a page with the same entity, filter and order; not together with offset.",
        "P5McU6d74Yg1fDd8eDY4Njg2",
        maxLength=MAX_CURSOR,
    ),
    "QueryOffset": number("How many to pass over.", 0, maximum=BIGINT, default=0),
    **{f"{_schema_name(entity)}Answer": _answer(entity) for entity in ENTITIES},
    "QueryAnswer": _by_entity("What was found.", "Answer"),
}
