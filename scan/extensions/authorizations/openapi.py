"""The list of authorizations, those of a transaction, and whose code an account runs."""

from scan.api.openapi.filtered_lists import list_of
from scan.api.openapi.schemas import (
    Json,
    address,
    amount,
    array,
    flag,
    hash32,
    moment,
    nullable,
    number,
    one_of,
    page_of,
    record,
    ref,
    text,
)

INVALID_REASONS = (
    *("wrong_chain", "nonce_limit", "invalid_signature", "authority_has_code", "wrong_nonce"),
)
PATHS: Json = {
    "/authorizations": list_of(
        "listAuthorizations",
        "Authorizations of accounts (EIP-7702)",
        "AuthorizationPage",
        "authorizations",
    ),
}
ADDED = {
    "AddressSummary": {
        "delegate": address("Whose code the account runs (EIP-7702), if it does."),
    },
    "TransactionDetail": {
        "authorizationCount": number("How many, if any.", 2),
        "authorizations": array(
            ref("Authorization"),
            "The first; others by /authorizations?transaction=.",
            maxItems=25,
        ),
    },
}
SCHEMAS: Json = {
    "AuthorizationPage": page_of(
        "authorizations", "Authorization", "Authorizations.", "QueryTotal"
    ),
    "Authorization": record(
        "An account lets code of another address run in its name, until its next one.",
        {
            "transactionHash": hash32("Its transaction."),
            "blockNumber": number("Its block.", 17),
            "transactionIndex": number("In the block.", 2),
            "authorizationIndex": number("In the transaction.", 0),
            "authority": nullable(address("The account; null: nobody can have signed it.")),
            "delegate": address("Whose code runs; the zero address ends a delegation."),
            "chainId": amount("Its chain; 0: every chain.", "1"),
            "nonce": amount("Of the account.", "7"),
            "yParity": number("Of the signature.", 1),
            "r": text("Of the signature.", "0x1f"),
            "s": text("Of the signature.", "0x1f"),
            "valid": nullable(flag("Whether it took effect; null: not known.")),
            "invalidReason": nullable(one_of("Why not.", INVALID_REASONS)),
            "authorityNonce": nullable(amount("The account's then; null: not known.", "7")),
            "untilBlock": nullable(number("The block of the next one, which replaced it.", 19)),
            "timestamp": moment("Its block's time."),
        },
    ),
}
