"""What a descriptor says of a call, beside the wallet's own question."""

import pytest
from werkzeug.serving import make_server

from scan.extensions.clear_signing.tests.exchange import (
    ANN,
    PATH,
    SOURCE,
    TRADE,
    TRANSFER,
    TYPES,
    VERSION,
    Chain,
    field,
)
from scan.extensions.clear_signing.tests.test_calls_to_sign import transfer
from scan.extensions.contract_details.tests.test_contract_page import WALLET, connect, output, press
from tests.support.explorer import compiled, standard_input
from tests.support.serving import in_thread

PAY = {
    "intent": "Trade",
    "interpolatedIntent": "Pay {@.value} from {@.from} until {deadline}",
    "fields": [
        field("@.value", "amount"),
        field("@.from", "addressName"),
        field("deadline", "date", encoding="timestamp"),
    ],
}
MULTICALL = "function multicall(bytes[] calldata data) external payable {}"
ARGUMENTS = ("[]", ANN, "1800000000", "5", "0x", "-3", "hi")


@pytest.fixture(scope="module")
def written(chain: Chain) -> str:
    """A verified contract, whose code no other contract has."""
    source = SOURCE.replace("contract Exchange {", f"contract Written {{ {MULTICALL}")
    output = compiled(VERSION, standard_input({PATH: source}), PATH, "Written")
    address = chain.explorer.deploy(output.creation)
    answer = chain.explorer.verify(address, standard_input({PATH: source}), VERSION)
    assert answer.status_code == 200, answer.json
    return address


@pytest.mark.parametrize(
    ("format_", "said"),
    [
        (
            PAY,
            "By a descriptor: Pay 2 ETH from {sender} until 2027-01-15 08:00:00 UTC. Calls trade",
        ),
        ({"intent": "Trade"}, "By a descriptor: Trade. Calls trade"),
    ],
)
def test_a_wallet_is_asked_beside_what_a_descriptor_says(
    chain, client_of, page, written, format_, said
):
    of_written = chain._replace(exchange=written)
    files = {"trade": of_written.descriptor({TRADE: format_})}
    sender = chain.explorer.anvil.accounts[0]
    signature = f"trade({','.join(TYPES)})"
    beside = prompt(chain, client_of(**files), page, written, signature, *ARGUMENTS)
    assert said.format(sender=sender).lower() in beside.lower()
    assert page.evaluate("document.querySelectorAll('output i').length") == 0


@pytest.mark.parametrize("has_other", [False, True])
def test_nothing_is_asked_where_there_are_no_descriptors(
    chain, client_of, page, written, has_other
):
    """With a descriptor of another contract only the service knows that it says nothing."""
    files = {"other": chain.descriptor({TRADE: PAY})} if has_other else {}
    signature = f"trade({','.join(TYPES)})"
    beside = prompt(chain, client_of(**files), page, written, signature, *ARGUMENTS)
    assert "Confirm in the wallet. Calls trade" in beside
    assert any(url.endswith("/api/v1/decode") for url in page.requested) == has_other


def test_what_a_call_inside_is_for_is_not_said_of_the_call(chain, client_of, page, written):
    document = chain._replace(exchange=written).descriptor({TRANSFER: {"intent": "Send"}})
    inside = f'["0x{transfer().hex()}"]'
    beside = prompt(chain, client_of(token=document), page, written, "multicall(bytes[])", inside)
    assert "Confirm in the wallet. A call inside, by a descriptor: Send. Calls multicall" in beside


def prompt(chain, client, page, to, signature, *arguments):
    """Return what stands beside the wallet's question."""
    page.before_scripts(WALLET)
    server = make_server("127.0.0.1", 0, client.application, threaded=True)
    with in_thread(server) as url:
        page.open(f"{url}/address/{to}?tab=contract&view=write")
        press(page, signature, *arguments, value="2")
        connect(page, chain.explorer.anvil.accounts[0], chain.explorer.anvil.call("eth_chainId"))
        page.wait("asked.length")
        assert page.evaluate("asked[0].method") == "eth_sendTransaction"
        assert not page.errors
        return output(page)
