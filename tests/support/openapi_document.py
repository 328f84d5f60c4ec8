"""The OpenAPI document, and whether an answer is as it says."""

import functools
import json
import re
import threading
from collections import Counter

import jsonschema_rs

from scan.api.openapi.document import ALWAYS, document
from scan.api.openapi.schemas import OF_A_TOKEN, SAID_BY_NODE
from scan.ethereum.request_node import TAGS

DOCUMENT = document()
METHODS = ("get", "post", "patch", "put", "delete")
OPERATIONS = [
    (method, path, page[method])
    for path, page in DOCUMENT["paths"].items()
    for method in METHODS
    if method in page
]


TEMPLATES = {
    path: re.compile(re.sub(r"\{\w+\}", "[^/]+", path).replace(".", r"\.") + "/?")
    for path in DOCUMENT["paths"]
}
REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')
CHECKED_OF_EACH_KIND = 3  # and those with another value of a field that has a list of them
WORDS = re.compile(rb'"(source|kind|type|standard|status|evidence)": ?"([a-z_]{3,30})"')
# Headers that are documented where they occur.
OF_SOME = {"X-Scan-Balances-Since", "X-Scan-Inconsistent-Since"}


def is_described(operation):
    """Whether the document has the schema of an operation's answer, and not its publisher's."""
    content = operation["responses"][min(operation["responses"])].get("content", {})
    return "schema" in content.get("application/json", {})


def check(schema, value, at):
    errors = [
        f"{'/'.join(map(str, error.instance_path))}: {error.message}"
        for error in _validator(json.dumps(schema)).iter_errors(value)
    ]
    assert not errors, (at, errors[:3])


@functools.cache
def _validator(schema):
    """With the schemas that it names alone: with all it takes ten times as long."""
    schemas, ahead = {}, {schema}
    while ahead:
        names = {name for text in ahead for name in REFERENCE.findall(text)} - schemas.keys()
        schemas |= {name: DOCUMENT["components"]["schemas"][name] for name in names}
        ahead = {json.dumps(schemas[name]) for name in names}
    whole_schema = {**json.loads(schema), "components": {"schemas": schemas}}
    return jsonschema_rs.Draft202012Validator(whole_schema)


@functools.lru_cache(10_000)
def _template_of(path):
    return next((t for t, match in TEMPLATES.items() if match.fullmatch(path)), None)


# What is read of the node for a request: others than these, a hash covers or is compared with.
COVERED = frozenset(
    """
    eth_getProof eth_getBlockByHash eth_getBlockReceipts eth_getTransactionByHash eth_chainId
    eth_blockNumber eth_getBlockAccessList eth_getBlockByNumber
    """.split()
)
# Paths of answers in which nothing of it is shown, and why.
NOT_SHOWN = {
    "/api/v1/encode": "the function is the one that the client names",
    "/api/v1/search": "results name what nothing proves of them; a name that is nobody's is none",
    "/api/v1/tokens/{address}/transfers": "that there is such a token is all, with an empty list",
    "/api/v1/verify": "code of a creation inside has to be the compiler's, or is no match",
}


def reported(call):
    """Whether a call's answer is the node's word."""
    is_tag = call.method == "eth_getBlockByNumber" and call.params[0] in TAGS
    return is_tag or call.method not in COVERED


class Watch(threading.local):
    """Looks at the first few answers of each kind that any test gets, and at all that were read of
    the node."""

    def __init__(self):
        self._seen = Counter()
        self._words = set()  # values of enumerations in checked answers, by kind
        self.read = set()  # the methods of what was read for the answer, which nothing proves

    def reading(self, calls):
        self.read |= {call.method for call in calls if reported(call)}

    def look(self, method, path, answer):
        template = _template_of(path)
        is_own = template is not None and path.startswith("/api/v1/")  # others have no place for it
        if self.read and is_own and answer.is_json and answer.status_code == 200:
            says = is_marked(answer.json) or template in NOT_SHOWN
            assert says, (method, path, self.read, "the node's word is shown as if it were proven")
        self.read = set()
        if answer.mimetype == "text/html" and not answer.content_encoding:
            # A page says once what the node reports: no row, badge or number does.
            times = answer.text.count("Reported by the node")
            assert times <= 1 and "†" not in answer.text, (path, times)
        if template is None or method.lower() not in DOCUMENT["paths"][template]:
            return
        kind = (method.lower(), template, answer.status_code)
        words = set()
        if is_own and answer.is_json:
            words = {(*kind, *word) for word in WORDS.findall(answer.get_data())}
        self._seen[kind] += 1
        if self._seen[kind] <= CHECKED_OF_EACH_KIND or not words <= self._words:
            self._words |= words
            check_answer(method.lower(), template, answer)


