"""Typed data of EIP-712 decoded: hashes as eth-account has them, its values, and hostile bodies."""

import json
import random
from contextlib import nullcontext

import pytest
from eth_account.messages import encode_typed_data
from eth_utils import keccak

from scan.contracts.abi import MAX_DEPTH
from scan.errors import InvalidParameter
from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.decoder.decoded_data import MAX_BYTES
from scan.extensions.decoder.typed_data import MAX_MEMBERS, MAX_STRUCTURES, parse
from tests.support import expected, lists

ANN, BOB = (
    "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826",
    "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB",
)
PERSON = [{"name": "name", "type": "string"}, {"name": "wallets", "type": "address[]"}]
MAIL = [
    {"name": "from", "type": "Person"},
    {"name": "to", "type": "Person[]"},
    {"name": "grid", "type": "int16[2][]"},
    {"name": "attached", "type": "bytes"},
    {"name": "id", "type": "bytes32"},
    {"name": "urgent", "type": "bool"},
    {"name": "fee", "type": "uint256"},
    {"name": "asset", "type": "Asset"},
]
ASSET = [{"name": "token", "type": "address"}, {"name": "amount", "type": "uint128"}]
DOMAIN = [
    {"name": "name", "type": "string"},
    {"name": "chainId", "type": "uint256"},
    {"name": "verifyingContract", "type": "address"},
]
DATA = {
    "types": {"EIP712Domain": DOMAIN, "Mail": MAIL, "Person": PERSON, "Asset": ASSET},
    "domain": {"name": "Ether Mail", "chainId": 1, "verifyingContract": BOB},
    "primaryType": "Mail",
    "message": {
        "from": {"name": "Ann", "wallets": [ANN]},
        "to": [{"name": "Bob", "wallets": [BOB, ANN]}, {"name": "ünïcode", "wallets": []}],
        "grid": [[-1, 2], [32767, -32768]],
        "attached": "0xdeadbeef",
        "id": "0x" + "ab" * 32,
        "urgent": True,
        "fee": 2**256 - 1,
        "asset": {"token": ANN, "amount": "5"},
    },
}
NAMES = {"name": "a", "type": "uint8"}


def of_types(message=None, **types):
    return {"types": types, "domain": {}, "primaryType": "A", "message": message or {}}


def signable(data):
    """What eth-account has signed."""
    message = encode_typed_data(full_message=data)
    return b"\x19" + message.version + message.header + message.body


@pytest.mark.check
def test_hashes_are_those_that_wallets_sign():
    parsed = parse(DATA)
    assert parsed.signed == signable(DATA)
    assert parsed.encoded_type == (
        "Mail(Person from,Person[] to,int16[2][] grid,bytes attached,bytes32 id,bool urgent,"
        "uint256 fee,Asset asset)Asset(address token,uint128 amount)"
        "Person(string name,address[] wallets)"
    )


@pytest.mark.check
@pytest.mark.parametrize("seed", range(3))
def test_random_messages_are_hashed_as_by_eth_account(seed):
    randomly = random.Random(seed)
    kinds = ["uint8", "int256", "bool", "address", "bytes", "bytes4", "string"]
    values = {
        "uint8": lambda: randomly.randrange(256),
        "int256": lambda: randomly.randrange(-(2**255), 2**255),
        "bool": lambda: randomly.random() < 0.5,
        "address": lambda: "0x" + randomly.randbytes(20).hex(),
        "bytes": lambda: "0x" + randomly.randbytes(randomly.randrange(70)).hex(),
        "bytes4": lambda: "0x" + randomly.randbytes(4).hex(),
        "string": lambda: "".join(randomly.choices("aé漢 \n", k=randomly.randrange(40))),
    }
    for _ in range(30):
        types = {"EIP712Domain": DOMAIN}
        made = {}
        for level in range(3):  # each structure refers to those before it
            members = [{"name": f"s{n}", "type": f"S{n}"} for n in range(level)]
            message = {f"s{n}": made[f"S{n}"]() for n in range(level)}
            for number in range(randomly.randrange(1, 5)):
                base = randomly.choice([*kinds, *made])
                many = randomly.random() < 0.3
                members.append({"name": f"m{number}", "type": base + "[]" * many})
                made_one = made.get(base) or values[base]
                count = randomly.randrange(3)
                message[f"m{number}"] = [made_one() for _ in range(count)] if many else made_one()
            types[f"S{level}"] = members
            made[f"S{level}"] = lambda message=message: message
        data = {**DATA, "types": types, "primaryType": "S2", "message": made["S2"]()}
        assert parse(data).signed == signable(data)


