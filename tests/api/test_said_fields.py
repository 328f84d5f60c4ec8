"""What contracts and the node say is named in each record that may show it; check_said() of
openapi_document.py looks at the answers of all tests."""

from scan.api.openapi.schemas import COLUMN_OF_FIELD, OF_A_TOKEN, SAID_BY_NODE, declared
from scan.ethereum.column_types import SAID
from scan.indexer.block_check import stored_values
from tests.support.openapi_document import DOCUMENT


def objects(schema):
    """The properties of a record, and of each object that stands in it."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield schema["properties"]
        schema = [*schema.values()]
    for below in schema if isinstance(schema, list) else ():
        yield from objects(below)


def test_each_field_that_shows_a_column_that_is_said_says_so():
    """In any record, nested ones included; and its record names fields that nothing proves."""
    kinds = stored_values()
    said = {f for f, (table, column) in COLUMN_OF_FIELD.items() if kinds[table][column] is SAID}
    ends = (f"{SAID_BY_NODE}.", f"{SAID_BY_NODE}, where {OF_A_TOKEN}.")
    for name, schema in DOCUMENT["components"]["schemas"].items():
        for properties in objects(schema) if not name.endswith("Query") else ():  # it is sent
            proven = {*declared("records").get(name, {}).get("_proven", ())}
            shown = said & properties.keys() - proven
            named = {n for n, s in properties.items() if s.get("description", "").endswith(ends)}
            assert shown <= named, (name, shown - named)
            assert not named or {"unproven", "proven"} & properties.keys(), name
