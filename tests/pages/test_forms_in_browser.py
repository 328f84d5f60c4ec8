"""Forms of pages, sent by a real browser: sources to verify, and keys for a wallet."""

from pathlib import Path

import pytest
import requests
from eth_account.messages import encode_defunct

from tests.support import WAIT_S, many_functions, page_checks, wallets

# A wallet as EIP-1193 describes it, whose signatures the test gives.
WALLET = Path(__file__).with_name("keys_wallet.js").read_text()


def test_a_contract_is_verified_and_read(page, explorer, explorer_url, tmp_path):
    source = tmp_path / "Many.sol"
    source.write_text(many_functions.MANY.replace("contract Many", "contract Read"))
    address = many_functions.deploy(explorer, source.read_text(), "Read")
    page.open(f"{explorer_url}/address/{address}?tab=contract")
    page.fill("input[name=compilerVersion]", "0.8.28")
    page.fill("input[name=contractName]", "Read")
    root = page.call("DOM.getDocument")["root"]["nodeId"]
    files = page.call("DOM.querySelector", nodeId=root, selector="input[type=file]")["nodeId"]
    page.call("DOM.setFileInputFiles", nodeId=files, files=[str(source)])
    page.click("form[action$='verify#verify'] button")
    page.wait("document.querySelector('.badge.good') && document.querySelector('.source')")
    assert "uint256 public stored" in page.text(".source")
    page.open(f"{explorer_url}/address/{address}?tab=contract&view=read")
    page.evaluate(
        "window.form = [...document.forms]"
        ".find(each => each.elements.function?.value === 'divide(uint256)')"
    )
    page.evaluate("form.closest('details').open = true; form.elements.argument.value = '1'")
    page.evaluate("form.querySelector('button').click()")
    page.wait("form.querySelector('output').textContent.trim() === '1'")
    page.evaluate("form.elements.argument.value = '0'; form.querySelector('button').click()")
    page.wait("form.querySelector('output').textContent.includes('division')")
    assert page.evaluate("location.pathname") == f"/address/{address}"


def test_a_wallet_gets_a_key_that_manages_webhooks(page, explorer_url):
    wallet = _get_key(page, explorer_url, "from a browser")
    page.wait("document.getElementById('key').textContent")
    page.wait("document.querySelector('#keys td')")
    assert "from a browser" in page.text("#keys") and "never" in page.text("#keys")
    page.click("#use-key")
    page.wait("location.pathname === '/webhooks' && document.querySelector('#create-form')")
    page.wait("document.getElementById('owner-form')?.owner.value")
    page.fill("#create-form input[name=url]", "https://hooks.example.com/scan")
    page.click("#create-form button")
    page.wait("document.querySelector('#webhooks td')")
    assert wallets.owner_of(wallet) in page.text("#webhooks") and len(page.text("#secret")) == 64
    secret = "document.getElementById('secret-section').getBoundingClientRect()"
    assert page.evaluate(f"{secret}.top >= 0 && {secret}.bottom <= innerHeight")
    assert page.evaluate("document.getElementById('copy-secret').dataset.copy.length") == 64
    _press(page, "Test")
    page.wait("document.querySelector('#deliveries td')")
    assert "tx" in page.text("#deliveries")
    page.open(f"{explorer_url}/webhooks")
    page.wait("document.querySelector('#webhooks td')")
    assert page.evaluate(page_checks.CUMULATIVE_SHIFT) == 0
    _press(page, "Delete")
    page.wait("document.getElementById('webhooks').textContent.includes('no webhooks')")
    assert page.text("#message") == "" and page.errors == []


@pytest.mark.thorough
def test_a_webhook_of_a_list_is_narrowed_and_changed(page, explorer, explorer_url):
    """All that the API takes of a webhook."""
    owner, first, second, token = explorer.anvil.accounts[2:6]

    def listed():
        answer = requests.get(f"{explorer_url}/api/v1/webhooks?owner={owner}", timeout=WAIT_S)
        return answer.json()["webhooks"][-1]

    page.open(f"{explorer_url}/webhooks")
    given = {
        "#owner-form [name=owner]": owner,
        "#create-form [name=url]": "https://hooks.example.com/scan",
        "#create-form [name=format]": "discord",
        "#create-form [name=watched]": f"{first}\n{second}",
        "#create-form [name=topic0]": f"0x{1:064x} 0x{2:064x}",
        "#create-form [name=direction]": "in",
        "#create-form [name=tokens]": token,
        "#create-form [name=minimumValue]": f"coin 1000\n{token} 5",
        "#create-form [name=confirmations]": "12",
    }
    for selector, text in given.items():
        page.fill(selector, text)
    page.click("#create-form [value=log]")
    page.click("#create-form [value=token_transfer]")
    page.click("#create-form button")
    page.wait("document.querySelector('#webhooks td')")
    made = listed()
    assert made["topics"] == [[f"0x{1:064x}", f"0x{2:064x}"]]
    expected = {"format": "discord", "addressCount": 2, "direction": "in", "confirmations": 12}
    expected |= {"tokens": [token], "minimumValue": {"coin": "1000", token: "5"}}
    assert expected.items() <= made.items()
    _press(page, "Change")
    assert page.evaluate("document.querySelector('#change-form [name=tokens]').value") == token
    page.fill("#change-form [name=direction]", "")
    least = f"7{'0' * 20}"  # as long as what is cut in the middle of an address
    page.fill("#change-form [name=minimumValue]", least)
    page.fill("#change-form [name=tokens]", "")
    page.click("#change-form button")
    page.wait(f"document.getElementById('webhooks').innerText.includes('at least {least}')")
    changed = listed()
    narrowed = [changed[key] for key in ("direction", "tokens", "minimumValue", "confirmations")]
    assert narrowed == [None, None, least, 12]
    _press(page, "Addresses")
    page.wait(f"document.getElementById('addresses').innerText.includes('{first}')")
    page.fill("#addresses-form [name=remove]", f"{first}, {second}")
    page.click("#addresses-form button")
    page.wait(f"!document.getElementById('addresses').innerText.includes('{first}')")
    assert listed()["addressCount"] == 0
    assert page.text("#message") == "" and page.errors == []
    assert page_checks.all_violations(page) == []


@pytest.mark.thorough
def test_a_key_is_ended_by_its_page(page, explorer_url):
    wallet = _get_key(page, explorer_url, "")
    page.wait("document.querySelector('#keys td button')")
    page.click("#keys td button")
    page.wait("document.getElementById('keys').textContent.includes('revoked')")
    listed = requests.get(
        f"{explorer_url}/api/v1/keys?owner={wallet.address}", timeout=WAIT_S
    ).json()
    assert [key["active"] for key in listed["keys"]] == [False]


def _get_key(page, explorer_url, label):
    """Ask for a key with a new wallet, which signs what the page gives it; return the wallet."""
    wallet = wallets.new_wallet()
    page.before_scripts(WALLET.replace("ACCOUNT", repr(wallet.address)))
    page.open(f"{explorer_url}/keys")
    page.fill("#get-key input", label)
    page.click("#get-key button")
    page.wait("window.toSign")
    message = encode_defunct(hexstr=page.evaluate("toSign"))
    page.evaluate(f"signed('0x{bytes(wallet.sign_message(message).signature).hex()}')")
    return wallet


def _press(page, text):
    page.evaluate(
        f"[...document.querySelectorAll('#webhooks button')].find(b => b.textContent === '{text}')"
        ".click()"
    )
