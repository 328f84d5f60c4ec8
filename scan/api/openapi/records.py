"""The records of the chain: the fields of schema.sql's record functions."""

from scan import VERSION
from scan.api.addresses import OF_TOKEN
from scan.api.openapi.schemas import (
    LOGO_EXAMPLE,
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
from scan.ethereum.traces import TransferType

LARGER_NAMESAKE = nullable(
    address("The token with most holders of this symbol, if it has more than this one.")
)
BALANCE_SINCE = number(
    "The block since when the balance counts: of a token that is older than the index, where its"
    " balanceOf() could not be read, or has several items.",
    18_000_000,
)
_TOKEN: Json = {
    "address": address("The token's contract.", TOKEN_EXAMPLE),
    "name": text("Its name(), cleaned; may be empty.", "Wrapped Ether", maxLength=255),
    "symbol": text("Its symbol(), cleaned.", "WETH", maxLength=50),
    "decimals": number("Decimals of amounts.", 18, maximum=255),
    "type": token_type("Its standard."),
    "totalSupply": amount(
        "Its totalSupply() in the smallest unit; for NFTs without it the sum of all balances.",
        "1000000000000000000",
    ),
    "holderCount": number("Addresses that hold it.", 12),
    "firstSeen": moment("The time of its first block."),
    "verified": flag("Whether its contract's source is verified."),
    "balancesSince": number(
        "The block since when its holders are known, of a token that is older than the index.",
        18_000_000,
    ),
    "largerNamesake": LARGER_NAMESAKE,
    "logoUrl": text(
        "The path of its logo at this server, of a token list that the operator has imported.",
        f"/api/v1/logos/{LOGO_EXAMPLE}",
    ),
}
_TRANSFER_COUNT = number("Its transfers.", 120)
TOKEN_SUMMARY: Json = {
    name: schema
    for name, schema in {**_TOKEN, "transferCount": _TRANSFER_COUNT}.items()
    if name in OF_TOKEN
}
UNTRACED_BLOCKS = number(
    "Indexed blocks whose internal transfers are unknown: without traces or logs of coin.", 0
)
_BLOCK: Json = {
    "number": number("Its number.", 17),
    "hash": hash32("Its hash."),
    "timestamp": moment("Its time."),
    "miner": address("The fee recipient."),
    "txCount": number("Number of transactions.", 2),
    "gasUsed": amount("Gas used.", "55330"),
    "gasLimit": amount("Gas limit.", "30000000"),
    "parentHash": hash32("The previous block's hash."),
    "baseFeePerGas": nullable(amount("In wei; null before EIP-1559 or unknown.", "1000000000")),
    "size": nullable(number("Bytes of RLP; null if unknown.", 1531)),
    "burntFees": nullable(
        amount("Wei: base fee times what transactions used, and blobFees.", "55330000000000")
    ),
    "blobFees": nullable(amount("Wei burnt for blobs; null without any.", "131072")),
    "blobGasUsed": nullable(amount("Gas of blobs; null before EIP-4844.", "131072")),
    "excessBlobGas": nullable(amount("Blob gas beyond the target so far.", "0")),
    "blobBaseFee": nullable(amount("Wei for a unit of blob gas; null without blobs.", "1")),
}
CONFIRMATIONS = number("Blocks from its own to the newest, both counted.", 12)
_PLACE: Json = {
    "transactionHash": hash32("Its transaction."),
    "blockNumber": number("Its block.", 17),
    "logIndex": number("Its log's index in the block.", 3),
}

METHOD_ID = ref("MethodId")
INTERNAL_TYPES = tuple(transfer_type.name.lower() for transfer_type in TransferType)

# Null where the node gives no such field.
_NULL_WHERE_NOT_GIVEN: Json = {
    "blockHash": hash32("Its block's hash."),
    "nonce": nullable(number("Its nonce.", 7, format="uint64", maximum=2**64 - 1)),
    "gasLimit": nullable(amount("Its gas limit.", "60000")),
    "type": nullable(
        number("0 legacy, 1 EIP-2930, 2 EIP-1559, 3 EIP-4844, 4 EIP-7702.", 2, maximum=255)
    ),
    "maxFeePerGas": nullable(amount("In wei, from type 2 on.", "30000000000")),
    "maxPriorityFeePerGas": nullable(amount("In wei, from type 2 on.", "1000000000")),
    "maxFeePerBlobGas": nullable(amount("In wei, of type 3.", "1")),
    "blobVersionedHashes": nullable(array(hash32("A blob's hash."), "Of type 3.")),
    "cumulativeGasUsed": nullable(amount("Gas used in its block up to and with it.", "55330")),
    "methodId": METHOD_ID,
}

SCHEMAS: Json = {
    "NetworkStats": record(
        "Statistics at the indexed head.",
        {
            "latestBlock": number("The newest indexed block.", 353),
            "totalTransactions": number("Indexed transactions.", 745),
            "totalTokens": number("Indexed tokens.", 9),
            "avgGasPrice": amount(
                "Mean effective gas price in the newest 100 blocks, in wei.",
                "1513422051",
            ),
            "firstBlock": nullable(
                number("At which the index begins (SCAN_START_BLOCK); null before it is known.", 0)
            ),
            "chainId": nullable(number("The chain's id; null before the first block.", 1)),
            "version": text("Scan's version.", VERSION),
            "chainName": nullable(text("SCAN_CHAIN_NAME, or null.", "BNB Chain")),
            "keptFrom": ref("KeptFrom"),
            "completeFrom": {
                "description": "By table that lacks rows.",
                "type": "object",
                "additionalProperties": ref("CompleteFrom"),
            },
        },
        optional=("keptFrom", "completeFrom"),
    ),
    "Block": record("A block.", _BLOCK),
    "BlockDetail": extended(
        "Block",
        "A block with withdrawals and uncles.",
        {
            "confirmations": CONFIRMATIONS,
            "incomplete": ref("Incomplete"),
            "withdrawals": array(ref("Withdrawal"), "Its withdrawals; absent if there are none."),
            "miningReward": amount(
                "What the protocol paid its miner, also for uncles, in wei; absent if nothing.",
                "5000000000000000000",
            ),
            "uncles": array(ref("Uncle"), "Uncles that it includes; absent if there are none."),
            "blockAccessListHash": hash32(
                "Of the accounts that it touched (EIP-7928); absent before Amsterdam."
            ),
            "slotNumber": number(
                "Its slot of the consensus layer (EIP-7843); absent before Amsterdam.", 9_600_000
            ),
            "chainFields": ref("ChainFields"),
        },
        optional=(
            *("incomplete", "withdrawals", "miningReward", "uncles"),
            *("blockAccessListHash", "slotNumber", "chainFields"),
        ),
    ),
    "ChainFields": {
        "type": "object",
        "description": "Fields of the chain's own, by its node's names; absent if it has none.",
        "additionalProperties": True,
        "example": {"typeName": "deposit", "depositNonce": "7"},
    },
    "FeeParts": record(
        "What the fee is made of, in wei.",
        {
            "execution": amount("Gas used times gas price.", "55330000000000"),
            "blob": nullable(amount("For blobs, by EIP-4844.", "131072")),
            "l1": nullable(amount("For the transaction's data on L1.", "1201")),
            "operator": nullable(amount("For the operator of a rollup.", "21")),
        },
    ),
    "Uncle": record(
        "A block that another replaced, and that a later one includes.",
        {
            "number": number("Its number.", 16),
            "hash": hash32("Its hash."),
            "miner": address("Its miner."),
            "timestamp": moment("Its time."),
            "reward": nullable(
                amount("Of its miner, in wei; null: unknown.", "4375000000000000000")
            ),
        },
    ),
    "Withdrawal": record(
        "A withdrawal of a validator (EIP-4895).",
        {
            "index": number("Its index in the chain.", 17),
            "validatorIndex": number("The validator.", 42),
            "address": address("The recipient."),
            "amount": amount("In wei, or in 10^-18 of its unit.", "17234567000000000"),
            "unit": text("What it is of, where not of the chain's coin.", "mGNO"),
        },
        optional=("unit",),
    ),
    "Transaction": record(
        "A mined transaction.",
        {
            "hash": hash32("Its hash."),
            "blockNumber": number("Its block.", 17),
            "fromAddress": address("The sender."),
            "toAddress": nullable(address("The recipient; null for a contract creation.")),
            "value": amount("In wei.", "1000000000000000000"),
            "gasPrice": amount("The effective gas price in wei.", "1513422051"),
            "gasUsed": amount("Gas used.", "21000"),
            "status": flag("Whether it succeeded."),
            "timestamp": moment("Its block's time."),
            "transactionIndex": number("Its index in the block.", 0),
            "contractAddress": nullable(address("The contract it created, if any.")),
            **_NULL_WHERE_NOT_GIVEN,
            "fee": amount(
                "What the sender paid, in wei: gas used times gas price, what its blobs cost, and"
                " on rollups the fees for L1 and of the operator.",
                "55330000000000",
            ),
            "feeParts": ref("FeeParts"),
            "mint": amount("In wei, by a deposit."),
            "chainFields": ref("ChainFields"),
        },
        optional=("feeParts", "mint", "chainFields"),
    ),
    "ListedToken": record(
        "What a token list says of a token, beside what its contract says.",
        {
            "list": text("The list's name.", "Uniswap Labs Default", maxLength=60),
            "name": text("The token's name.", "Wrapped Ether", maxLength=60),
            "symbol": text("Its symbol.", "WETH", maxLength=20),
        },
    ),
    "Token": record("A token.", _TOKEN, optional=("logoUrl", "balancesSince")),
    "TokenDetail": extended(
        "Token",
        "A token with details.",
        {
            "transferCount": _TRANSFER_COUNT,
            "eventsConsistent": flag("False if its events result in a negative balance."),
            "itemCount": nullable(number("Its items with a transfer; null for BEP20.", 12)),
            "listedAs": ref("ListedToken"),
        },
        optional=("listedAs",),
    ),
    "TokenHolder": record(
        "A holder of a token.",
        {
            "address": address("The holder."),
            "balance": text(
                "From the token's events, in the smallest unit; for BEP1155 the sum over all ids,"
                " which may exceed a uint256.",
                "250000000000000000",
                pattern="^[0-9]+$",
            ),
            "balanceSince": BALANCE_SINCE,
        },
        optional=("balanceSince",),
    ),
    "TokenBalance": record(
        "A token held by an address.",
        {
            "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
            "name": _TOKEN["name"],
            "symbol": _TOKEN["symbol"],
            "decimals": _TOKEN["decimals"],
            "type": _TOKEN["type"],
            "balance": text("In the smallest unit.", "250000000000000000", pattern="^[0-9]+$"),
            "largerNamesake": LARGER_NAMESAKE,
            "balanceSince": BALANCE_SINCE,
        },
        optional=("balanceSince",),
    ),
    "Address": extended(
        "AddressSummary",
        "An address, which need not be indexed. It is seen as sender, recipient, created contract,"
        " miner, emitter of a log, party of a token or internal transfer, or recipient of a"
        " withdrawal.",
        {
            "label": nullable(text("The operator's label.", "Treasury")),
            "firstSeen": nullable(moment("When it was first seen, or null.")),
            "lastSeen": nullable(moment("When it was last seen, or null.")),
            "recentTxs": array(ref("Transaction"), "Its newest 25 transactions.", maxItems=25),
            "creation": ref("Creation"),
        },
    ),
    "InternalTransfer": record(
        "A transfer of value by a contract inside a transaction, or a contract creation there,"
        " whose value may be 0.",
        {
            "transactionHash": hash32("Its transaction."),
            "blockNumber": number("Its block.", 17),
            "transferIndex": number("Its index in the transaction.", 0),
            "type": one_of(
                "Its kind; create also for create2 if the node does not distinguish them; transfer"
                " by a log, which tells none.",
                INTERNAL_TYPES,
            ),
            "fromAddress": address("The sending contract."),
            "toAddress": address("The recipient or created contract."),
            "value": amount("In wei.", "1000000000000000000"),
            "timestamp": moment("Its block's time."),
            "source": one_of(
                "What it is known by: the node's trace, or where it gave none the log of EIP-7708.",
                ("trace", "log"),
            ),
        },
    ),
    "TokenTransfer": record(
        "A token transfer; a TransferBatch has one per id.",
        {
            **_PLACE,
            "batchIndex": number("Its index in a TransferBatch, otherwise 0.", 0),
            "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
            "tokenType": token_type("The token's standard."),
            "fromAddress": address("The sender; zero for a mint."),
            "toAddress": address("The recipient; zero for a burn."),
            "value": amount("In the smallest unit; 1 for BEP721.", "500000000000000000"),
            "tokenId": nullable(amount("The item's id; null for BEP20.", "7")),
            "timestamp": moment("Its block's time."),
            "tokenSymbol": ref("Symbol"),
            "tokenDecimals": ref("Decimals"),
        },
    ),
    "DexTrade": record(
        "A trade on a decentralized exchange.",
        {
            **_PLACE,
            "dex": text(
                "The exchange's name, by its factory; v2-unconfirmed or v3-unconfirmed where the"
                " factory that the pool names does not know the pool.",
                "uniswap-v2",
                maxLength=100,
            ),
            "pairAddress": address("The pool."),
            "maker": address("The transaction's sender."),
            "tokenIn": address("The token sold to the pool.", TOKEN_EXAMPLE),
            "tokenOut": address("The token bought from the pool."),
            "amountIn": amount("Of tokenIn, in its smallest unit.", "1000000000000000000"),
            "amountOut": amount("Of tokenOut, in its smallest unit.", "996006981039903216"),
            "timestamp": moment("Its block's time."),
            "tokenInSymbol": ref("Symbol"),
            "tokenInDecimals": ref("Decimals"),
            "tokenOutSymbol": ref("Symbol"),
            "tokenOutDecimals": ref("Decimals"),
            "backedByTransfers": nullable(
                flag(
                    "Whether transfers of the same transaction into and out of the pool bear the"
                    " amounts, which are what the pool's event says; null where they bear at least"
                    " half (tokens that take a fee of transfers, or are rebased), and where there"
                    " are too many of them in the block."
                )
            ),
        },
    ),
}
