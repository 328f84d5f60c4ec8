"""A contract used through its page, in a real browser: values, writing with a wallet."""

import pytest

from tests.contracts.test_encode_and_values import CONSTRUCTOR, OWNER
from tests.support.browser import Page
from tests.support.explorer import Explorer
from tests.support.many_functions import VERSION, deploy
from tests.support.vault import VAULT

# A wallet that announces itself (EIP-6963); the test answers each of its requests.
WALLET = """
window.asked = [];
const provider = {request: (request) => new Promise((resolve, reject) => {
  window.asked.push({...request, resolve, reject});
})};
const info = {uuid: "UUID", name: "<b>Stub</b>", icon: "data:image/svg+xml,<svg/>", rdns: "stub"};
const announce = () => window.dispatchEvent(
  new CustomEvent("eip6963:announceProvider", {detail: Object.freeze({info, provider})}));
if (location.pathname.startsWith("/address/")) {
  window.addEventListener("eip6963:requestProvider", announce);
}
"""


@pytest.fixture(scope="module")
def vault(explorer: Explorer) -> str:
    source = VAULT.replace("contract Vault", "contract Written")
    address = deploy(explorer, source, "Written", CONSTRUCTOR)
    answer = explorer.verify(address, source, VERSION, contractName="Written", optimizationUsed=0)
    assert answer.status_code == 200, answer.json
    return address


def press(page: Page, function: str, *arguments: str, value: str | None = None) -> None:
    page.evaluate(f"window.form = document.querySelector(`form[data-function='{function}']`)")
    page.evaluate("form.closest('details').open = true; window.asked.length = 0")
    page.evaluate(
        f"{list(arguments)}.forEach((text, n) => "
        "[...form.querySelectorAll('input[name=argument]')][n].value = text)"
    )
    if value is not None:
        page.evaluate(f"form.elements.value.value = '{value}'")
    page.evaluate("form.querySelector('button').click()")


def answer(page: Page, method: str, result: str) -> None:
    """The wallet's next answer, to a request of this method."""
    page.wait("asked.length")
    assert page.evaluate("asked[0].method") == method
    page.evaluate(f"asked.shift().resolve({result})")


def output(page: Page) -> str:
    return str(page.evaluate("form.querySelector('output').textContent"))


def test_a_contract_is_written_with_a_wallet(
    page: Page, explorer: Explorer, explorer_url: str, vault: str
) -> None:
    anvil = explorer.anvil
    sender, chain = anvil.accounts[0], anvil.call("eth_chainId")
    page.before_scripts(WALLET)
    page.open(f"{explorer_url}/address/{vault}?tab=contract")
    values = page.text(".values")
    assert OWNER in values and "<b>first</b>" in values and "coins" in values
    assert "no wallet" not in page.text("#wallet-state")

    deposit = "deposit(string,(uint256,address)[])"
    many_digits = str(2**255 + 1)
    parts = f'[[{many_digits}, "{OWNER}"]]'
    press(page, deposit, "<i>note</i>", parts, value="0.000000000000000003")
    answer(page, "eth_requestAccounts", f"['{sender}']")
    answer(page, "eth_chainId", "'0x1'")  # another chain
    page.wait("form.querySelector('output button')")
    assert "chain 1" in output(page)
    page.evaluate("form.querySelector('output button').click()")
    page.wait("asked.length")
    assert page.evaluate("asked[0].params[0].chainId") == chain
    answer(page, "wallet_switchEthereumChain", "null")
    page.wait("form.querySelector('output').textContent.includes('Switched')")

    page.evaluate("form.querySelector('p button').click()")
    answer(page, "eth_requestAccounts", f"['{sender}']")
    answer(page, "eth_chainId", f"'{chain}'")
    page.wait("asked.length")
    assert page.evaluate("asked[0].method") == "eth_sendTransaction"
    transaction = page.evaluate("asked[0].params[0]")
    assert transaction.keys() == {"from", "to", "data", "value", "chainId"}
    assert (transaction["to"], transaction["value"]) == (vault, "0x3")
    sent = anvil.call("eth_sendTransaction", {**transaction, "gas": hex(1_000_000)})
    anvil.mine()
    page.evaluate(f"asked.shift().resolve('{sent}')")
    page.wait("form.querySelector('output').textContent.includes('In a block')")
    assert page.evaluate("form.querySelector('output a').getAttribute('href')") == f"/tx/{sent}"
    assert anvil.receipt_of(sent)["status"] == "0x1"
    assert explorer.call(vault, "parts", 0).json["result"] == [many_digits, OWNER]
    assert explorer.call(vault, "note").json["result"] == "<i>note</i>"
    assert page.evaluate("document.querySelectorAll('.values i').length") == 0


def test_what_a_wallet_refuses_is_told(
    page: Page, explorer: Explorer, explorer_url: str, vault: str
) -> None:
    anvil = explorer.anvil
    sender, chain = anvil.accounts[0], anvil.call("eth_chainId")
    page.open(f"{explorer_url}/address/{vault}?tab=contract")
    for accounts in ("[]", "null", "['0x12']", "5"):
        press(page, "withdraw(uint256)", "1")
        answer(page, "eth_requestAccounts", accounts)
        page.wait("form.querySelector('output').textContent.includes('no account')")
    press(page, "withdraw(uint256)", str(10**30))
    answer(page, "eth_requestAccounts", f"['{sender}']")
    answer(page, "eth_chainId", f"'{chain}'")
    page.wait("form.querySelector('output').textContent.includes('NotEnough')")
    assert sender in output(page)
    press(page, "withdraw(uint256)", "1.5")
    answer(page, "eth_requestAccounts", f"['{sender}']")
    answer(page, "eth_chainId", f"'{chain}'")
    page.wait("form.querySelector('output').textContent.includes('args[0]')")
    press(page, "withdraw(uint256)", "0")
    answer(page, "eth_requestAccounts", f"['{sender}']")
    answer(page, "eth_chainId", f"'{chain}'")
    page.wait("asked.length")
    page.evaluate("asked.shift().reject({code: 4001, message: 'User rejected'})")
    page.wait("form.querySelector('output').textContent.includes('refused')")
    press(page, "deposit(string,(uint256,address)[])", "x", "[broken")
    answer(page, "eth_requestAccounts", f"['{sender}']")
    answer(page, "eth_chainId", f"'{chain}'")
    page.wait("form.querySelector('output').textContent.includes('JSON')")
    assert page.errors == []


def test_a_wallet_without_accounts_gets_no_key_but_a_sentence(
    page: Page, explorer_url: str
) -> None:
    page.before_scripts(
        "if (location.pathname === '/keys')"
        " window.ethereum = {request: async () => window.noAccounts ?? []};"
    )
    page.open(f"{explorer_url}/keys")
    page.click("#get-key button")
    page.wait("document.getElementById('message').textContent.includes('no account')")
    assert page.errors == []
