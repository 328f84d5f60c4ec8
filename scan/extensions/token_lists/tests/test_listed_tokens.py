"""Imported token lists: logos from our own origin, in the API and on pages."""

import hashlib
import json
import struct
from pathlib import Path

import pytest

from tests.support import database, scan_command
from tests.support.receiver import Answer

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 64, 64)
CONTENT_ID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"
CHAIN_ID = 31337


@pytest.fixture
def run(own_index, authority, receiver):
    """Call `scan token-lists`; what it has stored is removed afterwards."""
    url = own_index.url
    environment = {
        "DATABASE_URL": url,
        "REQUESTS_CA_BUNDLE": str(authority.bundle),
        "SCAN_NFT_MEDIA": receiver.url("").rstrip("/"),
        "SCAN_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
    }
    yield lambda *arguments: scan_command.scan("token-lists", *arguments, **environment)
    database.execute(url, "DELETE FROM listed_tokens")
    database.execute(url, "DELETE FROM logos")


def write_list(path, tokens):
    listed = [
        {"chainId": CHAIN_ID, "address": address, "name": "A name", "symbol": "SYM", "decimals": 18}
        | fields
        for address, fields in tokens.items()
    ]
    path.write_text(json.dumps({"name": "Test", "timestamp": "", "version": {}, "tokens": listed}))
    return str(path)


def test_a_logo_shows_wherever_its_token_does(run, own_index, scenario, receiver, tmp_path):
    client = own_index.client()
    token, other = (record["address"] for record in scenario.truth.tokens[:2])
    before = client.get("/api/v1/tokens").data
    assert b"logoUrl" not in before
    receiver.behaviour = lambda *_: Answer(200, (), PNG)
    file = write_list(tmp_path / "list", {token: {"logoURI": f"ipfs://{CONTENT_ID}"}, other: {}})
    done = run("import", file)
    assert done.returncode == 0, done.stderr
    assert "Test: 2 tokens stored, 0 removed\n" in done.stdout
    assert "1 logos stored, 0 failed\n" in done.stdout
    path = f"/api/v1/logos/{hashlib.sha256(PNG).hexdigest()}"
    urls = {t["address"]: t.get("logoUrl") for t in client.get("/api/v1/tokens").json["tokens"]}
    assert urls[token] == path and set(urls.values()) == {path, None}
    detail = client.get(f"/api/v1/tokens/{token}").json
    assert detail["logoUrl"] == path
    assert detail["listedAs"] == {"list": "Test", "name": "A name", "symbol": "SYM"}
    assert client.get(f"/api/v2/tokens/{token}").json["icon_url"] == path
    assert client.get(f"/api/v2/tokens/{other}").json["icon_url"] is None
    below = own_index.client(base_path="/bsc")
    for form in (f"api/v1/tokens/{token}", f"api/v2/tokens/{token}", f"token/{token}"):
        assert f'"/bsc{path}"' in below.get(f"/bsc/{form}").text, form
    moved = next(t for t in scenario.truth.token_transfers if t["tokenAddress"] == token)
    of_holder = f"/address/{moved['toAddress']}?tab=transfers"
    for page in ("/tokens", f"/token/{token}", of_holder):
        assert f'src="{path}"' in client.get(page).text, page
    assert "listed as <bdi>A name</bdi>" in client.get(f"/token/{token}").text
    logo = client.get(path)
    assert (logo.data, logo.mimetype) == (PNG, "image/png")
    assert "immutable" in logo.headers["Cache-Control"]
    assert run("remove", "Test").stdout == "2 tokens removed\n"
    assert client.get("/api/v1/tokens").data == before
    assert client.get(path).status_code == 404


