"""The records of the chain: what schema.sql's functions make, field by field."""

from scan import VERSION
from scan.api.openapi.schemas import (
    TOKEN_EXAMPLE,
    Json,
    address,
    amount,
    array,
    extended,
    flag,
    hash32,
    moment,
    nullable,
    number,
    one_of,
    record,
    ref,
    text,
    token_type,
)

_TOKEN: Json = {
    "address": address("The token's contract.", TOKEN_EXAMPLE),
    "name": text("Its name(), cleaned; empty where it has none.", "Wrapped Ether", maxLength=255),
    "symbol": text("Its symbol(), cleaned.", "WETH", maxLength=50),
    "decimals": number("How many decimals amounts have.", 18, maximum=255),
    "type": token_type("The standard it follows."),
    "totalSupply": amount(
        "Its totalSupply(), in the smallest unit; of an NFT that has none, what its holders hold.",
        "1000000000000000000",
    ),
    "holderCount": number("Addresses that hold some.", 12),
}

UNTRACED_BLOCKS = number(
    "Of internal transfers: how many indexed blocks lack traces, so that theirs are not known.", 0
)
_BLOCK: Json = {
    "number": number("Its number.", 17),
    "hash": hash32("Its hash."),
    "timestamp": moment("When it was made."),
    "miner": address("Who is paid for it."),
    "txCount": number("Transactions in it.", 2),
    "gasUsed": amount("Gas its transactions used.", "55330"),
    "gasLimit": amount("Gas they could have used.", "30000000"),
    "parentHash": hash32("The hash of the block before it."),
    "baseFeePerGas": nullable(amount("In wei; null before EIP-1559, or not filled.", "1000000000")),
    "size": nullable(
        number("Bytes of its RLP; null where the node gave none, or not filled.", 1531)
    ),
}
_PLACE: Json = {
    "transactionHash": hash32("The transaction it happened in."),
    "blockNumber": number("The block it happened in.", 17),
    "logIndex": number("Its log's index in the block.", 3),
}

METHOD_ID = ref("MethodId")

# Null, but for blockHash, also in rows indexed before these fields were stored, until
# `scan backfill fields` has filled them.
_NULL_UNTIL_FILLED: Json = {
    "blockHash": hash32("The hash of its block."),
    "nonce": nullable(
        number("How many its sender sent before.", 7, format="uint64", maximum=2**64 - 1)
    ),
    "gasLimit": nullable(amount("Gas it could have used.", "60000")),
    "type": nullable(
        number("0 legacy, 1 EIP-2930, 2 EIP-1559, 3 EIP-4844, 4 EIP-7702.", 2, maximum=255)
    ),
    "maxFeePerGas": nullable(amount("In wei, from type 2 on.", "30000000000")),
    "maxPriorityFeePerGas": nullable(amount("In wei, from type 2 on.", "1000000000")),
    "maxFeePerBlobGas": nullable(amount("In wei, of type 3.", "1")),
    "blobVersionedHashes": nullable(array(hash32("Of a blob."), "Of type 3.")),
    "cumulativeGasUsed": nullable(amount("Gas used in its block up to it.", "55330")),
    "methodId": METHOD_ID,
}

