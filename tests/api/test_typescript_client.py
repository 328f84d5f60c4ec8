"""A client in TypeScript, with types that openapi-typescript makes of the document, for
openapi-fetch: it compiles, finds its mistakes, and reads what the types say."""

import json
import re
import shutil

import pytest

from tests.support import openapi_document
from tests.support.serving import completed
from tests.support.solidity import NODE

CALLS = NODE / "typed_calls.ts"
STRICT = "--strict --target es2022 --module nodenext".split()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The compiled client; the compiler is content with it."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "node_modules").symlink_to(NODE / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "openapi.json").write_text(json.dumps(openapi_document.DOCUMENT))
    shutil.copy(CALLS, folder)
    for command in (
        ["openapi-typescript", "openapi.json", "--output", "scan.d.ts"],
        ["tsc", *STRICT, CALLS.name],
    ):
        done = completed(["npx", "--no-install", *command], cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "typed_calls.js"


@pytest.mark.thorough
def test_sixty_calls_compile_and_read_what_their_types_say(compiled, client, over_http):
    calls = re.findall(r"api\.[A-Z]+\('(/[^']+)", CALLS.read_text(encoding="utf-8"))
    assert len(calls) >= 60
    token = client.get("/api/v1/tokens?limit=1").json["tokens"][0]
    done = completed(["node", compiled, over_http, token["address"]])
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert None not in values, values
    assert token["symbol"] in values and token["holderCount"] in values
    assert values[-3:] == ["invalid_parameter", 2, "offset"]


def test_what_has_a_default_may_be_left_out_of_a_request():
    """Generators take a property with a default in its own schema for one that is always there."""
    schemas = openapi_document.DOCUMENT["components"]["schemas"]
    defaults = {
        f"{name}.{key}"
        for name, schema in schemas.items()
        for key, value in schema.get("properties", {}).items()
        if "default" in value
    }
    assert defaults == set()
    assert schemas["WantedEvents"]["default"] == ["tx"]
