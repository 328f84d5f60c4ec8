"""A client in TypeScript, with types that openapi-typescript makes of the document, for
openapi-fetch: it compiles, finds its mistakes, and reads what the types say."""

import json
import re
import shutil

import pytest

from tests.support import openapi_document
from tests.support.serving import completed
from tests.support.solidity import NODE


@pytest.mark.thorough
def test_sixty_calls_compile_and_read_what_their_types_say(tmp_path, client, over_http):
    """The compiler is content with them."""
    source = NODE / "typed_calls.ts"
    (tmp_path / "node_modules").symlink_to(NODE / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "openapi.json").write_text(json.dumps(openapi_document.DOCUMENT))
    shutil.copy(source, tmp_path)
    strict = "--strict --target es2022 --module nodenext".split()
    for command in (
        ["openapi-typescript", "openapi.json", "--output", "scan.d.ts"],
        ["tsc", *strict, source.name],
    ):
        done = completed(["npx", "--no-install", *command], cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    calls = re.findall(r"api\.[A-Z]+\('(/[^']+)", source.read_text(encoding="utf-8"))
    assert len(calls) >= 60
    token = client.get("/api/v1/tokens?limit=1").json["tokens"][0]
    done = completed(["node", tmp_path / "typed_calls.js", over_http, token["address"]])
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