RECORDS: Json = {
    "NetworkStats": record(
        "The network at the indexed head.",
        {
            "latestBlock": number("The newest block indexed.", 353),
            "totalTransactions": number("Transactions indexed.", 745),
            "totalTokens": number("Tokens known.", 9),
            "avgGasPrice": amount(
                "Mean effective gas price of the newest 100 blocks' transactions, in wei.",
                "1513422051",
            ),
            "chainId": nullable(number("The chain's id; null before the first block.", 1)),
            "version": text("The release of Scan that answers.", VERSION),
            "chainName": nullable(text("SCAN_CHAIN_NAME, where it is set.", "BNB Chain")),
        },
    ),
    "Block": record("A block.", _BLOCK),
    "BlockDetail": extended(
        "Block",
        "A block alone.",
        {
            "withdrawals": array(
                ref("Withdrawal"), "What validators withdrew; left out where they withdrew nothing."
            ),
        },
        optional=("withdrawals",),
    ),
    "Withdrawal": record(
        "What a validator withdrew (EIP-4895).",
        {
            "index": number("Its index along the chain.", 17),
            "validatorIndex": number("The validator.", 42),
            "address": address("Who received it."),
            "amount": amount("How much, in wei.", "17234567000000000"),
        },
    ),
    "Transaction": record(
        "A transaction that is part of a block.",
        {
            "hash": hash32("Its hash."),
            "blockNumber": number("The block it is in.", 17),
            "fromAddress": address("Who sent it."),
            "toAddress": nullable(address("Who received it; null where a contract is created.")),
            "value": amount("What it carried, in wei.", "1000000000000000000"),
            "gasPrice": amount("The effective gas price of its receipt, in wei.", "1513422051"),
            "gasUsed": amount("Gas it used.", "21000"),
            "status": flag("Whether it succeeded."),
            "timestamp": moment("When its block was made."),
            "transactionIndex": number("Its index in the block.", 0),
            "contractAddress": nullable(address("The contract it created, if any.")),
            **_NULL_UNTIL_FILLED,
        },
    ),
    "Token": record("A token.", _TOKEN),
    "TokenDetail": extended(
        "Token",
        "A token alone.",
        {
            "transferCount": number("Its transfers.", 120),
            "firstSeen": moment("When its block was made."),
            "eventsConsistent": flag("False when its events give somebody less than nothing."),
            "itemCount": nullable(number("Its ids that were ever moved; null of a BEP20.", 12)),
        },
    ),
    "TokenHolder": record(
        "An address that holds a token.",
        {
            "address": address("The holder."),
            "balance": text(
                "By the token's events, in the smallest unit; of a BEP1155 the sum over its ids,"
                " which may exceed a uint256.",
                "250000000000000000",
                pattern="^[1-9][0-9]*$",
            ),
        },
    ),
    "TokenBalance": record(
        "A token that an address holds.",
        {
            "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
            "name": _TOKEN["name"],
            "symbol": _TOKEN["symbol"],
            "decimals": _TOKEN["decimals"],
            "type": _TOKEN["type"],
            "balance": text("In the smallest unit.", "250000000000000000", pattern="^[1-9][0-9]*$"),
        },
    ),
    "Address": extended(
        "AddressSummary",
        "An address, also one that no indexed block mentions. It is seen as sender, recipient,"
        " created contract, miner, emitter of a log, party of a token transfer or of an internal"
        " one, or recipient of a withdrawal.",
        {
            "label": nullable(text("What the operator calls it.", "Treasury")),
            "firstSeen": nullable(moment("When it was first seen; null for one never seen.")),
            "lastSeen": nullable(moment("When it was last seen, or null.")),
            "recentTxs": array(ref("Transaction"), "Its newest 25 transactions.", maxItems=25),
        },
    ),
    "InternalTransfer": record(
        "Value that moved inside a transaction, by a contract, or a contract created there, whose"
        " value may be 0.",
        {
            "transactionHash": hash32("The transaction it happened in."),
            "blockNumber": number("The block it happened in.", 17),
            "transferIndex": number("Its place among those of the transaction, from 0.", 0),
            "type": one_of(
                "How it moved; create also where the node does not report create2.",
                ("call", "create", "create2", "selfdestruct"),
            ),
            "fromAddress": address("The contract that sent it."),
            "toAddress": address("Who received it; of a creation the new contract."),
            "value": amount("How much, in wei.", "1000000000000000000"),
            "timestamp": moment("When its block was made."),
        },
    ),
    "TokenTransfer": record(
        "A token changing hands; one record for each id of a TransferBatch.",
        {
            **_PLACE,
            "batchIndex": number("Its place in a TransferBatch, else 0.", 0),
            "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
            "tokenType": token_type("The standard the token follows."),
            "fromAddress": address("Who gave; zero where tokens are minted."),
            "toAddress": address("Who got; zero where tokens are burnt."),
            "value": amount("How much, in the smallest unit; 1 of a BEP721.", "500000000000000000"),
            "tokenId": nullable(amount("Which one; null of a BEP20.", "7")),
            "timestamp": moment("When its block was made."),
            "tokenSymbol": text("The token's symbol.", "WETH", maxLength=50),
            "tokenDecimals": number("Digits of value behind the decimal point.", 18),
        },
    ),
    "DexTrade": record(
        "A trade on a decentralized exchange.",
        {
            **_PLACE,
            "dex": text("The exchange, named by its factory.", "uniswap-v2", maxLength=100),
            "pairAddress": address("The pool."),
            "maker": address("The sender of the transaction."),
            "tokenIn": address("What the pool got.", TOKEN_EXAMPLE),
            "tokenOut": address("What the pool gave."),
            "amountIn": amount("How much of tokenIn, in its unit.", "1000000000000000000"),
            "amountOut": amount("How much of tokenOut, in its unit.", "996006981039903216"),
            "timestamp": moment("When its block was made."),
            **{
                f"token{side}{field}": nullable(schema)
                for side in ("In", "Out")
                for field, schema in (
                    ("Symbol", text("Its symbol; null where it never moved.", "WETH")),
                    ("Decimals", number("Its decimals; null where it never moved.", 18)),
                )
            },
        },
    ),
}
