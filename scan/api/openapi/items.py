"""Items of BEP721 and BEP1155: /tokens/:address/items and /addresses/:address/items."""

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
    page_of,
    record,
    ref,
    text,
)

TAG = "Chain"
TYPES = ("BEP721", "BEP1155")
NOT_FOUND = "404 for an unknown token, and for a BEP20, which has no items"

ITEM_PATHS: Json = {
    "/tokens/{address}/items": {
        "get": operation(
            "listTokenItems", TAG, "The items of a token, newest first", ref("ItemPage"),
            description="Every id of a BEP721 or BEP1155 that was ever moved, each once: those"
            f" first moved last come first. Burnt ones stay, without an owner. {NOT_FOUND}.",
            parameters=(TOKEN, *LISTED), errors=(404,),
        ),
    },
    "/tokens/{address}/items/{token_id}": {
        "get": operation(
            "getTokenItem", TAG, "One item, with its owners and newest transfers",
            ref("ItemDetail"),
            description="One item, by the token's events: of a BEP721 its owner is who received it"
            " last. tokenUri is what the contract returns at the indexed head, as text; it is never"
            f" fetched. {NOT_FOUND}, or where no transfer of this id is indexed.",
            parameters=(TOKEN, TOKEN_ID), errors=(404,),
        ),
    },
    "/tokens/{address}/items/{token_id}/transfers": {
        "get": operation(
            "listItemTransfers", TAG, "The transfers of one item, newest first",
            ref("TransferPage"), parameters=(TOKEN, TOKEN_ID, *LISTED), errors=(404,),
        ),
    },
    "/addresses/{address}/items": {
        "get": operation(
            "listAddressItems", TAG, "The items an address has", ref("ItemBalancePage"),
            description="The items of BEP721 and BEP1155 tokens that an address has: those whose id"
            " was first moved last come first.",
            parameters=(ADDRESS, *LISTED),
        ),
    },
}  # fmt: skip

_ITEM: Json = {
    "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
    "tokenId": amount("Its id.", "7"),
    "tokenType": one_of("The standard the token follows.", TYPES),
    "owner": nullable(address("Whose it is; null of a BEP1155, and of a burnt one.")),
    "ownerCount": number("Addresses that have some.", 1),
    "transferCount": number("Its transfers.", 3),
}

ITEM_SCHEMAS: Json = {
    "Item": record("An item: one id of a token.", _ITEM),
    "ItemDetail": extended(
        "Item",
        "An item alone.",
        {
            "tokenUri": nullable(
                text(
                    "Its tokenURI(uint256), or uri(uint256) of a BEP1155, cleaned of control"
                    " characters; clients put the id for {id}. It may be any text.",
                    "ipfs://bafybeigdyrzt/7.json",
                )
            ),
            "tokenUriUnavailable": nullable(
                text("Why there is none, else null.", "The contract reverted.")
            ),
            "owners": array(
                ref("TokenHolder"), "Who has it, most of it first: 100 at most.", maxItems=100
            ),
            "transfers": array(ref("TokenTransfer"), "Its newest 25 transfers.", maxItems=25),
        },
    ),
    "ItemBalance": record(
        "An item that an address has.",
        {
            "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
            "name": text("The token's name.", "Lantern Keepers", maxLength=255),
            "symbol": text("The token's symbol.", "LAMP", maxLength=50),
            "type": one_of("The standard the token follows.", TYPES),
            "tokenId": amount("The item's id.", "7"),
            "balance": text("How many; 1 of a BEP721.", "1", pattern="^[1-9][0-9]*$"),
        },
    ),
    "ItemPage": page_of("items", "Item", "Items, those first moved last first."),
    "ItemBalancePage": page_of("items", "ItemBalance", "Items, those first moved last first."),
}
