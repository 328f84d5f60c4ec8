"""Rows of everything that people give, in a database of any version."""

from pathlib import Path

import orjson

from scan.database import owners_file
from tests.support.database import execute, insert

OWNER, HASH = bytes(range(20)), bytes(32)
KEY_ID = 7
BODY = '{"event":"tx","timestamp":"2026-01-01T00:00:00Z","data":{"hash":"0x12"}}'


def fill_owners(url, key_id=KEY_ID, key_hash=HASH, prefix="ab"):
    """A row of each table that the database has, with a webhook whose events were not all sent."""
    key = {"id": key_id, "key_hash": key_hash, "key_prefix": prefix, "label": "mine"}
    verified = {"address": OWNER, "code_hash": HASH, "match": "full", "contract_name": "C"}
    verified |= {"file_path": "C.sol", "compiler_version": "0.8.28+commit.7893614a"}
    delivery = {"webhook_id": 1, "event": "tx", "body_id": 4, "body_bytes": len(BODY)}
    source = '{"C.sol": {"content": "contract C {} // \\\\ \\" \\t \\u00e9\\n"}}'
    for table, row in (
        ("api_keys", {**key, "owner_address": OWNER, "requests_per_minute": 77}),
        ("api_key_uses", {"key_id": key_id, "day": "2026-11-29", "requests": 5}),
        ("labels", {"address": OWNER, "label": 'a label\nwith\ttwo \\ "lines"'}),
        (
            "webhooks",
            {"id": 1, "owner_address": OWNER, "watch_address": OWNER, "event_types": "{tx}"}
            | {"topics": '[null,\n\t"0x12"]'},
        ),
        ("contract_claims", {"address": OWNER, "code_hash": HASH, "outcome": "absent"}),
        ("listed_tokens", {"address": OWNER, "list": "A list", "decimals": 18, "logo": HASH}),
        ("event_bodies", {"id": 4, "body": BODY}),
        ("deliveries", {**delivery, "status": "pending", "block_number": 9}),
        ("deliveries", {**delivery, "status": "delivered", "block_number": 8, "sent": True}),
        ("delivery_queues", {"webhook_id": 1, "host": "example.com", "fail_count": 2}),
        ("verified_contracts", {**verified, "abi": '[{"b":1,"a":2}]', "sources": source}),
        ("signatures", {"selector": b"abcd", "signature": "f()"}),
        ("verified_functions", {"selector": b"abcd", "signature": "f()"}),
        ("verified_signatures", {"hash": b"abcd", "signature": "E()", "address": OWNER}),
        ("built_abis", {"code_hash": HASH, "contract_name": "Built"}),
        ("webhook_addresses", {"webhook_id": 1, "address": OWNER}),
        ("webhook_secrets", {"webhook_id": 1, "secret": "secret"}),
        ("former_secrets", {"webhook_id": 1, "secret": "old", "ends_at": "2026-11-30T00:00:00Z"}),
        ("followed_contracts", {"address": OWNER, "name": "box", "complete_from": 3}),
        ("unfollowed_contracts", {"address": HASH[:20]}),
        ("kept_addresses", {"address": OWNER}),
    ):
        if execute(url, "SELECT to_regclass(%s)", table) != [(None,)]:
            insert(url, table, **row)
    execute(url, "INSERT INTO logos VALUES (%s, 'image/png', 'x')", HASH)


# One is added with each release, of a database with the rows of owners_rows.py.
FILES = sorted((Path(__file__).parent / "owners_files").glob("*.jsonl"))
NEWEST = next(path for path in FILES if path.name == "2026-11-30-kept-addresses.jsonl")


def rows(url, *, with_left_out=False):
    """Those of all tables of people, by table."""
    stored = {}
    for name, table in owners_file.owned_tables().items():
        without = [] if with_left_out else [*table.left_out]
        statement = f"SELECT (to_jsonb(t) - %s::text[])::text FROM {name} t ORDER BY 1"  # noqa: S608
        stored[name] = execute(url, statement, without)
    return stored


def changed_file(path, change, original=NEWEST):
    """Write a file with each row changed, and what makes it whole."""
    header, *stored, _ = original.read_bytes().splitlines()
    stored = [orjson.dumps(change(orjson.loads(line))) for line in stored]
    content = b"".join(line + b"\n" for line in (header, *stored))
    digest = owners_file.sha256(content).hexdigest()
    path.write_bytes(content + orjson.dumps({"rows": len(stored), "sha256": digest}) + b"\n")
    return path