def test_a_logo_is_what_its_bytes_are_and_no_document_with_scripts(
    run, own_index, scenario, receiver, tmp_path
):
    client = own_index.client()
    scripts = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    svg, html, huge, inside, large = (t["address"] for t in scenario.truth.tokens[:5])
    bodies = {"svg": scripts, "html": b"<html>", "large": PNG + bytes(100_000)}
    bodies["huge"] = PNG[:16] + struct.pack(">II", 2000, 2000)
    receiver.behaviour = lambda _, received: Answer(
        200, (("Content-Type", "image/png"),), bodies[received.path.rpartition("/")[2]]
    )
    tokens = {
        address: {"logoURI": f"ipfs://{CONTENT_ID}/{name}"}
        for address, name in ((svg, "svg"), (html, "html"), (huge, "huge"), (large, "large"))
    }
    tokens[inside] = {"logoURI": receiver.url("/svg")}  # only the operator's own URLs may lead in
    done = run("import", write_list(tmp_path / "list", tokens))
    assert done.returncode == 0, done.stderr
    assert "1 logos stored, 4 failed\n" in done.stdout
    for reason in ("is not a PNG", "pixels", "not allowed", "too large"):
        assert reason in done.stdout
    urls = {t["address"]: t.get("logoUrl") for t in client.get("/api/v1/tokens").json["tokens"]}
    assert [urls.get(a) for a in (html, huge, inside, large)] == [None] * 4
    logo = client.get(urls[svg])
    assert (logo.data, logo.mimetype) == (scripts, "image/svg+xml")
    policy = logo.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and policy.endswith("sandbox")
    assert logo.headers["X-Content-Type-Options"] == "nosniff"


def test_an_import_replaces_the_list_and_fetches_what_is_new(run, scenario, receiver, tmp_path):
    token, other = (record["address"] for record in scenario.truth.tokens[:2])
    receiver.behaviour = lambda *_: Answer(503)
    uri = f"ipfs://{CONTENT_ID}/1"
    first = write_list(tmp_path / "first", {token: {"logoURI": uri}, other: {"logoURI": uri}})
    assert "0 logos stored, 1 failed\n" in run("import", first).stdout
    receiver.behaviour = lambda *_: Answer(200, (), PNG)
    assert "1 logos stored, 0 failed\n" in run("import", first).stdout
    assert "\n0 logos stored, 0 failed\n" in run("import", first).stdout
    second = write_list(tmp_path / "second", {token: {"logoURI": uri, "symbol": "NEW"}})
    assert "1 tokens stored, 1 removed\n" in run("import", second).stdout
    assert " Test " in run("list").stdout and " NEW " in run("list").stdout
    assert len(receiver.received) == 2
    exported = tmp_path / "exported"
    assert run("export", str(exported)).returncode == 0
    assert [run("remove", "Test").returncode for _ in range(2)] == [0, 1]
    assert len(run("list").stdout.splitlines()) == 1  # headings
    assert run("import", str(exported)).returncode == 0
    listed = json.loads(run("list", "--json").stdout)
    assert (listed["list"], listed["symbol"], listed["hasLogo"]) == ("Scan", "NEW", True)


def test_a_list_is_read_from_a_url(run, scenario, receiver, tmp_path):
    file = write_list(tmp_path / "list", {scenario.truth.tokens[0]["address"]: {}})
    receiver.behaviour = lambda *_: Answer(200, (), Path(file).read_bytes())
    assert run("import", receiver.url("/tokens.json")).returncode == 0
    receiver.behaviour = lambda *_: Answer(200, (), b"<html>")
    refused = run("import", receiver.url("/tokens.json"))
    assert (refused.returncode, "not a token list" in refused.stderr) == (1, True)
    for source in ("http://localhost/", "file:///etc/passwd", str(tmp_path / "none")):
        assert run("import", source).returncode == 1
    assert run("list").stdout.count("\n") == 2


@pytest.mark.parametrize("path", ["0" * 63, "0" * 65, "A" * 64, "../tokens", "%00"])
def test_a_logo_that_no_list_has_is_refused(client, path):
    assert client.get(f"/api/v1/logos/{path}").status_code in (400, 404)
    assert client.get(f"/api/v1/logos/{'0' * 64}?x=1").status_code == 400
