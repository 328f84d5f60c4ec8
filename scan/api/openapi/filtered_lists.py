"""Lists that can be filtered, and their filters; query.py has /query."""

from collections.abc import Callable, Collection, Mapping

from scan.api.openapi.contracts import MATCH, MATCHES
from scan.api.openapi.schemas import (
    ADDRESS,
    LISTED,
    RANGE,
    TOKEN,
    Json,
    address,
    any_case_address,
    any_case_hash,
    array,
    flag,
    hash32,
    moment,
    nullable,
    number,
    one_of,
    operation,
    page_of,
    query,
    record,
    ref,
    shared,
    text,
    token_type,
)
from scan.contracts.signature_text import MAX_LENGTH
from scan.database.lists import of_kind
from scan.parameters import MAX_LIMIT, MAX_TYPE
from scan.queries.filters import FILTER_KEYS, FILTERS, MAX_DEX_NAME

# Schemas of filters by their kind, each made from the filter's description.
OF_KIND: Mapping[str, Callable[[str], Json]] = {
    "address": any_case_address,
    "dex": lambda described: text(described, "uniswap-v2", maxLength=MAX_DEX_NAME),
    "flag": flag,
    "hash": hash32,
    "pubkey": lambda described: text(
        described, "0x" + "a1" * 48, pattern="^0[xX][0-9a-fA-F]{96}$"
    ),
    "method": lambda described: text(described, "transfer", maxLength=MAX_LENGTH),
    "token_type": token_type,
    "topic": any_case_hash,
    "transaction_type": lambda described: number(described, 2, maximum=MAX_TYPE),
}  # fmt: skip
FILTER_SCHEMAS: Json = {
    filter_.key: one_of(filter_.description, [*filter_.choices])
    if filter_.choices
    else of_kind(filter_.kind, OF_KIND, "OF_KIND of scan/api/openapi/filtered_lists.py")(
        filter_.description
    )
    for filters in FILTERS.values()
    for filter_ in filters
}
PARAMETERS: Json = {
    **{f"filter-{key}": query(key, dict(schema)) for key, schema in FILTER_SCHEMAS.items()},
    "orderBy": query("orderBy", {**ref("QueryOrder"), "description": "Oldest or newest first."}),
}
ORDERED = (*LISTED, *RANGE, shared("orderBy"))
BLOCK = shared("blockNumberOrHash")


def filters_of(entity: str, fixed: Collection[str] = ()) -> list[Json]:
    return [shared(f"filter-{key}") for key in FILTER_KEYS[entity] if key not in fixed]


def list_of(
    name: str, summary: str, page: str, entity: str, *path: Json, fixed: Collection[str] = ()
) -> Json:
    """Return the operation of an entity's list, but without its `fixed` filters."""
    return operation(
        "get",
        name,
        summary,
        ref(page),
        parameters=(*path, *ORDERED, *filters_of(entity, fixed)),
        errors=(404,) if path or entity == "internal_transfers" else (),
    )


PATHS: Json = {
    "/transactions": list_of(
        "listTransactions", "Transactions", "TransactionPage", "transactions"
    ),
    "/addresses/{address}/transactions": list_of(
        "listAddressTransactions", "An address's transactions",
        "TransactionPage", "transactions", ADDRESS, fixed=("address",),
    ),
    "/blocks/{block}/transactions": operation(
        "get", "listBlockTransactions", "The transactions of a block", ref("TransactionPage"),
        parameters=(BLOCK, *LISTED, shared("orderBy"), *filters_of("transactions")),
        errors=(404,),
    ),
    "/token-transfers": list_of(
        "listTokenTransfers", "Token transfers", "TransferPage", "token_transfers"
    ),
    "/tokens/{address}/transfers": list_of(
        "listTransfersOfToken", "A token's transfers", "TransferPage", "token_transfers",
        TOKEN, fixed=("tokenAddress",),
    ),
    "/addresses/{address}/transfers": list_of(
        "listAddressTransfers", "Token transfers from or to an address", "TransferPage",
        "token_transfers", ADDRESS, fixed=("address",),
    ),
    "/dex-trades": list_of("listDexTrades", "Trades on exchanges", "TradePage", "dex_trades"),
    "/addresses/{address}/trades": list_of(
        "listAddressTrades", "Trades whose maker is an address", "TradePage", "dex_trades", ADDRESS,
        fixed=("maker", "address"),
    ),
    "/internal-transfers": list_of(
        "listInternalTransfers", "Internal transfers, from traces",
        "AddressInternalTransferPage", "internal_transfers",
    ),
    "/addresses/{address}/internal": list_of(
        "listAddressInternalTransfers",
        "An address's internal transfers",
        "AddressInternalTransferPage", "internal_transfers", ADDRESS, fixed=("address",),
    ),
    "/contract-creations": list_of(
        "listContractCreations", "All contracts by their creations, verified or not",
        "ContractCreationPage", "contract_creations",
    ),
    "/contracts": operation(
        "get", "listContracts", "Verified contracts, newest verification first",
        ref("ContractPage"), tag="Contracts", parameters=LISTED,
    ),
}  # fmt: skip
SCHEMAS: Json = {
    "TransactionPage": page_of("transactions", "Transaction", "Transactions.", "QueryTotal"),
    "TransferPage": page_of("transfers", "TokenTransfer", "Token transfers.", "QueryTotal"),
    "TradePage": page_of("trades", "DexTrade", "Trades.", "QueryTotal"),
    "ContractCreationPage": record(
        "Contracts by their creations.",
        {
            "contractCreations": array(ref("ContractCreation"), "This page.", maxItems=MAX_LIMIT),
            "total": ref("QueryTotal"),
            "untracedBlocks": number(
                "Blocks without traces, whose creations by contracts are unknown; absent: no block"
                " was traced.",
                0,
            ),
            "keptFrom": ref("KeptFrom"),
            "next": ref("Next"),
        },
        optional=("keptFrom", "untracedBlocks"),
    ),
    "ContractCreation": record(
        "The creation of a contract; an address whose contract destroyed itself may have several.",
        {
            "address": address("The contract."),
            "creator": address("The transaction's sender."),
            "factory": nullable(address("The contract that created it; null: a transaction did.")),
            "transactionHash": hash32("The transaction."),
            "blockNumber": number("Its block.", 17),
            "transactionIndex": number("The transaction's place in the block.", 0),
            "timestamp": moment("The block's time."),
            "label": nullable(text("The operator's label.", "Market maker")),
            "tokenName": nullable(text("The token's name; null: it is no token.", "Token")),
            "tokenSymbol": nullable(text("The token's symbol.", "TKN")),
            "contractName": nullable(text("Its name in the source; null: not verified.", "Token")),
            "verified": flag("Whether the source of its code is verified."),
            "isProxy": flag("Whether its code passes all calls on to another contract."),
        },
    ),
    "ContractPage": page_of("contracts", "VerifiedContract", "Verified contracts."),
    "VerifiedContract": record(
        "A verified contract.",
        {
            "address": address("The contract."),
            "contractName": text("Its name.", "Token"),
            "compilerVersion": text("The compiler.", "v0.8.26+commit.8a97fa7a"),
            "match": one_of(MATCH, MATCHES),
            "license": nullable(text("SPDX identifier.", "MIT")),
            "verifiedAt": moment("When it was verified."),
        },
    ),
}
