"""What calls are for before they are sent, those inside of others, and whose descriptors fit."""

from pathlib import Path

import pytest
from eth_abi import encode

from scan.extensions.clear_signing.queries import MAX_CALLS, MAX_DEPTH
from scan.extensions.clear_signing.tests.exchange import (
    ANN,
    NATIVE,
    SENT_WEI,
    TRADE,
    TRANSFER,
    TYPES,
    VERSION,
    field,
    signing,
)
from tests.support.anvil import encoded_call
from tests.support.explorer import compiled, standard_input
from tests.support.lists import post

SAFE, OTHER = "0x" + "5a" * 20, "0x" + "07" * 20
EXECUTE = (
    "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)"
)
MULTISEND = "multiSend(bytes)"
SEND = {
    "intent": "Send",
    "interpolatedIntent": "Send {value} from {@.from}",
    "fields": [field("value", "tokenAmount", tokenPath="@.to"), field("@.from", "addressName")],
}
PAY = {
    "intent": "Pay",
    "interpolatedIntent": "Pay {@.value}",
    "fields": [field("@.value", "amount")],
}
PROXY = Path(__file__).with_name("Proxy.sol").read_text()


def transfer(value=1500000):
    return encoded_call("transfer(address,uint256)", ANN, value)


def executed(to, data, operation=0, value=0):
    return encoded_call(EXECUTE, to, value, data, operation, 0, 0, 0, NATIVE, NATIVE, b"")


def packed(*calls):
    parts = (
        bytes([0]) + bytes.fromhex(to[2:]) + bytes(32) + len(data).to_bytes(32) + data
        for to, data in calls
    )
    return encoded_call(MULTISEND, b"".join(parts))


def decoded(client, data, to, **fields):
    answer = client.post(
        "/api/v1/decode", json={"data": f"0x{data.hex()}", "address": to, **fields}
    )
    assert answer.status_code == 200, answer.json
    return answer.json


def inside(record):
    return [
        (call["path"], call["clearSigning"]["interpolatedIntent"])
        for call in record["clearSignedCalls"]
    ]


def deployed(chain, name, arguments="", source=PROXY):
    output = compiled(VERSION, standard_input({"S.sol": source}), "S.sol", name)
    return chain.explorer.deploy(output.creation, arguments)


def test_data_to_decode_is_described(chain, client_of):
    client = client_of(token=chain.descriptor({TRANSFER: SEND}))
    record = decoded(client, transfer(), chain.exchange, **{"from": SAFE})
    assert record["clearSigning"]["interpolatedIntent"].startswith("Send 1.5 BET from 0x5a5A")
    assert record["clearSigning"].keys() == signing(client, chain.transfer()).keys()
    query = {"data": f"0x{transfer().hex()}", "address": chain.exchange, "from": SAFE}
    page = client.get("/decode", query_string=query)
    assert "What the call is for" in page.text and "1.5 BET" in page.text
    assert client.get("/api/v1/decode", query_string=query).json == record


def test_a_sender_or_value_that_is_not_known_shows_nothing_false(chain, client_of):
    client = client_of(token=chain.descriptor({TRANSFER: SEND, TRADE: PAY}))
    assert decoded(client, transfer(), chain.exchange)["clearSigning"] is None
    legs = encoded_call(f"trade({','.join(TYPES)})", [], ANN, 0, 0, b"", 0, "")
    assert decoded(client, legs, chain.exchange)["clearSigning"] is None
    paid = decoded(client, legs, chain.exchange, value=str(SENT_WEI))
    assert paid["clearSigning"]["interpolatedIntent"] == "Pay 0.5 ETH"


@pytest.mark.parametrize(
    "fields",
    [{"kind": "error"}, {"topics": ["0x" + "11" * 32]}, {"kind": "event"}, {"address": NATIVE}],
)
def test_what_is_no_call_of_the_contract_is_not_described(chain, client_of, fields):
    client = client_of(token=chain.descriptor({TRANSFER: PAY}))
    body = {"data": f"0x{transfer().hex()}", "address": chain.exchange, "value": "0", **fields}
    record = post(client, "/decode", **body)
    assert (record["clearSigning"], record["clearSignedCalls"]) == (None, [])


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [({"from": "0x12"}, "from"), ({"value": "-1"}, "value"), ({"value": 2**256}, "value")],
)
def test_senders_and_values_are_checked(chain, client_of, fields, wrong):
    answer = client_of().post("/api/v1/decode", json={"data": "0x", **fields})
    assert (answer.status_code, answer.json["field"]) == (400, wrong)


