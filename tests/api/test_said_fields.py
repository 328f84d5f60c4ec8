"""What contracts and the node say is named in each record that shows it, on every path.

check_said() of openapi_document.py looks at the answers of all tests; here every path is asked, so
that no record is left out.
"""

from itertools import product

from scan.api.openapi.schemas import COLUMN_OF_FIELD, OF_A_TOKEN, SAID_BY_NODE, declared
from scan.ethereum.column_types import SAID
from scan.indexer.block_check import stored_values
from tests.support.openapi_document import DOCUMENT, OPERATIONS, check_said, whole

WITHOUT_RECORDS = ("/api/v1/stream", "/api/v1/openapi.json")
SCHEMAS = DOCUMENT["components"]["schemas"]
# Records that no path shows of the scenario's chain.
TESTED_ELSEWHERE = {
    "ContractLife": "it needs one that ended: tests/extensions/test_contract_lives.py",
    "Contract": "it needs a compiler: tests/verification/test_verify.py",
    **dict.fromkeys(
        ("CallAnswer", "EncodedCall", "Values"),
        "tests/support/openapi_document.py, whoever reads them",
    ),
    "Simulation": "likewise",
    **dict.fromkeys(("Address", "Name"), "scan/extensions/names/tests"),
    "SimulatedTransfer": "scan/extensions/simulation/tests/test_simulation.py",
    **dict.fromkeys(("TokenTransferEvent", "DexTradeEvent"), "tests/webhooks/test_event_types.py"),
}


def objects(schema):
    """The properties of a record, and of each object that stands in it."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield schema["properties"]
        schema = [*schema.values()]
    for below in schema if isinstance(schema, list) else ():
        yield from objects(below)


def said_in(properties):
    ends = (f"{SAID_BY_NODE}.", f"{SAID_BY_NODE}, where {OF_A_TOKEN}.")
    return {n for n, s in properties.items() if s.get("description", "").endswith(ends)}


def records(value):
    if isinstance(value, dict):
        yield value
        value = [*value.values()]
    for below in value if isinstance(value, list) else ():
        yield from records(below)


def paths(scenario):
    """Each path for some of each that it may be about."""
    truth, forge = scenario.truth, scenario.stage.contracts["forge"].address.lower()
    trade = truth.dex_trades[0]
    item = next(t for t in truth.token_transfers if t["tokenAddress"] == forge)
    addresses = [*scenario.stage.people[:3], forge, trade["pairAddress"], trade["tokenIn"]]
    values = {
        "address": addresses,
        "transaction_hash": [trade["transactionHash"]],
        "block": [str(trade["blockNumber"])],
        "token_id": [item["tokenId"]],
    }
    for method, path, _ in OPERATIONS:
        names = [name for name in values if f"{{{name}}}" in path]
        if method == "get" and path.count("{") == len(names) and path not in WITHOUT_RECORDS:
            for chosen in product(*(values[name] for name in names)):
                yield path.format_map(dict(zip(names, chosen, strict=True)))
    yield f"/api/v1/addresses?include=token&addresses={','.join(addresses)}"
    yield "/api/v1/search?q=Mer"


def shows(record, said, fields):
    """Whether a record is one with these fields, and has those that are said."""
    present = said - ({"name", "implementation"} - record.keys())
    return bool(present) and present <= record.keys() <= fields.keys()


def test_each_record_names_what_is_said_on_every_path(own_index, scenario):
    said = {
        name: properties
        for name, schema in SCHEMAS.items()
        for properties in objects(schema)
        if said_in(properties)
    }
    client = own_index.client()
    shown = [
        (name, fields, record, path)
        for path in paths(scenario)
        for record in records(client.get(path).get_json(silent=True))
        for name, properties in said.items()
        for fields in [whole(SCHEMAS[name], record)["properties"]]
        if shows(record, said_in(properties), fields)
    ]
    for _, fields, record, path in shown:
        check_said(fields, record, path)
    missing = said.keys() - {name for name, *_ in shown}
    assert missing == TESTED_ELSEWHERE.keys() & said.keys()


def test_each_field_that_shows_a_column_that_is_said_says_so():
    """In any record, nested ones included; and its record names fields that nothing proves."""
    kinds = stored_values()
    said = {f for f, (table, column) in COLUMN_OF_FIELD.items() if kinds[table][column] is SAID}
    for name, schema in SCHEMAS.items():
        for properties in objects(schema) if not name.endswith("Query") else ():  # it is sent
            shown = said & properties.keys() - {
                *declared("records").get(name, {}).get("_proven", ())
            }
            assert shown <= said_in(properties), (name, shown - said_in(properties))
            assert not said_in(properties) or {"unproven", "proven"} & properties.keys(), name
