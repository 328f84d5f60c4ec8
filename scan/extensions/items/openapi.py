"""Items of BEP721 and BEP1155: /tokens/:address/items and /addresses/:address/items."""

from scan.api.openapi.records import BALANCE_SINCE
from scan.api.openapi.schemas import (
    ADDRESS,
    LISTED,
    TOKEN,
    TOKEN_EXAMPLE,
    TOKEN_ID,
    Json,
    address,
    amount,
    array,
    extended,
    nullable,
    number,
    one_of,
    operation,
    or_null,
    page_of,
    record,
    ref,
    text,
)

TYPES = ("BEP721", "BEP1155")
NOT_FOUND = "404 for unknown and BEP20 tokens"

PATHS: Json = {
    "/tokens/{address}/items": operation(
        "get", "listTokenItems", "The items of a token, newest first", ref("ItemPage"),
        description="All ids of a BEP721 or BEP1155 with a transfer, by their first transfer,"
        f" newest first. Burnt ones are included, without an owner. {NOT_FOUND}.",
        parameters=(TOKEN, *LISTED), errors=(404,),
    ),
    "/tokens/{address}/items/{token_id}": operation(
        "get", "getTokenItem", "One item, with its owners and newest transfers",
        ref("ItemDetail"),
        description="From the token's events: the owner of a BEP721 is its last recipient."
        " tokenUri is what the contract returns at the indexed head; it is not fetched."
        f" {NOT_FOUND}, and for ids without a transfer.",
        parameters=(TOKEN, TOKEN_ID), errors=(404,),
    ),
    "/tokens/{address}/items/{token_id}/transfers": operation(
        "get", "listItemTransfers", "The transfers of one item, newest first",
        ref("TransferPage"), parameters=(TOKEN, TOKEN_ID, *LISTED), errors=(404,),
    ),
    "/addresses/{address}/items": operation(
        "get", "listAddressItems", "The items held by an address", ref("ItemBalancePage"),
        description="Of BEP721 and BEP1155 tokens, by their first transfer, newest first.",
        parameters=(ADDRESS, *LISTED),
    ),
}  # fmt: skip

_ITEM: Json = {
    "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
    "tokenId": amount("Its id.", "7"),
    "tokenType": one_of("The token's standard.", TYPES),
    "owner": nullable(address("Null for BEP1155 and for burnt items.")),
    "ownerCount": number("Addresses that hold it.", 1),
    "transferCount": number("Its transfers.", 3),
}

SCHEMAS: Json = {
    "Item": record("An item: one id of a token.", _ITEM),
    "ItemDetail": extended(
        "Item",
        "An item with details.",
        {
            "tokenUri": nullable(
                text(
                    "Its tokenURI(uint256), or uri(uint256) of a BEP1155, without control"
                    " characters; clients replace {id}. It may be any text.",
                    "ipfs://bafybeigdyrzt/7.json",
                )
            ),
            "tokenUriUnavailable": nullable(
                text("Why tokenUri is null.", "The contract reverted.")
            ),
            "owners": array(
                ref("TokenHolder"), "Its first 100 owners, largest balance first.", maxItems=100
            ),
            "transfers": array(ref("TokenTransfer"), "Its newest 25 transfers.", maxItems=25),
            "metadata": or_null(
                ref("ItemMetadata"),
                "From a data: URI; from https and ipfs if the operator allows it.",
            ),
            "metadataUnavailable": nullable(
                text("Why metadata or picture are missing.", "The metadata is not JSON.")
            ),
        },
    ),
    "ItemMetadata": record(
        "What tokenUri leads to.",
        {
            "name": text("Its name.", "Lamp #7"),
            "description": text("Its description.", "A lamp."),
            "image": nullable(text("Its picture's URI, unless data:.", "ipfs://bafy/7.png")),
            "imageType": nullable(text("Of the picture, if read.", "image/png")),
            "attributes": array(ref("ItemAttribute"), "Its traits.", maxItems=50),
        },
    ),
    "ItemAttribute": record(
        "A trait.",
        {"trait": text("Its name.", "Colour"), "value": text("Its value.", "red")},
    ),
    "ItemBalance": record(
        "An item held by an address.",
        {
            "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
            "name": text("The token's name.", "Lantern Keepers", maxLength=255),
            "symbol": text("The token's symbol.", "LAMP", maxLength=50),
            "type": one_of("The token's standard.", TYPES),
            "tokenId": amount("The item's id.", "7"),
            "balance": text("1 for BEP721.", "1", pattern="^[1-9][0-9]*$"),
            "balanceSince": BALANCE_SINCE,
        },
        optional=("balanceSince",),
    ),
    "ItemPage": page_of("items", "Item", "Items."),
    "ItemBalancePage": page_of("items", "ItemBalance", "Items."),
}
