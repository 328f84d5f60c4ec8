"""Every record that is answered has the fields of its OpenAPI schema, all of them and no other."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.conftest import Played
from tests.support.brute_force import KEYS
from tests.support.openapi_document import resolved, whole

ENTITIES = {
    "transactions": "Transaction",
    "blocks": "Block",
    "tokens": "Token",
    "token_transfers": "TokenTransfer",
    "dex_trades": "DexTrade",
    "internal_transfers": "InternalTransfer",
    "logs": "Log",
    "user_operations": "UserOperation",
}
# Which the scenario has none of; tests/indexer/test_user_operations.py looks at theirs.
ELSEWHERE = {"user_operations"}
REQUESTS = ("requestsHash", "requestCount")
AMSTERDAM = ("blockAccessListHash", "slotNumber")
# Of a database that keeps recent rows alone, and of extensions that were off.
OF_KEPT_ROWS = {"keptFrom", "completeFrom", "incomplete"}
OPTIONAL = {
    "AddressSummary": {"delegate", "token"},  # of an account that delegates; where it is asked for
    "Address": {"delegate", "token"},
    # Of one that an imported token list has, or that is older than the index.
    "Token": {"logoUrl", "balancesSince"},
    "TokenDetail": {"logoUrl", "listedAs", "balancesSince"},
    "TokenHolder": {"balanceSince"},
    "TokenBalance": {"balanceSince"},
    "ItemBalance": {"balanceSince"},
    # Of a block that has some.
    "BlockDetail": {
        *("withdrawals", "chainFields", "uncles", "miningReward", "blobCount"),
        *(*REQUESTS, *AMSTERDAM),
    },
    "Withdrawal": {"unit"},  # on Gnosis
    "Transaction": {"feeParts", "mint", "chainFields"},  # of rollups
    "TransactionDetail": {
        *("mint", "chainFields", "userOperations", "userOperationCount"),
        *("authorizations", "authorizationCount"),
        *("messagesToL1", "redemptions"),
    },
    # Words have none of these.
    "SummaryPart": {"type", "address", "value", "tokenId", "verified", "largerNamesake"},
    "DecodedArgument": {"hashed"},  # of an indexed argument of which the log has the hash alone
}
# A path with what stands for its parameters, and the schema of its answer.
PATHS = {
    "/stats": "NetworkStats",
    "/blocks": "BlockPage",
    "/blocks/{number}": "BlockDetail",
    "/transactions": "TransactionPage",
    "/transactions/{transaction}": "TransactionDetail",
    "/transactions/{moving}/internal": "InternalTransferPage",
    "/tokens": "TokenPage",
    "/tokens/{token}": "TokenDetail",
    "/tokens/{token}/holders": "TokenHolderPage",
    "/tokens/{collection}/items": "ItemPage",
    "/tokens/{collection}/items/{item}": "ItemDetail",
    "/tokens/{collection}/items/{item}/transfers": "TransferPage",
    "/addresses?addresses={holder}": "AddressList",
    "/addresses/{holder}": "Address",
    "/addresses/{holder}/tokens": "TokenBalancePage",
    "/addresses/{collector}/items": "ItemBalancePage",
    "/addresses/{mover}/internal": "AddressInternalTransferPage",
    "/logs": "LogPage",
    "/authorizations": "AuthorizationPage",
    "/blobs": "BlobPage",
    "/contract-creations": "ContractCreationPage",
    "/search?q={token}": "SearchResults",
}


def require_fields(schema: dict[str, Any], value: Any, at: str) -> None:
    """Of the value and of all that it holds; `at` is the schema's name, or where it stands."""
    if "$ref" in schema:
        at = schema["$ref"].rpartition("/")[2]
        schema = whole(schema, value)
    if "anyOf" in schema and value is not None:
        [schema] = [other for other in schema["anyOf"] if other != {"type": "null"}]
        require_fields(schema, value, at)
    elif isinstance(value, dict) and "properties" in schema:
        fields = set(schema["properties"])
        assert fields - OPTIONAL.get(at, set()) - OF_KEPT_ROWS <= set(value) <= fields, at
        for name, below in value.items():
            require_fields(schema["properties"][name], below, f"{at}.{name}")
    elif isinstance(value, list) and "items" in schema:
        for item in value:
            require_fields(schema["items"], item, at)


@pytest.mark.check
def test_entities_are_those_of_queries() -> None:
    assert ENTITIES.keys() == KEYS.keys()
    for name in ("Query", "QueryAnswer"):
        schema = resolved({"$ref": f"#/components/schemas/{name}"})
        assert set(schema["discriminator"]["mapping"]) == set(ENTITIES)


@pytest.mark.parametrize("entity", sorted(ENTITIES.keys() - ELSEWHERE))
def test_a_query_answers_whole_records(client: FlaskClient, entity: str) -> None:
    records = client.post("/api/v1/query", json={"entity": entity, "limit": 100}).json["data"]
    assert records
    for record in records:
        require_fields({"$ref": f"#/components/schemas/{ENTITIES[entity]}"}, record, entity)


@pytest.fixture(scope="module")
def known(scenario: Played) -> dict[str, object]:
    """Things of the chain of which every list has something to show."""
    truth = scenario.truth
    item = next(t for t in truth.token_transfers if t["tokenType"] == "BEP1155")
    token = next(t for t in truth.tokens if t["holderCount"])["address"]
    return {
        "number": truth.head,
        "transaction": next(t for t in truth.logs)["transactionHash"],
        "moving": truth.internal_transfers[0]["transactionHash"],
        "mover": truth.internal_transfers[0]["fromAddress"],
        "token": token,
        "holder": next(iter(truth.holders[token])),
        "collection": item["tokenAddress"],
        "item": item["tokenId"],
        "collector": next(iter(truth.holders[item["tokenAddress"]])),
    }


@pytest.mark.parametrize("path", PATHS)
def test_an_endpoint_answers_whole_records(
    client: FlaskClient, known: dict[str, object], path: str
) -> None:
    answer = client.get("/api/v1" + path.format(**known))
    assert answer.status_code == 200, answer.text
    lists = [value for value in answer.json.values() if isinstance(value, list)]
    assert all(lists), "an empty list shows no record"
    require_fields({"$ref": f"#/components/schemas/{PATHS[path]}"}, answer.json, path)
