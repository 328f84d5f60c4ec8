"""The document and the code, held to each other."""

import re

import pytest
from openapi_spec_validator import validate

from app import create_app
from scan.api.openapi.document import ERRORS
from scan.errors import ScanError
from scan.settings import Settings
from tests.support.extensions_document import taken_away
from tests.support.openapi_document import DOCUMENT, OPERATIONS, check, resolved

# For people, Prometheus and language models, in forms of their own.
PAGES = {"/metrics", "/docs/", "/docs/index.html", "/docs/{name}", "/docs/{version}/{name}", "/mcp"}
PAGES |= {"/.well-known/api-catalog", "/.well-known/security.txt", "/robots.txt", "/llms.txt"}


def nodes(value, at=""):
    """Every object of the document, with where it stands."""
    if isinstance(value, dict):
        yield at, value
        for name, below in value.items():
            if name not in ("example", "examples", "default"):
                yield from nodes(below, f"{at}/{name}")
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from nodes(below, f"{at}/{number}")


@pytest.mark.check
def test_the_document_is_openapi_3_1():
    validate(DOCUMENT)
    assert DOCUMENT["openapi"].startswith("3.1.")


@pytest.mark.check
def test_every_path_of_the_code_is_documented_and_no_other():
    environ = {"DATABASE_URL": "postgresql://h/d", "RPC_URL": "http://127.0.0.1:1"}
    served = {
        (method.lower(), re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in create_app(Settings.from_environment(environ)).url_map.iter_rules()
        if not rule.endpoint.startswith(("pages_", "blockscout_"))
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    documented = {
        (method, server["url"].rstrip("/") + path)
        for method, path, _ in OPERATIONS
        for server in DOCUMENT["paths"][path].get("servers", [{"url": "/"}])
    }
    expected = {(method, path) for method, path in served if path not in PAGES}
    missing, unknown = sorted(expected - documented), sorted(documented - expected)
    assert not missing, f"scan/api/openapi/ lacks {missing}"
    assert not unknown, f"scan/api/openapi/ has {unknown}, which no view serves"


@pytest.mark.check
def test_every_error_of_the_code_is_documented():
    # Those of scan/errors.py: a command's own errors, imported by other tests, are no responses.
    errors = [e for e in ScanError.__subclasses__() if e.__module__ == ScanError.__module__]
    codes = {(error.status, error.code) for error in errors}
    documented = {(status, code) for status, (*_, codes) in ERRORS.items() for code in codes}
    # Those of what is no readable request; test_gunicorn sends some.
    codes |= {(400, "bad_request"), (414, "too_large"), (431, "too_large")}
    assert codes == documented | {
        (405, "method_not_allowed"),  # an answer to no operation
        (403, "foreign_form"),  # to forms of pages
        (421, "misdirected_request"),  # only nginx sees it
    }


@pytest.mark.check
def test_every_name_in_the_document_is_explained():
    name = re.compile(r"/(properties|parameters|responses)/(?!properties$|headers$)[^/]+$")
    named = [(at, node) for at, node in nodes(DOCUMENT) if name.search(at) and "$ref" not in node]
    assert len(named) > 300
    assert [at for at, node in named if not node.get("description")] == []


@pytest.mark.check
def test_every_field_and_parameter_has_an_example():
    plain = [
        (at, node)
        for at, node in nodes(DOCUMENT["components"]["schemas"])
        if re.search(r"/properties/[^/]+$", at)
        and not {"$ref", "const", "enum", "anyOf", "allOf"} & node.keys()
        and node.get("type") not in ("array", "object", ["array", "null"])
    ]
    assert len(plain) > 100
    assert [at for at, node in plain if not node.get("examples")] == []
    parameters = DOCUMENT["components"]["parameters"]
    of_paths = {name: param for name, param in parameters.items() if param["in"] == "path"}
    assert len(of_paths) > 5
    for name, param in of_paths.items():
        check(param["schema"], param["example"], name)


@pytest.mark.check
def test_examples_are_what_their_schemas_say():
    with_examples = [(at, node) for at, node in nodes(DOCUMENT) if "examples" in node]
    of_schemas = [(at, node) for at, node in with_examples if isinstance(node["examples"], list)]
    of_bodies = [
        (at, node)
        for at, node in with_examples
        if isinstance(node["examples"], dict) and "schema" in node
    ]
    assert len(of_schemas) > 300 and len(of_bodies) > 5
    for at, node in of_schemas:
        for example in node["examples"]:
            check(node, example, at)
    for at, node in of_bodies:
        for named in node["examples"].values():
            check(node["schema"], named["value"], at)


def test_the_document_is_short_and_lists_what_is_offered(client):
    served = client.get("/api/v1/openapi.json")
    assert served.json == DOCUMENT
    # On average; two thirds are schemas, which grow with fields, too.
    most_bytes_an_operation = 2_960
    assert len(served.data) < most_bytes_an_operation * len(OPERATIONS)
    offered = DOCUMENT["paths"]["/api"]["get"]["description"]
    assert "- `account`: balance, balancemulti, txlist," in offered
    assert "- `logs`: getLogs" in offered and "eth_getBlockByNumber" in offered


def kinds(schema):
    schema = resolved(schema) if "$ref" in schema else schema
    declared = schema.get("type", ())
    names = {declared} if isinstance(declared, str) else {*declared}
    for form in ("anyOf", "oneOf", "allOf"):
        names |= {kind for part in schema.get(form, ()) for kind in kinds(part)}
    return names - {"null"}


@pytest.mark.check
def test_a_name_has_one_kind_of_value_in_all_answers():
    records = [
        node
        for _, node in nodes(DOCUMENT)
        if isinstance(node.get("properties"), dict)
        and {"type", "allOf", "required"} & node.keys()
        and node.get("additionalProperties") is not False
    ]
    kinds_by_name = {}  # sets of JSON types
    for record in records:
        for name, schema in record["properties"].items():
            kinds_by_name.setdefault(name, set()).add(frozenset(kinds(schema)))
    several = {name for name, sets in kinds_by_name.items() if len(sets - {frozenset()}) > 1}
    # Names of one thing with another kind of value in some record, with the reason. A new name
    # comes here only where something outside Scan has chosen it.
    of_several_kinds = {
        # By SPEC: pages of lists and their counts, errors, events of webhooks, signed messages.
        *"code data error event status timestamp total type".split(),
        # By Ethereum: any uint256 of an authorization (EIP-7702) or of a nonce with a lane
        # (ERC-4337) or a version (Optimism) in its upper bits.
        *"chainId nonce".split(),
        # A number of calls and an amount in a pool; a file's and the places of a call within calls.
        *"depth path".split(),
        # Changes have what changed by its name, before and after.
        *"after before balance slot".split(),
        # Numbers of things that a list has elsewhere.
        *"blocks calls days others removed trades transactions".split(),
        # Of prices and worth; of its record; of a list, and of each by name.
        *"history pools suspicious tokens".split(),
        *"at column fee function incomplete worth completeFrom".split(),
    }
    assert several == of_several_kinds or (taken_away() and several < of_several_kinds)
