"""Keys by signed requests: who gets a key, what is refused, what the list tells."""

import re

import pytest
import requests
from eth_account import Account

from app import create_app
from scan.ethereum.transaction_checks import CURVE_ORDER
from scan.settings import Settings
from tests.support import WAIT_S
from tests.support.database import execute
from tests.support.serving import at_once, statuses
from tests.support.value_names import shown
from tests.support.wallets import key_request, new_wallet, obtain_key


def post(server, body):
    return requests.post(f"{server}/api/v1/keys", json=body, timeout=WAIT_S)


def listed(server, wallet, **options):
    response = requests.get(
        f"{server}/api/v1/keys?owner={wallet.address}", timeout=WAIT_S, **options
    )
    assert response.status_code == 200, response.text
    return response.json()["keys"]


def delete(server, key_id, key=None):
    headers = {"X-API-Key": key} if key else {}
    return requests.delete(f"{server}/api/v1/keys/{key_id}", headers=headers, timeout=WAIT_S)


def test_a_signed_request_gives_a_key_that_only_its_prefix_shows_again(
    shared_server, shared_database_url
):
    wallet = new_wallet()
    response = post(shared_server, key_request(wallet, label=100 * "✓"))
    created = response.json()
    assert response.status_code == 201
    assert set(created) == {"id", "key", "keyPrefix", "message"}
    assert re.fullmatch(r"scan_[0-9a-f]{64}", created["key"])
    assert created["keyPrefix"] == created["key"][:12]
    assert 0 < created["id"] < 2**53
    [record] = listed(shared_server, wallet)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["createdAt"])
    assert record == {
        "id": created["id"],
        "keyPrefix": created["keyPrefix"],
        "label": 100 * "✓",
        "requestsPerMinute": 100,
        "totalRequests": 0,
        "createdAt": record["createdAt"],
        "lastUsedAt": record["createdAt"],
        "active": True,
    }
    stored = execute(shared_database_url, "SELECT * FROM api_keys WHERE id = %s", created["id"])
    assert created["key"] not in str(stored)
    assert listed(shared_server, new_wallet()) == []


def test_owner_in_any_letter_case_is_one_owner(shared_server):
    wallet = new_wallet()
    for spell in (str.lower, str, lambda a: "0x" + a[2:].upper(), lambda a: "0X" + a[2:]):
        body = key_request(wallet) | {"ownerAddress": spell(wallet.address)}
        assert post(shared_server, body).status_code == 201
    assert len(listed(shared_server, wallet)) == 4


def test_32_parallel_replays_of_one_request_give_one_key(shared_server):
    wallet = new_wallet()
    body = key_request(wallet)
    responses = at_once(32, lambda _: post(shared_server, body))
    assert statuses(responses) == {201: 1, 409: 31}
    assert {r.json()["code"] for r in responses if r.status_code == 409} == {"replayed_request"}
    assert len(listed(shared_server, wallet)) == 1


def test_20_parallel_creations_give_ten_keys(shared_server):
    wallet = new_wallet()
    bodies = [key_request(wallet) for _ in range(20)]
    responses = at_once(20, lambda n: post(shared_server, bodies[n]))
    assert statuses(responses) == {201: 10, 409: 10}
    assert {r.json()["code"] for r in responses if r.status_code == 409} == {"limit_reached"}
    ids = [key["id"] for key in listed(shared_server, wallet)]
    assert len(set(ids)) == 10 and ids != list(range(min(ids), min(ids) + 10))


def test_the_other_spellings_of_a_used_signature_are_replays(shared_server):
    body = key_request(new_wallet())
    signature = bytes.fromhex(body["signature"][2:])
    parity = signature[64] - 27
    spellings = [
        signature,
        signature[:64] + bytes([parity]),
        signature[:32] + bytes([signature[32] | parity << 7]) + signature[33:64],
    ]
    answers = [post(shared_server, body | {"signature": "0x" + s.hex()}) for s in spellings]
    assert [a.status_code for a in answers] == [201, 409, 409]
    high_s = CURVE_ORDER - int.from_bytes(signature[32:64])
    mirrored = signature[:32] + high_s.to_bytes(32) + bytes([28 - parity])
    assert post(shared_server, body | {"signature": "0x" + mirrored.hex()}).status_code == 400


