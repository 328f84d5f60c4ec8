"""Lists continued by cursor: every row once, whatever is sent in the place of a cursor."""

import base64
import hashlib

import pytest

from scan.errors import InvalidParameter
from scan.queries.cursors import ADDRESS, AMOUNT, HASH, ORDINAL, Traversal
from tests.support import database, indexing, lists
from tests.support.lists import post


def test_a_cursor_is_bound_to_its_list(client, scenario):
    sender = scenario.truth.transactions[0]["fromAddress"]
    body = {"entity": "transactions", "filter": {"from": sender}, "limit": 1}
    cursor = post(client, "/query", **body)["next"]
    others = [
        {**body, "entity": "token_transfers"},
        {**body, "filter": {}},
        {**body, "filter": {"to": sender}},
        {**body, "filter": {"from": sender, "blockFrom": 1}},
        {**body, "orderBy": "asc"},
    ]
    for other in others:
        answer = client.post("/api/v1/query", json={**other, "cursor": cursor})
        assert (answer.status_code, answer.json["code"]) == (400, "invalid_parameter"), other
        assert answer.json["field"] == "cursor"
    same = {**body, "filter": {"from": sender.upper().replace("X", "x")}, "limit": 9}
    assert post(client, "/query", **same, cursor=cursor)["count"] > 0


def test_a_cursor_stands_alone(client):
    cursor = client.get("/api/v1/blocks?limit=2").json["next"]
    answers = [client.get(f"/api/v1/blocks?page=2&cursor={cursor}")]
    for more in ({"offset": 1}, {"cursor": 5}, {"cursor": None}):
        body = {"entity": "blocks", "cursor": cursor, **more}
        answers.append(client.post("/api/v1/query", json=body))
    for answer in answers:
        assert (answer.status_code, answer.json.get("field")) == (400, "cursor")


@pytest.mark.check
@pytest.mark.parametrize("kind", [ORDINAL, AMOUNT, ADDRESS, HASH])
def test_no_character_of_a_cursor_can_be_changed_or_left_out(kind):
    position = b"\x12" * kind.most if kind.type is bytes else 123_456
    beginning = Traversal.of("items", "desc", {})
    cursor = beginning.next([position])
    altered = {cursor[:index] + cursor[index + 1 :] for index in range(len(cursor))}
    for index in range(len(cursor)):
        altered |= {cursor[:index] + letter + cursor[index + 1 :] for letter in "AQgw7_-"}
    for text in altered - {cursor}:
        with pytest.raises(InvalidParameter):
            beginning.at(text, [kind], has_blocks=False)
    assert beginning.at(cursor, [kind], has_blocks=False).after == position


def values_of(cursor):
    return base64.urlsafe_b64decode(cursor + "==")[8:-2].decode().split("|")


def changed(cursor, values):
    """A cursor of the same list that says something else, with its check."""
    content = base64.urlsafe_b64decode(cursor + "==")[:8] + "|".join(values).encode()
    content += hashlib.blake2b(content, digest_size=2).digest()
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


@pytest.mark.parametrize("path", ["/transactions", "/tokens", "/blocks"])
def test_no_cursor_breaks_anything(client, path):
    cursor = client.get(f"/api/v1{path}?limit=2").json["next"]
    values = values_of(cursor)
    bad = ["", "a", "=", "%00", "ÿ", cursor + "AAAA", "A" * 601, "A" * 599]
    bad_values = ["", "-2", "+1", "1.5", "01", str(2**62 + 1), str(2**63), "9" * 100]
    bad_values += ["x", "x00", "²"]
    for index in range(len(values)):
        bad += [changed(cursor, [*values[:index], v, *values[index + 1 :]]) for v in bad_values]
        bad.append(changed(cursor, values[:index]))
    for text in (*bad, changed(cursor, [*values, "1"])):
        answer = client.get(f"/api/v1{path}", query_string={"cursor": text})
        assert (answer.status_code, answer.json["field"]) == (400, "cursor"), text


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_a_forged_position_gives_rows_of_the_list_or_none(client, direction):
    for first, last in ((0, 10**9), (3, 9)):
        blocks = {"blockFrom": first, "blockTo": last}
        body = {"entity": "transactions", "orderBy": direction, "filter": blocks, "limit": 5}
        page = post(client, "/query", **body)
        for position in ("0", "1", str(2**62)):
            cursor = changed(page["next"], [position, *values_of(page["next"])[1:]])
            forged = post(client, "/query", **body, cursor=cursor)
            assert forged["total"] == page["total"]
            assert all(first <= row["blockNumber"] <= last for row in forged["data"])


def test_verified_contracts_go_on_behind_the_same_moment(database_url):
    client = indexing.client_over(database_url)
    database.execute(
        database_url,
        "INSERT INTO contracts (address, block_number, code_hash)"
        " SELECT decode(lpad(to_hex(n), 40, '0'), 'hex'), 0, sha256('code')"
        " FROM generate_series(1, 9) n",
    )
    database.execute(
        database_url,
        "INSERT INTO verified_contracts (address, code_hash, match, contract_name, file_path,"
        " compiler_version, settings, abi, sources, code_length, masked_hash, variable_ranges,"
        " verified_at)"
        " SELECT address, code_hash, 'full', 'C', 'C.sol', 'v0.8.26', '{}', '[]', '{}', 0, '', '',"
        " timestamptz '2026-01-01 00:00:00.123456Z' + get_byte(address, 19) / 4 * interval '1 us'"
        " FROM contracts",
    )
    whole = client.get("/api/v1/contracts").json
    assert (len(whole["contracts"]), whole["total"], whole["next"]) == (9, 9, None)
    for limit in (1, 2, 5):
        rows = lists.by_links(client, lists.Listed("/contracts", "contracts"), limit)
        assert rows == whole["contracts"]
