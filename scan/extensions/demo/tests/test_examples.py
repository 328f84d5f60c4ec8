"""The examples of /docs, which examples_writing.py in tests/extensions/ writes, are answers as the
document describes them."""

import orjson
import pytest

from scan.api.openapi.documentation import EXAMPLES
from tests.support.openapi_document import OPERATIONS, check, is_described

WRITTEN = orjson.loads(EXAMPLES.read_bytes())

pytestmark = pytest.mark.check


def test_each_operation_has_an_example_or_cannot_have_one():
    without = {"getLogo"}  # an image
    assert {operation["operationId"] for _, _, operation in OPERATIONS} - WRITTEN.keys() == without


def test_examples_are_as_documented():
    described = [operation for _, _, operation in OPERATIONS if is_described(operation)]
    shown = [o for o in described if o["operationId"] in WRITTEN]
    assert len(shown) > 80
    for operation in shown:
        success = min(operation["responses"])
        content = operation["responses"][success]["content"]["application/json"]
        check(content["schema"], WRITTEN[operation["operationId"]]["answer"], operation)