def test_a_deleted_key_makes_room_and_keeps_its_request_used(shared_server):
    wallet = new_wallet()
    bodies = [key_request(wallet) for _ in range(11)]
    created = [post(shared_server, body).json() for body in bodies[:10]]
    assert len(listed(shared_server, wallet, headers={"X-API-Key": created[3]["key"]})) == 10
    assert post(shared_server, bodies[10]).json()["code"] == "limit_reached"
    gone = delete(shared_server, created[3]["id"], created[0]["key"])
    assert (gone.status_code, gone.json()) == (200, {"success": True, "id": created[3]["id"]})
    headers = {"X-API-Key": created[3]["key"]}
    address = f"{shared_server}/api/v1/keys?owner={wallet.address}"
    refused = requests.get(address, headers=headers, timeout=WAIT_S)
    challenge = refused.headers["WWW-Authenticate"]
    assert (refused.status_code, challenge) == (401, 'Bearer realm="Scan", error="invalid_token"')
    assert delete(shared_server, created[3]["id"], created[0]["key"]).status_code == 404
    assert post(shared_server, bodies[3]).json()["code"] == "replayed_request"
    assert post(shared_server, bodies[10]).status_code == 201
    records = {record["id"]: record["active"] for record in listed(shared_server, wallet)}
    assert len(records) == 11 and records[created[3]["id"]] is False


def test_deleting_needs_a_key_of_the_same_owner(shared_server):
    mine, theirs = (obtain_key(shared_server, new_wallet()) for _ in range(2))
    without = delete(shared_server, mine["id"])
    assert (without.status_code, without.json()["code"]) == (401, "missing_api_key")
    assert without.headers["WWW-Authenticate"] == 'Bearer realm="Scan"'
    foreign = delete(shared_server, mine["id"], theirs["key"])
    assert (foreign.status_code, foreign.json()["code"]) == (404, "not_found")
    for bad in ("abc", "-1", "0", "1.5", "9" * 30):
        assert delete(shared_server, bad, mine["key"]).json()["field"] == "id"


def test_an_address_gets_only_so_many_new_keys_however_many_ask_at_once(database_url):
    """Refused requests leave no key and no trace: what they signed serves later, or elsewhere."""
    settings = Settings(
        database_url=database_url, rate_limit_anonymous="100000/minute", rate_limit_new_keys="6/day"
    )
    application = create_app(settings)

    def ask(body, address="192.0.2.1"):
        client, peer = application.test_client(), {"REMOTE_ADDR": address}
        return client.post("/api/v1/keys", json=body, environ_base=peer)

    replayed = key_request(new_wallet())
    assert ask(replayed).status_code == 201
    assert ask(replayed).status_code == 409  # not counted
    forged = key_request(new_wallet()) | {"timestamp": replayed["timestamp"] + 1}
    assert ask(forged).status_code == 403  # nor this
    bodies = [key_request(new_wallet()) for _ in range(16)]
    responses = at_once(16, lambda n: ask(bodies[n]))
    assert statuses(responses) == {201: 5, 429: 11}
    refused = [n for n, response in enumerate(responses) if response.status_code == 429]
    error = responses[refused[0]]
    assert error.json["code"] == "rate_limited"
    assert 86_000 < int(error.headers["Retry-After"]) <= 86_401
    assert execute(database_url, "SELECT count(*) FROM api_keys") == [(6,)]
    assert ask(bodies[refused[0]], "192.0.2.2").status_code == 201


def test_owner_auth_always_shows_keys_only_to_their_owner(database_url):
    client = create_app(Settings(database_url=database_url, owner_auth="always")).test_client()
    wallet, other = new_wallet(), new_wallet()
    mine, theirs = (
        client.post("/api/v1/keys", json=key_request(one)).json["key"] for one in (wallet, other)
    )
    address = f"/api/v1/keys?owner={wallet.address}"
    for headers, status in (({}, 401), ({"X-API-Key": theirs}, 403), ({"X-API-Key": mine}, 200)):
        assert client.get(address, headers=headers).status_code == status


WALLET = Account.from_key("0x" + "11" * 32)
STRANGER = Account.from_key("0x" + "22" * 32)
ANYTHING_ELSE = [None, True, False, 0, 1.5, "", [], ["0x"], {}, "x" * 50, "\0"]


def with_v(value):
    return lambda signature: f"{signature[:-2]}{value:02x}"


