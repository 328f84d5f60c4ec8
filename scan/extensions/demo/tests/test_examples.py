"""The examples of /docs are answers as the document describes them."""

import orjson
import pytest

from scan.api.openapi.documentation import EXAMPLES
from tests.support.openapi_document import OPERATIONS, check, is_described

WRITTEN = orjson.loads(EXAMPLES.read_bytes())
# What needs a wallet, a webhook, a name service, a job or a stream, which the demo chain lacks.
WITHOUT = {
    *"createKey deleteKey createWebhook changeWebhook deleteWebhook listDeliveries".split(),
    *"listWebhookAddresses changeWebhookAddresses".split(),
    *"testWebhook retryDelivery getDocument listContractEvents listEventLogs getName".split(),
    *"openStream simulate getLogo postEtherscan postEthRpc postEtherscanV2 verifyContract".split(),
    *"submitSourcifyVerification submitSourcifyMetadata getSourcifyVerification".split(),
    *"checkSourcifyAddresses verifySourcifyFiles".split(),
}

pytestmark = pytest.mark.check


def test_each_operation_has_an_example_or_cannot_have_one():
    names = {operation["operationId"] for _, _, operation in OPERATIONS}
    assert names - WRITTEN.keys() <= WITHOUT


def test_examples_are_as_documented():
    described = [operation for _, _, operation in OPERATIONS if is_described(operation)]
    shown = [o for o in described if o["operationId"] in WRITTEN]
    assert len(shown) > 10
    for operation in shown:
        content = operation["responses"]["200"]["content"]["application/json"]
        check(content["schema"], WRITTEN[operation["operationId"]]["answer"], operation)
