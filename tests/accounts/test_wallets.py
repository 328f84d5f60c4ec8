"""Wallets that sign for keys: of JavaScript libraries and contracts; the time of what is signed."""

import pytest
import requests
from eth_account.messages import encode_defunct

from scan.accounts.wallet_signatures import key_request_message, require_recent
from scan.errors import InvalidParameter
from tests.support import WAIT_S, serving, solidity, wallets


def test_wallets_of_javascript_libraries_get_keys(shared_server):
    """In each form that they give a signature."""
    private_key = "0x" + bytes(wallets.new_wallet().key).hex()
    answers = solidity.node_script("request_key.mjs", shared_server, private_key)
    assert [answer["status"] for answer in answers] == [201] * 4, answers
    headers = {"X-API-Key": answers[-1]["body"]["key"]}
    address = f"{shared_server}/api/v1/keys?owner={answers[0]['address']}"
    listed = requests.get(address, headers=headers, timeout=WAIT_S)
    assert listed.headers["X-RateLimit-Limit"] == "100"
    labels = {key["label"] for key in listed.json()["keys"]}
    assert labels == {"ethers", "ethers-compact", "viem", "viem-compact"}


@pytest.fixture(scope="module")
def server(shared_anvil, shared_database_url):
    environment = {"RPC_URL": shared_anvil.url, "SCAN_RATE_LIMIT_ANONYMOUS": "1000/minute"}
    with serving.gunicorn(shared_database_url, **environment) as address:
        yield address


def request_key(server, owner, signers, *, more=b""):
    """A key for `owner`, with the signatures of all signers one after the other."""
    timestamp_ms = wallets.fresh_timestamp_ms()
    signed = encode_defunct(text=key_request_message(bytes.fromhex(owner[2:]), timestamp_ms))
    signature = b"".join(bytes(s.sign_message(signed).signature) for s in signers) + more
    body = {"ownerAddress": owner, "signature": "0x" + signature.hex(), "timestamp": timestamp_ms}
    return requests.post(f"{server}/api/v1/keys", json=body, timeout=WAIT_S)


@pytest.mark.parametrize("count", [1, 7])
def test_a_contract_wallet_gets_a_key_when_its_owners_signed(server, shared_anvil, count):
    signers = [wallets.new_wallet() for _ in range(count)]
    owners = [signer.address for signer in signers]
    wallet = shared_anvil.deploy(shared_anvil.accounts[0], "SharedWallet", owners).address
    strangers = [wallets.new_wallet() for _ in range(count)]
    assert request_key(server, wallet, strangers).json()["code"] == "signature_mismatch"
    assert request_key(server, wallet, [*signers, signers[0]]).status_code == 403
    assert request_key(server, wallet, signers).status_code == 201


@pytest.mark.parametrize(
    "name", ["TruthfulWallet", "RevertingWallet", "EndlessWallet", "TalkativeWallet"]
)
def test_a_contract_that_does_not_say_the_magic_value_gets_no_key(server, shared_anvil, name):
    wallet = shared_anvil.deploy(shared_anvil.accounts[0], name).address
    response = request_key(server, wallet, [wallets.new_wallet()])
    assert (response.status_code, response.json()["code"]) == (403, "signature_mismatch")


def test_a_contract_without_the_function_gets_no_key(server, shared_anvil):
    signer = wallets.new_wallet()
    shared_anvil.call("anvil_setCode", signer.address, "0x00")
    assert request_key(server, signer.address, [wallets.new_wallet()]).status_code == 403
    assert request_key(server, signer.address, [signer]).status_code == 201  # its key still signs


def test_a_plain_wallet_is_not_excused_by_the_node(server):
    owner = wallets.new_wallet()
    assert request_key(server, owner.address, [wallets.new_wallet()]).status_code == 403
    for more in (b"\0", bytes(32)):
        malformed = request_key(server, owner.address, [owner], more=more)
        assert (malformed.status_code, malformed.json()["field"]) == (400, "signature")


NOW_MS = 1_700_000_000_000


@pytest.mark.check
@pytest.mark.parametrize("late_ms", [-60_000, -1, 0, 299_999, 300_000])
def test_a_timestamp_is_up_to_5_minutes_old_and_1_minute_ahead(late_ms):
    require_recent(NOW_MS - late_ms, now_ms=NOW_MS)


@pytest.mark.check
@pytest.mark.parametrize(
    ("late_ms", "reason"),
    [(300_001, "is more than 5 minutes old"), (-60_001, "is more than 1 minute ahead")],
)
def test_any_other_is_refused_with_the_time_it_is(late_ms, reason):
    with pytest.raises(InvalidParameter, match=rf"{reason}.* It is now {NOW_MS}\.") as refusal:
        require_recent(NOW_MS - late_ms, now_ms=NOW_MS)
    assert refusal.value.body()["field"] == "timestamp"
