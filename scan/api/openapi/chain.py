"""Reading the chain: /stats, /blocks, /transactions, /tokens, /addresses and /query."""

from scan.api.openapi.logs import LOG_FILTERS
from scan.api.openapi.records import UNTRACED_BLOCKS
from scan.api.openapi.schemas import (
    ADDRESS_EXAMPLE,
    BIGINT,
    HASH_EXAMPLE,
    LIMIT,
    PAGE,
    TOKEN_EXAMPLE,
    Json,
    address,
    amount,
    any_case_address,
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
    record,
    ref,
    sends,
    text,
)
from scan.api.query import FILTER_KEYS, MAX_DEX_NAME
from scan.parameters import DEFAULT_LIMIT, MAX_LIMIT

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
_HASH = path(
    "transaction_hash",
    text("Its hash, in any letter case.", HASH_EXAMPLE, pattern="^0[xX][0-9a-fA-F]{64}$"),
)

CHAIN_PATHS: Json = {
    "/stats": {
        "get": operation("getStats", TAG, "The network's statistics", ref("NetworkStats")),
    },
    "/blocks": {
        "get": operation(
            "listBlocks", TAG, "Blocks, newest first", ref("BlockPage"), parameters=(PAGE, LIMIT)
        ),
    },
    "/blocks/{block}": {
        "get": operation(
            "getBlock", TAG, "One block", ref("BlockDetail"), parameters=(_BLOCK,), errors=(404,)
        ),
    },
    "/transactions": {
        "get": operation(
            "listTransactions",
            TAG,
            "Transactions, newest first",
            ref("TransactionPage"),
            parameters=(
                PAGE,
                LIMIT,
                query("address", any_case_address("Only those it sent, got or was created by.")),
            ),
        ),
    },
    "/transactions/{transaction_hash}": {
        "get": operation(
            "getTransaction",
            TAG,
            "One transaction, with its input, method and logs",
            ref("TransactionDetail"),
            parameters=(_HASH,),
            errors=(404,),
        ),
    },
    "/transactions/{transaction_hash}/internal": {
        "get": operation(
            "listTransactionInternalTransfers",
            TAG,
            "The value that moved inside a transaction, in the order of the calls",
            ref("InternalTransferPage"),
            description="The value that moved inside a transaction and the contracts created there,"
            " also without value, in the order of the calls. 404 also where the traces of its block"
            " were not read.",
            parameters=(_HASH, PAGE, LIMIT),
            errors=(404,),
        ),
    },
    "/tokens": {
        "get": operation(
            "listTokens", TAG, "Tokens by number of holders", ref("TokenPage"),
            parameters=(PAGE, LIMIT),
        ),
    },
    "/tokens/{address}": {
        "get": operation(
            "getToken", TAG, "One token", ref("TokenDetail"), errors=(404,),
            parameters=(path("address", any_case_address("The token's contract.", TOKEN_EXAMPLE)),),
        ),
    },
    "/tokens/{address}/holders": {
        "get": operation(
            "listTokenHolders", TAG, "Who holds a token, largest balance first",
            ref("TokenHolderPage"), errors=(404,),
            parameters=(
                path("address", any_case_address("The token's contract.", TOKEN_EXAMPLE)),
                PAGE, LIMIT,
            ),
        ),
    },
    "/addresses": {
        "get": operation(
            "listAddresses", TAG, "Balances and counters of up to 100 addresses at once",
            ref("AddressList"),
            description="Balances and counters of up to 100 addresses at once, in the order asked."
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
            description="One address, with its newest transactions. Balance and isContract are the"
            " node's at the indexed head where it answers at once, else what was read last, which"
            " is the head's, too, where nothing indexed has changed it since.",
            parameters=(path("address", any_case_address("The address.")),),
            errors=(502,),
        ),
    },
    "/addresses/{address}/tokens": {
        "get": operation(
            "listAddressTokens", TAG, "The tokens an address holds; none of one never seen",
            ref("TokenBalancePage"),
            parameters=(path("address", any_case_address("The holder.")), PAGE, LIMIT),
        ),
    },
    "/addresses/{address}/internal": {
        "get": operation(
            "listAddressInternalTransfers", TAG,
            "The value that contracts sent to an address, or it sent as one, newest first",
            ref("AddressInternalTransferPage"),
            description="The value that contracts sent to an address, or it sent as one, newest"
            " first: calls, creations (also without value) and self-destructions inside"
            " transactions, from the node's traces. 404 also where no traces were read at all; the"
            " reason is in the error.",
            parameters=(path("address", any_case_address("Who sent or received.")), PAGE, LIMIT),
            errors=(404,),
        ),
    },
    "/search": {
        "get": operation(
            "search", TAG, "What a text may mean: at most 20, the best first", ref("SearchResults"),
            description="A block by number or hash, a transaction, an address, a label, a token by"
            " name or symbol, a verified contract by name; names in any letter case. Whole names"
            " come first, then what begins with the text, then names that hold it among the tokens"
            " held most.",
            parameters=(
                query("q", text("What to look for.", "WETH", maxLength=100), required=True),
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
            errors=(404, 502),
        ),
    },
}  # fmt: skip


def _block_number(description: str, example: int) -> Json:
    return number(description, example, maximum=BIGINT)


_FILTERS: Json = {
    "address": any_case_address("Who sent or received."),
    "from": any_case_address("Who sent."),
    "to": any_case_address("Who received."),
    "tokenAddress": any_case_address("The token's contract.", TOKEN_EXAMPLE),
    "dex": text("The exchange's name.", "uniswap-v2", maxLength=MAX_DEX_NAME),
    "blockNumber": _block_number("The block.", 17),
    "blockFrom": _block_number("The first block.", 100),
    "blockTo": _block_number("The last block.", 200),
}
_FILTERS_OF: Json = {
    "dex_trades": {**_FILTERS, "address": any_case_address("The maker.")},
    "logs": LOG_FILTERS,
}


def _query(entity: str) -> Json:
    filters = {key: _FILTERS_OF.get(entity, _FILTERS)[key] for key in FILTER_KEYS[entity]}
    return form(
        f"A query of {entity}.",
        {
            "entity": {"type": "string", "const": entity, "description": "What is asked for."},
            "filter": form(f"What {entity} must match, all of it.", filters, ()),
            "orderBy": {**one_of("Oldest or newest first.", ("asc", "desc")), "default": "desc"},
            "limit": number(
                "How many at most.", DEFAULT_LIMIT, minimum=1, maximum=MAX_LIMIT,
                default=DEFAULT_LIMIT,
            ),
            "offset": number("How many to pass over.", 0, maximum=BIGINT, default=0),
        },
        ("entity",),
    )  # fmt: skip


CHAIN_SCHEMAS: Json = {
    "SearchResults": record(
        "What was found.",
        {"results": array(ref("SearchResult"), "The best first.", maxItems=20)},
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
    "TransactionPage": page_of("transactions", "Transaction", "Transactions, newest first."),
    "TokenPage": page_of("tokens", "Token", "Tokens, those with most holders first."),
    "TokenHolderPage": page_of("holders", "TokenHolder", "Holders, largest balance first."),
    "AddressList": record(
        "Addresses in the order asked.",
        {"addresses": array(ref("AddressSummary"), "One for each.", maxItems=100)},
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
            "total": number("How many there are on all pages, exactly.", 354),
            "untracedBlocks": UNTRACED_BLOCKS,
        },
    ),
    "TokenBalancePage": page_of("tokens", "TokenBalance", "Balances, by token address."),
    **{f"{_schema_name(entity)}Query": _query(entity) for entity in ENTITIES},
    "Query": {
        "description": "What to find.",
        "oneOf": [ref(f"{_schema_name(entity)}Query") for entity in ENTITIES],
        "discriminator": {
            "propertyName": "entity",
            "mapping": {e: f"#/components/schemas/{_schema_name(e)}Query" for e in ENTITIES},
        },
    },
    "QueryAnswer": record(
        "What was found.",
        {
            "entity": one_of("What was asked for.", [*ENTITIES]),
            "count": number("Records in data.", DEFAULT_LIMIT, maximum=MAX_LIMIT),
            "data": array(
                {"anyOf": [ref(name) for name in ENTITIES.values()]},
                "Records of the entity.",
                maxItems=MAX_LIMIT,
            ),
            "total": nullable(
                number(
                    "How many records match the filter, exactly; null where several of its keys"
                    " other than blocks are combined, and of logs that the node is asked for.",
                    354,
                )
            ),
            "untracedBlocks": UNTRACED_BLOCKS,
        },
        optional=("untracedBlocks",),
    ),
}