TOO_MANY = {
    "structures": of_types(**{f"S{n}": [NAMES] for n in range(MAX_STRUCTURES + 1)}),
    "members": of_types(A=[{**NAMES, "name": f"m{n}"} for n in range(MAX_MEMBERS + 1)]),
}


@pytest.mark.check
@pytest.mark.parametrize("name", TOO_MANY)
def test_typed_data_is_bounded(name):
    with pytest.raises(InvalidParameter, match=f"at most 100 {name}"):
        parse(TOO_MANY[name])


@pytest.mark.check
@pytest.mark.parametrize("levels", [MAX_DEPTH, MAX_DEPTH + 1])
def test_the_bound_of_nesting_does_not_depend_on_the_order_of_members(levels):
    chain = {f"S{n}": [{"name": "a", "type": f"S{n + 1}"}] for n in range(1, levels - 1)}
    members = [{"name": f"m{n}", "type": f"S{n}[]"} for n in range(1, levels)]
    message = {member["name"]: [] for member in members}
    for ordered in (members, members[::-1]):
        data = of_types(message, A=ordered, **chain, **{f"S{levels - 1}": []})
        refused = pytest.raises(InvalidParameter, match="too deeply")
        with refused if levels > MAX_DEPTH else nullcontext():
            parse(data)


@pytest.mark.check
def test_shared_structures_are_read_once():
    """Written out, the type would have 40^14 members."""
    types = {
        f"S{n}": [{"name": f"m{m}", "type": f"S{n + 1}[]"} for m in range(40)] for n in range(14)
    }
    message = {f"m{m}": [] for m in range(40)}
    data = of_types(message) | {"types": {**types, "S14": [NAMES]}, "primaryType": "S0"}
    assert len(parse(data).encoded_type) < 10_000


def test_typed_data_is_decoded_by_its_own_types(client):
    record = lists.post(client, "/decode", typedData=DATA)
    assert bytes.fromhex(record["data"][2:]) == signable(DATA)
    assert record["digest"] == "0x" + keccak(signable(DATA)).hex()
    [candidate] = record["candidates"]
    assert (candidate["kind"], candidate["source"]) == ("message", "typed_data")
    assert (candidate["name"], candidate["signature"]) == ("Mail", parse(DATA).encoded_type)
    values = {one["name"]: (one["type"], one["value"]) for one in candidate["arguments"]}
    assert values["fee"] == ("uint256", str(2**256 - 1))
    assert values["asset"] == ("Asset", {"token": ANN.lower(), "amount": "5"})
    assert values["grid"] == ("int16[2][]", [["-1", "2"], ["32767", "-32768"]])
    small = of_types({"a": "<b>"}, A=[{"name": "a", "type": "string"}])
    by_link = client.get("/api/v1/decode", query_string={"typedData": json.dumps(small)})
    assert by_link.json == client.post("/api/v1/decode", json={"typedData": small}).json
    form = client.post("/decode", data={"data": f" {json.dumps(small)}\n"})
    page = client.get(form.headers["Location"])
    assert "A(string a)" in page.text and "&lt;b&gt;" in page.text and "<b>" not in page.text
    assert by_link.json["digest"] == "0x" + keccak256(parse(small).signed).hex()


def test_what_is_no_typed_data_is_refused_as_expected(client):
    expected.compare(__file__, client, {})
    large = of_types({"a": "x" * MAX_BYTES}, A=[{"name": "a", "type": "string"}])
    answer = client.post("/api/v1/decode", json={"typedData": large})
    assert (answer.status_code, answer.json["field"]) == (400, "typedData")
