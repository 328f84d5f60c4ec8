"""What a descriptor says of a call, beside the wallet's own question; what messages and calls
inside of calls are for, on pages that a phone shows."""

import json
from urllib.parse import urlencode

import pytest

from scan.extensions.clear_signing.tests import exchange, test_calls_to_sign, test_clear_signing
from scan.extensions.clear_signing.tests.test_calls_to_sign import SAFE, SEND, executed, transfer
from scan.extensions.clear_signing.tests.test_messages import descriptor, message
from scan.extensions.contract_details.tests.test_contract_page import WALLET, connect, output, press
from tests.support import explorer, page_checks, serving

PAY = {
    "intent": "Trade",
    "interpolatedIntent": "Pay {@.value} from {@.from} until {deadline}",
    "fields": [
        exchange.field("@.value", "amount"),
        exchange.field("@.from", "addressName"),
        exchange.field("deadline", "date", encoding="timestamp"),
    ],
}
MULTICALL = "function multicall(bytes[] calldata data) external payable {}"
ARGUMENTS = ("[]", exchange.ANN, "1800000000", "5", "0x", "-3", "hi")


@pytest.fixture(scope="module")
def written(chain):
    """A verified contract, whose code no other contract has."""
    source = exchange.SOURCE.replace("contract Exchange {", f"contract Written {{ {MULTICALL}")
    standard = explorer.standard_input({exchange.PATH: source})
    return chain.explorer.verified(standard, exchange.VERSION, f"{exchange.PATH}:Written")


PROMPTS = [
    (PAY, "By a descriptor: Pay 2 ETH from {sender} until 2027-01-15 08:00:00 UTC. Calls trade"),
    ({"intent": "Trade"}, "By a descriptor: Trade. Calls trade"),
]


@pytest.mark.parametrize(("format_", "said"), PROMPTS)
def test_a_wallet_is_asked_beside_what_a_descriptor_says(
    chain, client_of, page, written, format_, said
):
    files = {"trade": chain._replace(exchange=written).descriptor({exchange.TRADE: format_})}
    sender = chain.explorer.anvil.accounts[0]
    signature = f"trade({','.join(exchange.TYPES)})"
    beside = prompt(chain, client_of(**files), page, written, signature, *ARGUMENTS)
    assert said.format(sender=sender).lower() in beside.lower()
    assert page.evaluate("document.querySelectorAll('output i').length") == 0


@pytest.mark.parametrize("has_other", [False, True])
def test_nothing_is_asked_without_descriptors(chain, client_of, page, written, has_other):
    """With a descriptor of another contract only the service knows that it says nothing."""
    files = {"other": chain.descriptor({exchange.TRADE: PAY})} if has_other else {}
    signature = f"trade({','.join(exchange.TYPES)})"
    beside = prompt(chain, client_of(**files), page, written, signature, *ARGUMENTS)
    assert "Confirm in the wallet. Calls trade" in beside
    assert any(url.endswith("/api/v1/decode") for url in page.requested) == has_other


def test_what_a_call_inside_is_for_is_not_said_of_the_call(chain, client_of, page, written):
    document = chain._replace(exchange=written).descriptor({exchange.TRANSFER: {"intent": "Send"}})
    inside = f'["0x{test_calls_to_sign.transfer().hex()}"]'
    beside = prompt(chain, client_of(token=document), page, written, "multicall(bytes[])", inside)
    assert "Confirm in the wallet. A call inside, by a descriptor: Send. Calls multicall" in beside


def prompt(chain, client, page, to, signature, *arguments):
    """Return what stands beside the wallet's question."""
    page.before_scripts(WALLET)
    with serving.serving(client.application) as url:
        page.open(f"{url}/address/{to}?tab=contract&view=write")
        press(page, signature, *arguments, value="2")
        connect(page, chain.explorer.anvil.accounts[0], chain.explorer.anvil.call("eth_chainId"))
        page.wait("asked.length")
        assert page.evaluate("asked[0].method") == "eth_sendTransaction"
        assert not page.errors
        return output(page)


@pytest.mark.parametrize(("subject", "words"), [("message", "Approve"), ("call", "Call inside 1.")])
def test_what_is_decoded_can_be_read_on_a_phone(chain, client_of, page, subject, words):
    client = client_of(permits=descriptor(chain), token=chain.descriptor({exchange.TRANSFER: SEND}))
    call = f"0x{executed(chain.exchange, transfer()).hex()}"
    fields = {
        "message": {"data": json.dumps(message(chain))},
        "call": {"data": call, "address": SAFE},
    }
    with serving.serving(client.application) as url:
        page.call("Emulation.setDeviceMetricsOverride", **test_clear_signing.PHONE)
        page.open(f"{url}/decode?{urlencode(fields[subject])}")
        shown = page.text("#clear-signing")
        assert f"What the {subject} is for" in shown and words in shown
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page_checks.all_violations(page) == []