def test_calls_inside_are_described_as_those_of_their_senders(chain, client_of):
    client = client_of(token=chain.descriptor({TRANSFER: SEND}))
    of_safe = f"send 1.5 bet from {SAFE}"
    sent = executed(chain.exchange, transfer())
    without_code = chain.explorer.send(SAFE, f"0x{sent.hex()}")
    assert client.get(f"/api/v1/transactions/{without_code}").json["clearSignedCalls"] == []
    chain.explorer.anvil.call("anvil_setCode", SAFE, "0x00")
    hash_ = chain.explorer.send(SAFE, f"0x{sent.hex()}")
    record = client.get(f"/api/v1/transactions/{hash_}").json
    assert record["clearSigning"] is None
    [call] = record["clearSignedCalls"]
    assert call["toAddress"] == chain.exchange and call["path"] == [0]
    assert call["clearSigning"]["interpolatedIntent"].lower() == of_safe
    assert "Call inside 1." in client.get(f"/tx/{hash_}").text
    batch = packed((chain.exchange, transfer()), (OTHER, b""), (chain.exchange, transfer(1)))
    record = decoded(client, executed(OTHER, batch, operation=1), SAFE)
    assert [path for path, _ in inside(record)] == [[0, 0], [0, 2]]
    assert all(text.lower().endswith(f"from {SAFE}") for _, text in inside(record))
    assert [call["path"] for call in record["calls"]] == [[0], [0, 0], [0, 1], [0, 2]]


def test_a_proposed_call_may_be_made_by_a_timelock(chain, client_of):
    signature = "propose(address[],uint256[],bytes[],string)"
    data = encoded_call(signature, [chain.exchange], [0], [transfer()], "")
    client = client_of(token=chain.descriptor({TRANSFER: SEND}))
    assert inside(decoded(client, data, SAFE)) == []
    client = client_of(token=chain.descriptor({TRANSFER: PAY}))
    assert inside(decoded(client, data, SAFE)) == [([0], "Pay 0 ETH")]


def test_a_delegatecall_is_not_what_the_descriptor_says(chain, client_of):
    client = client_of(token=chain.descriptor({TRANSFER: SEND}))
    assert inside(decoded(client, executed(chain.exchange, transfer(), operation=1), SAFE)) == []


def test_a_multicall_of_the_contract_itself_has_its_sender_and_value(chain, client_of):
    fields = [*SEND["fields"], field("@.value", "amount")]
    both = {**SEND, "interpolatedIntent": "Send {value} with {@.value}", "fields": fields}
    client = client_of(token=chain.descriptor({TRANSFER: both}))
    data = encoded_call("multicall(bytes[])", [transfer()])
    record = decoded(client, data, chain.exchange, **{"from": SAFE, "value": str(SENT_WEI)})
    assert inside(record) == [([0], "Send 1.5 BET with 0.5 ETH")]


def test_depth_and_number_of_calls_inside_are_bounded(chain, client_of):
    client = client_of(token=chain.descriptor({TRANSFER: SEND}))
    for depth, described in ((MAX_DEPTH, 1), (MAX_DEPTH + 1, 0)):
        data = transfer()
        for level in range(depth):
            data = executed(chain.exchange if level == 0 else SAFE, data)
        assert len(inside(decoded(client, data, SAFE))) == described
    batch = packed(*[(chain.exchange, transfer())] * 150)
    assert len(inside(decoded(client, executed(OTHER, batch, operation=1), SAFE))) == MAX_CALLS - 2