def is_marked(value):
    """Whether an answer names a field that nothing proves, or says itself whether it is proven."""
    if isinstance(value, list):
        return any(map(is_marked, value))
    if not isinstance(value, dict):
        return False
    return bool(value.get("unproven")) or "proven" in value or any(map(is_marked, value.values()))


def check_answer(method, path, answer):
    """Status, headers and body are as documented, and no field is undocumented."""
    if answer.status_code == 304:  # which a client asks for by If-None-Match
        return
    documented = DOCUMENT["paths"][path][method]["responses"]
    status, family = str(answer.status_code), f"{answer.status_code // 100}XX"
    is_documented = {status, family} & documented.keys() or answer.status_code in ALWAYS
    assert is_documented, (method, path, status, answer.text)
    described = resolved(documented.get(status) or documented.get(family) or documented["default"])
    headers = described.get("headers", {}).items()
    required = {name for name, header in headers if resolved(header)["required"]}
    missing = {name for name in required if name not in answer.headers}
    assert not missing, (method, path, missing)
    assert OF_SOME.intersection(answer.headers.keys()) <= dict(headers).keys(), (method, path)
    assert answer.mimetype in described["content"], (method, path, answer.mimetype)
    if not answer.is_json or answer.content_encoding:  # a file, a stream, or compressed
        return
    schema = described["content"][answer.mimetype]["schema"]
    check(schema, answer.json, f"{method} {path} {answer.status_code}")
    check_fields(schema, answer.json, path)


def check_fields(schema, value, at):
    schema = whole(schema, value)
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        assert set(value) <= set(known), (at, set(value) - set(known))
        check_said(known, value, at)
        for name in value:
            check_fields(known[name], value[name], f"{at}/{name}")
    elif isinstance(value, list) and "items" in schema:
        for item in value[:3]:
            check_fields(schema["items"], item, at)


def check_said(fields, record, at):
    """Each field that the document calls said, as the kinds of columns do, is named by its record,
    unless the record tells whether it is proven."""
    texts = {name: schema.get("description", "") for name, schema in fields.items()}
    ends = [f"{SAID_BY_NODE}."]
    if record.get("tokenAddress") or record.get("type") in ("token", "item"):
        ends.append(f"{SAID_BY_NODE}, where {OF_A_TOKEN}.")
    names = {n for n in fields.keys() & record.keys() if texts[n].endswith((*ends,))}
    names = {name for name in names if record[name] is not None}
    # In /readyz it has ranges of blocks.
    named = {name for name in record.get("unproven", ()) if isinstance(name, str)}
    if "unproven" in record or "proven" not in record:
        assert names <= named, (at, names - named)
    fields_named = {name.partition(".")[0] for name in named}  # `logs.event` is of each log
    assert fields_named <= fields.keys(), (at, named - fields.keys())


def whole(schema, value):
    """The schema of this value: with the fields of those it extends, chosen by a discriminator."""
    schema = resolved(schema)
    if "discriminator" in schema and isinstance(value, dict):
        by = schema["discriminator"]
        return whole({"$ref": by["mapping"][value[by["propertyName"]]]}, value)
    if "allOf" in schema:
        bases = [whole(base, value) for base in schema["allOf"]]
        return {"properties": {k: v for base in bases for k, v in base["properties"].items()}}
    return schema


def resolved(node):
    while "$ref" in node:
        target = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node
