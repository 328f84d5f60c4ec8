"""User operations (ERC-4337): their lists, and one with the details in its bundle's calldata."""

from scan.api.openapi.filtered_lists import ORDERED, filters_of
from scan.api.openapi.schemas import (
    LISTED,
    TRANSACTION,
    Json,
    address,
    amount,
    any_case_hash,
    array,
    extended,
    flag,
    hash32,
    hex_bytes,
    moment,
    nullable,
    number,
    one_of,
    operation,
    or_null,
    page_of,
    path,
    record,
    ref,
    text,
)
from scan.extensions.user_operations.calls import MAX_CALLS
from scan.extensions.user_operations.rows import ENTRY_POINTS, MAX_REVERT_BYTES

PATHS: Json = {
    "/user-operations": operation(
        "get", "listUserOperations", "User operations (ERC-4337)", ref("UserOperationPage"),
        description="By the UserOperationEvent of the entry points"
        f" {', '.join(ENTRY_POINTS.values())} at their canonical addresses.",
        parameters=(*ORDERED, *filters_of("user_operations")),
    ),
    "/user-operations/{operation_hash}": operation(
        "get", "getUserOperation", "One user operation, with its calls",
        ref("UserOperationDetail"),
        description="The newest with the hash; `others` are where it is besides.",
        parameters=(path("operation_hash", any_case_hash("The operation's hash.")),), errors=(404,),
    ),
    "/transactions/{transaction_hash}/user-operations": operation(
        "get", "listTransactionUserOperations", "A transaction's user operations, in their order",
        ref("UserOperationPage"), parameters=(TRANSACTION, *LISTED), errors=(404,),
    ),
}  # fmt: skip
ADDED = {
    "TransactionDetail": {
        "userOperationCount": number("How many, if any.", 2),
        "userOperations": array(
            ref("UserOperation"), "The first of them, if it has any.", maxItems=25
        ),
    }
}
SCHEMAS: Json = {
    "UserOperationPage": page_of(
        "userOperations", "UserOperation", "User operations.", "QueryTotal"
    ),
    "UserOperation": record(
        "A user operation. The logs `firstLogIndex` to `logIndex` of the block are its own.",
        {
            "hash": hash32("Its hash."),
            "transactionHash": hash32("Its transaction."),
            "blockNumber": number("Its block.", 17),
            "logIndex": number("The index of its UserOperationEvent in the block.", 3),
            "entryPoint": address("The entry point that executed it."),
            "transactionIndex": number("The transaction's index in the block.", 1),
            "firstLogIndex": nullable(number("The index of its first log; null if unknown.", 1)),
            "sender": address("The account whose operation it is."),
            "paymaster": nullable(address("Who paid for it; null: the account.")),
            "bundler": address("The sender of the transaction."),
            "nonce": amount("Its nonce; a key above 64 bits.", "7"),
            "success": flag("Whether its execution succeeded."),
            "fee": amount("What was paid for it, in wei.", "55330000000000"),
            "gasUsed": amount("Gas used.", "55330"),
            "factory": nullable(address("Who deployed its account for it, if any.")),
            "revertData": nullable(
                hex_bytes(f"What its execution reverted with; at most {MAX_REVERT_BYTES:,} bytes.")
            ),
            "timestamp": moment("Its block's time."),
        },
    ),
    "UserOperationCall": record(
        "A call that an operation has its account make.",
        {
            "toAddress": address("The called address."),
            "value": amount("In wei."),
            "input": hex_bytes("Its input."),
            "delegated": flag("Whether the code runs as the account (delegatecall)."),
            "function": or_null(ref("Decoded"), "The called function; null if unknown."),
        },
    ),
    "UserOperationFields": record(
        "An operation as its account signed it.",
        {
            "initCode": hex_bytes("A factory and its call, or empty."),
            "callData": hex_bytes("The call of the account."),
            "callGasLimit": amount("Gas of the call."),
            "verificationGasLimit": amount("Gas of the validation."),
            "preVerificationGas": amount("Gas besides."),
            "maxFeePerGas": amount("In wei."),
            "maxPriorityFeePerGas": amount("In wei."),
            "paymasterAndData": hex_bytes("A paymaster and its data, or empty."),
            "signature": hex_bytes("What the account validates."),
        },
    ),
    "UserOperationDetail": extended(
        "UserOperation",
        "A user operation with its calls, from the calldata of the entry point.",
        {
            "entryPointVersion": one_of("The entry point's version.", [*ENTRY_POINTS.values()]),
            "error": or_null(ref("CallError"), "Why it failed; null if it succeeded."),
            "operation": or_null(ref("UserOperationFields"), "Null where it is not known."),
            "calls": nullable(
                array(
                    ref("UserOperationCall"),
                    "The calls that it has its account make, or of an unknown function of the"
                    " account that call; null where they are not known.",
                    maxItems=MAX_CALLS,
                )
            ),
            "callCount": nullable(number("How many there are.", 1)),
            "unavailable": nullable(
                text(
                    "Why operation and calls are null.",
                    "The node does not respond; try again shortly.",
                )
            ),
            "others": array(ref("UserOperation"), "Others with the hash, newest first."),
        },
    ),
}