def test_a_value_that_is_calldata_is_described_in_its_place(chain, client_of):
    call = {**field("data", "calldata", calleePath="to", spenderPath="@.to"), "label": "Call"}
    document = chain.descriptor(
        {
            "execTransaction(address to,uint256 value,bytes data,uint8 operation,"
            "uint256 a,uint256 b,uint256 c,address d,address e,bytes f)": {
                "intent": "Execute",
                "interpolatedIntent": "Execute: {data}",
                "fields": [call],
            }
        }
    )
    document["context"]["contract"]["deployments"] = [{"chainId": 31337, "address": SAFE}]
    client = client_of(safe=document, token=chain.descriptor({TRANSFER: SEND}))
    record = decoded(client, executed(chain.exchange, transfer()), SAFE)
    described = record["clearSigning"]
    [shown] = described["fields"]
    assert shown["format"] == "calldata" and shown["value"].startswith("Send 1.5 BET from 0x5a5A")
    assert shown["clearSigning"]["interpolatedIntent"] == shown["value"]
    assert described["interpolatedIntent"] == f"Execute: {shown['value']}"
    assert record["clearSignedCalls"] == []  # it is shown already
    unknown = decoded(client, executed(OTHER, transfer()), SAFE)["clearSigning"]
    assert unknown["interpolatedIntent"] is None and unknown["fields"][0]["format"] == "raw"
    itself = executed(SAFE, b"")
    for _ in range(MAX_DEPTH + 3):
        itself = executed(SAFE, itself)
    levels, described = 0, decoded(client, itself, SAFE)["clearSigning"]
    while described:
        levels, described = levels + 1, described["fields"][0].get("clearSigning")
    assert levels == MAX_DEPTH + 1


OF_OTHERS = [
    ({"calleePath": "to", "chainId": 1}, "raw"),
    ({"calleePath": "to", "chainId": 31337}, "calldata"),
    ({"callee": NATIVE}, "raw"),
    ({}, "raw"),
    ({"calleePath": "to", "selector": "0x12"}, "raw"),
    ({"calleePath": "to", "selector": "0xffffffff"}, "raw"),
]


@pytest.mark.parametrize(("params", "format_"), OF_OTHERS)
def test_calldata_of_another_chain_or_contract_is_raw(chain, client_of, params, format_):
    own = {"intent": "Forward", "fields": [field("data", "calldata", **params)]}
    inner = {"intent": "Nothing", "fields": []}
    document = chain.descriptor({"forward(address to,bytes data)": own, TRANSFER: inner})
    data = encoded_call("forward(address,bytes)", chain.exchange, transfer())
    [shown] = decoded(client_of(token=document), data, chain.exchange)["clearSigning"]["fields"]
    assert shown["format"] == format_


AMOUNTS = [
    ({"amountPath": "value"}, "Pay 0.5 ETH"),
    ({"amount": str(SENT_WEI)}, "Pay 0.5 ETH"),
    ({"amount": SENT_WEI // 5}, "Pay 0.1 ETH"),
    ({"amount": "-1"}, None),
    ({}, None),  # the amount of the outer call is not that of the inner one
]


@pytest.mark.parametrize(("params", "shown"), AMOUNTS)
def test_a_call_that_is_a_value_has_the_amount_of_its_parameter(chain, client_of, params, shown):
    inner = field("data", "calldata", calleePath="to", **params)
    signature = "forward(address to,uint256 value,bytes data)"
    document = chain.descriptor(
        {signature: {"intent": "Forward", "fields": [inner]}, TRANSFER: PAY}
    )
    signature = "forward(address,uint256,bytes)"
    data = encoded_call(signature, chain.exchange, SENT_WEI, transfer())
    record = decoded(client_of(token=document), data, chain.exchange, value="7")
    [value] = record["clearSigning"]["fields"]
    expected = ("calldata", shown) if shown else ("raw", f"0x{transfer().hex()}")
    assert (value["format"], value["value"]) == expected


def test_a_proxy_is_described_by_its_own_address_or_its_implementations(chain, client_of):
    proxy = deployed(chain, "Proxy", encode(["address"], [chain.exchange]).hex())
    client = client_of(z=chain.descriptor({TRANSFER: PAY}))
    described = decoded(client, transfer(), proxy, value="0")["clearSigning"]
    assert described["interpolatedIntent"] == "Pay 0 ETH"
    sent = chain.explorer.send(proxy, f"0x{transfer().hex()}")
    assert signing(client, sent)["descriptor"] == "z.json"
    own = chain.descriptor({TRANSFER: {"intent": "Own"}})
    own["context"]["contract"]["deployments"] = [{"chainId": 31337, "address": proxy}]
    both = client_of(z=chain.descriptor({TRANSFER: PAY, TRADE: PAY}), zz=own)
    assert signing(both, sent)["descriptor"] == "zz.json"