def with_r(value):
    return lambda signature: f"0x{value:064x}{signature[66:]}"


def with_s(value):
    return lambda signature: f"{signature[:66]}{value:064x}{signature[-2:]}"


def flipped(byte):
    """One bit of one byte."""
    position = 3 + 2 * byte
    return lambda signature: (
        signature[:position] + f"{int(signature[position], 16) ^ 1:x}" + signature[position + 1 :]
    )


# A function makes the bad value of the good one.
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("ownerAddress", value) for value in [*ANYTHING_ELSE, "0x" + "0" * 39, "0x" + "0" * 41]),
        ("ownerAddress", "0x" + "g" * 40),
        ("ownerAddress", WALLET.address[2:]),
        *(("label", value) for value in [None, True, 0, 1.5, [], {}, "x" * 101, "a\0b", "\0"]),
        *(("signature", value) for value in ANYTHING_ELSE),
        *(("signature", value) for value in ["0x", "0x0", "0x" + "zz" * 65, "0x" + "00" * 8193]),
        ("signature", lambda signature: signature[2:]),
        ("signature", lambda signature: signature + "\n"),
        ("signature", lambda signature: signature[:-4]),  # 63 bytes
        ("signature", lambda signature: signature + "00" * 32),  # 97
        ("signature", "0x" + "00" * 65),
        *(("signature", with_v(v)) for v in (2, 26, 29, 35, 36, 255)),
        *(("signature", with_r(r)) for r in (0, CURVE_ORDER, 2**256 - 1)),
        *(("signature", with_s(s)) for s in (0, CURVE_ORDER // 2 + 1, CURVE_ORDER, 2**256 - 1)),
        *(("timestamp", value) for value in ANYTHING_ELSE),
        ("timestamp", str),
        *(("timestamp", value) for value in [-1, 10**30]),
        ("timestamp", lambda now: now + 0.5),
        ("timestamp", lambda now: now // 1000),
        ("timestamp", lambda now: now - 301_000),
        ("timestamp", lambda now: now + 120_000),
    ],
    ids=shown,
)
def test_a_bad_field_is_named(shared_server, field, value):
    body = {"label": "", **key_request(WALLET)}
    bad = value(body[field]) if callable(value) else value
    require_refusal(post(shared_server, body | {field: bad}), 400, "invalid_parameter", field)


@pytest.mark.parametrize("field", ["ownerAddress", "signature", "timestamp"])
def test_a_missing_field_is_named(shared_server, field):
    body = key_request(WALLET)
    del body[field]
    assert post(shared_server, body).json()["field"] == field


@pytest.mark.parametrize(
    "query", ["", *"?owner= ?owner=0x12 ?owner=vitalik.eth ?_Owner=0x".split()]
)
def test_a_bad_owner_is_named(shared_server, query):
    response = requests.get(f"{shared_server}/api/v1/keys{query}", timeout=WAIT_S)
    require_refusal(response, 400, "invalid_parameter", "owner")


def require_refusal(response, status, code, field=None):
    error = response.json()
    assert (response.status_code, error["code"], error.get("field")) == (status, code, field), error


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("ownerAddress", lambda _: STRANGER.address),
        ("timestamp", lambda now: now - 1),
        ("signature", lambda _: key_request(STRANGER)["signature"]),
        ("signature", flipped(5)),
        ("signature", flipped(40)),
        ("signature", with_r(5)),  # no point of the curve: it recovers nobody
    ],
)
def test_somebody_elses_signature_is_a_mismatch(shared_server, field, change):
    body = key_request(WALLET)
    response = post(shared_server, body | {field: change(body[field])})
    require_refusal(response, 403, "signature_mismatch", "signature")
    assert "Scan API Key Request" in response.json()["error"]


@pytest.mark.parametrize(
    "key",
    ["", "x", "scan_", "scan_" + "0" * 64, "scan_" + "F" * 64, "x" * 10_000, b"\xc3\xa9\xff"],
    ids=shown,
)
def test_a_key_that_is_none_is_unauthorised_in_json(shared_server, key):
    address = f"{shared_server}/api/v1/keys?owner={WALLET.address}"
    response = requests.get(address, headers={"X-API-Key": key}, timeout=WAIT_S)
    require_refusal(response, 401, "invalid_api_key")
