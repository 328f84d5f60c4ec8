"""Requests that nobody thought of, made from the document by schemathesis."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from app import create_app
from scan.http.index_version import REQUIRED
from tests.support import openapi_document

pytestmark = pytest.mark.long

ALLOWED, NOT_ALLOWED = "positive", "negative"


def schemas_of(operation):
    """Those of its body; one that is empty allows everything."""
    return [body["schema"] for body in operation.get("requestBody", {}).get("content", {}).values()]


@pytest.fixture(scope="module")
def api(own_index):
    import schemathesis  # takes 0.6 s, and every worker collects this file

    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", create_app(own_index.settings))


@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [
        (method, path, mode)
        for method, path, operation in openapi_document.OPERATIONS
        for mode in (ALLOWED, NOT_ALLOWED)
        if mode is ALLOWED or operation.get("parameters") or any(schemas_of(operation))
    ],
)
def test_no_fault_and_no_undocumented_answer(api, method, path, mode):
    from schemathesis import GenerationMode, checks
    from schemathesis.specs.openapi import checks as of_openapi

    every = [
        checks.not_a_server_error,
        of_openapi.status_code_conformance,
        of_openapi.content_type_conformance,
        of_openapi.response_headers_conformance,
        of_openapi.response_schema_conformance,
        # Etherscan's form reports errors with status 200.
        *[of_openapi.negative_data_rejection] * (path not in ("/api", "/v2/api")),
    ]

    @given(case=api[path][method.upper()].as_strategy(generation_mode=GenerationMode(mode)))
    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case):
        required = str((case.headers or {}).get(REQUIRED, ""))
        if required.isdigit():  # 503 is right for a block that is yet to come
            case.headers[REQUIRED] = "0"
        # Without a server schemathesis does not decode what is compressed.
        case.call_and_validate(checks=every, headers={"Accept-Encoding": "identity"})

    ask()
