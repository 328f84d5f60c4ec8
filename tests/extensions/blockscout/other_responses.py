"""Responses that published.json.gz lacks: the fields and types that clients of Blockscout read."""

from typing import Any

Json = dict[str, Any]

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
NOTHING = {"type": "null"}  # of what the index does not know


def _of(schema: str) -> Json:
    return {"$ref": f"#/components/schemas/{schema}"}


def _object(**fields: Json) -> Json:
    return {
        "type": "object",
        "properties": fields,
        "required": [*fields],
        "additionalProperties": False,
    }


def _items(item: Json) -> Json:
    return {"type": "array", "items": item}


def _page(item: Json) -> Json:
    following = {"type": ["object", "null"]}
    return _object(items=_items(item), next_page_params=following)


HASH, WEI, TIME, HEX = _of("FullHash"), _of("IntegerString"), _of("Timestamp"), _of("HexString")
OPTIONAL_HEX = {"anyOf": [HEX, NOTHING]}
HASH_OF_ADDRESS = _of("AddressHash")

DEPOSIT = _object(
    index=NUMBER,
    transaction_hash=HASH,
    block_hash=HASH,
    block_number=NUMBER,
    block_timestamp=TIME,
    pubkey={"type": "string", "pattern": "^0x[0-9a-f]{96}$"},
    withdrawal_credentials=HASH,
    withdrawal_address={"anyOf": [_of("Address"), NOTHING]},
    amount=WEI,
    signature={"type": "string", "pattern": "^0x[0-9a-f]{192}$"},
    status=NOTHING,
    from_address=_of("Address"),
)
BLOB = _object(hash=HASH, blob_data=NOTHING, kzg_commitment=NOTHING, kzg_proof=NOTHING)
CALLED = _object(
    contract_address=_of("Address"),
    transactions_count={"type": "integer", "minimum": 1},
    total_gas_used={"type": "integer", "minimum": 1},
    balance=NOTHING,
)
OPTIMISM_WITHDRAWAL = _object(
    msg_nonce_raw=WEI,
    msg_nonce=NUMBER,
    msg_nonce_version=NUMBER,
    **{"from": _of("Address")},
    l2_transaction_hash=HASH,
    l2_timestamp=TIME,
    status=NOTHING,
    l1_transaction_hash=NOTHING,
    challenge_period_end=NOTHING,
    portal_contract_address_hash=NOTHING,
    msg_sender_address_hash=HASH_OF_ADDRESS,
    msg_target_address_hash=HASH_OF_ADDRESS,
    msg_value=WEI,
    msg_gas_limit=WEI,
    msg_data=OPTIONAL_HEX,
)
ARBITRUM_MESSAGE = _object(
    id=NUMBER,
    origination_address_hash=HASH_OF_ADDRESS,
    origination_address=HASH_OF_ADDRESS,
    origination_transaction_hash=HASH,
    origination_timestamp=TIME,
    origination_transaction_block_number=NUMBER,
    completion_transaction_hash=NOTHING,
    status={"enum": ["initiated"]},
)
ARBITRUM_WITHDRAWAL = _object(
    id=NUMBER,
    status={"enum": ["initiated"]},
    caller_address_hash=HASH_OF_ADDRESS,
    caller=HASH_OF_ADDRESS,
    destination_address_hash=HASH_OF_ADDRESS,
    destination=HASH_OF_ADDRESS,
    arb_block_number=NUMBER,
    eth_block_number=NOTHING,
    l2_timestamp=NUMBER,
    callvalue=WEI,
    data=OPTIONAL_HEX,
    token=NOTHING,
    completion_transaction_hash=NOTHING,
)


def _described(**more: Json) -> Json:
    shape = _object(id=TEXT, title=TEXT, description=TEXT, **more)
    shape["properties"]["units"] = TEXT
    return shape


COUNTER = _described(value=TEXT)
INFO = _described(resolutions=_items({"enum": ["DAY", "WEEK", "MONTH", "YEAR"]}))
POINT = _object(date=TEXT, date_to=TEXT, value=TEXT, is_approximate=FLAG)
LINE = _object(chart=_items(POINT), info=INFO)
STATS = "/stats-service/api/v1"

MAIN_PAGE = _object(
    average_block_time=COUNTER,
    total_addresses=COUNTER,
    total_blocks=COUNTER,
    total_transactions=COUNTER,
    yesterday_transactions=COUNTER,
    daily_new_transactions=LINE,
)
MAIN_PAGE["required"].remove("yesterday_transactions")  # absent on a chain's first day

OTHER_RESPONSES: dict[str, Json] = {
    **{
        f"/api/v2{path}/beacon/deposits": _page(DEPOSIT)
        for path in ("", "/addresses/{}", "/blocks/{}", "/transactions/{}")
    },
    "/api/v2/beacon/deposits/count": _object(deposits_count=NUMBER),
    "/api/v2/transactions/{}/blobs": _object(items=_items(BLOB)),
    "/api/v2/withdrawals/counters": _object(withdrawals_count=WEI, withdrawals_sum=NOTHING),
    "/api/v2/stats/hot-smart-contracts": _page(CALLED),
    "/api/v2/config/indexer": _object(
        **{
            f"{name}_enabled": FLAG
            for name in (
                "indexer",
                "internal_transactions_fetcher",
                "pending_transactions_fetcher",
                "block_reward_fetcher",
                "token_instance_retry_fetcher",
                "token_instance_sanitize_fetcher",
            )
        }
    ),
    "/api/v2/config/public-metrics": _object(update_period_hours=NUMBER),
    "/api/v2/config/smart-contracts/languages": _object(languages=_items(TEXT)),
    "/api/v2/optimism/withdrawals": _page(OPTIMISM_WITHDRAWAL),
    "/api/v2/optimism/withdrawals/count": NUMBER,
    "/api/v2/arbitrum/messages/from-rollup": _page(ARBITRUM_MESSAGE),
    "/api/v2/arbitrum/messages/from-rollup/count": NUMBER,
    "/api/v2/arbitrum/messages/withdrawals/{}": _object(items=_items(ARBITRUM_WITHDRAWAL)),
    f"{STATS}/counters": _object(counters=_items(COUNTER)),
    f"{STATS}/lines": _object(sections=_items(_object(id=TEXT, title=TEXT, charts=_items(INFO)))),
    f"{STATS}/lines/{{}}": LINE,
    f"{STATS}/pages/main": MAIN_PAGE,
    f"{STATS}/pages/contracts": _object(
        total_contracts=COUNTER,
        total_verified_contracts=COUNTER,
        new_verified_contracts_24h=COUNTER,
    ),
}
