"""A contract used through its page, in a real browser: values, writing with a wallet, sources."""

import json
import re
from pathlib import Path

import pytest

from tests.support import expected, page_checks
from tests.support.anvil import calldata
from tests.support.browser_wallet import WALLET, answer, connect
from tests.support.explorer import standard_input
from tests.support.many_functions import CHECKSUMMED, VERSION, deploy, verified
from tests.support.vault import CONSTRUCTOR, OWNER, VAULT

TELLER = Path(__file__).with_name("Teller.sol").read_text()


@pytest.fixture(scope="module")
def vault(explorer):
    source = VAULT.replace("contract Vault", "contract Written")
    return verified(explorer, source, "Written", CONSTRUCTOR)


@pytest.fixture
def page(page):
    """With a wallet, whose requests wait for answer()."""
    page.before_scripts(WALLET)
    return page


def press(page, function, *arguments, value=None):
    page.evaluate(f"window.form = document.querySelector(`form[data-function='{function}']`)")
    page.evaluate("form.closest('details').open = true; window.asked.length = 0")
    page.evaluate(
        f"{list(arguments)}.forEach((text, n) => "
        "[...form.querySelectorAll('input[name=argument]')][n].value = text)"
    )
    if value is not None:
        page.evaluate(f"form.elements.value.value = '{value}'")
    page.evaluate("form.querySelector('button').click()")


@pytest.mark.thorough
def test_a_contract_is_written_with_a_wallet(page, explorer, explorer_url, vault):
    anvil = explorer.anvil
    sender, chain = anvil.accounts[0], anvil.call("eth_chainId")
    page.open(f"{explorer_url}/address/{vault}?tab=contract&view=read")
    values = page.text(".values")
    assert CHECKSUMMED in values and "<b>first</b>" in values and "coins" in values
    assert page.evaluate("document.querySelectorAll('.values i').length") == 0
    page.open(f"{explorer_url}/address/{vault}?tab=contract&view=write")
    assert "no wallet" not in page.text(".wallet-state")

    deposit = "deposit(string,(uint256,address)[])"
    many_digits = str(2**255 + 1)
    press(page, deposit, "<i>note</i>", f'[[{many_digits}, "{OWNER}"]]', value="3 wei")
    page.evaluate("form.dispatchEvent(new Event('input'))")
    expected = "Calls deposit with 0.000000000000000003 ETH (3 wei) sent with the call."
    assert page.evaluate("form.querySelector('.words').textContent") == expected
    connect(page, sender, "0x1")
    page.wait("form.querySelector('output button')")
    assert "chain 1" in page.evaluate("form.querySelector('output').textContent")
    page.evaluate("form.querySelector('output button').click()")
    page.wait("asked.length")
    assert page.evaluate("asked[0].params[0].chainId") == chain
    answer(page, "wallet_switchEthereumChain", "null")
    page.wait("form.querySelector('output').textContent.includes('Switched')")

    page.evaluate("form.querySelector('p button').click()")
    connect(page, sender, chain)
    page.wait("asked.length")
    assert page.evaluate("asked[0].method") == "eth_sendTransaction"
    transaction = page.evaluate("asked[0].params[0]")
    assert (transaction["to"], transaction["value"]) == (vault, "0x3")
    sent = anvil.call("eth_sendTransaction", {**transaction, "gas": hex(1_000_000)})
    anvil.mine()
    page.evaluate(f"asked.shift().resolve('{sent}')")
    page.wait("form.querySelector('output').textContent.includes('In a block')")
    assert page.evaluate("form.querySelector('output a').getAttribute('href')") == f"/tx/{sent}"
    assert anvil.receipt_of(sent)["status"] == "0x1"
    assert explorer.call(vault, "parts", 0).json["result"] == [many_digits, OWNER]
    assert explorer.call(vault, "note").json["result"] == "<i>note</i>"


def test_a_page_without_a_script_has_its_facts_and_the_functions_that_write(explorer, vault):
    page = explorer.get(f"/address/{vault}?tab=contract&view=write")
    [section] = re.findall(r'<section id="write".*?</section>', page, re.DOTALL)
    assert " hidden" not in section.partition(">")[0]
    assert "<noscript><p><code>deposit(string,(uint256,address)[])</code>" in section
    text = re.sub("<[^>]*>", "", section)
    assert "\ndeposit(string note_, (uint256,address)[] parts_) payable" in text
    assert "Sending needs JavaScript and a wallet in the browser." in page
    facts = explorer.get(f"/address/{vault}?tab=contract")
    assert explorer.me in facts.lower() and "&lt;b&gt;first&lt;/b&gt;" in facts


def test_functions_that_write_say_what_their_calls_took(explorer):
    source = TELLER.replace("return amount / 2", "return amount / 3")
    address = verified(explorer, source, "Teller", OWNER[2:].zfill(64))
    path = f"/address/{address}?tab=contract&view=write"
    assert "usually" not in explorer.get(path)
    calls = [calldata("pay(uint256)", n) for n in (7, 2**255)]
    sent = [explorer.send(address, data, gas=100_000) for data in (calls[0][:10], *calls)]
    used = sorted(int(explorer.anvil.receipt_of(one)["gasUsed"], 16) for one in sent)
    text = explorer.get(path)
    assert f"usually {used[1]:,} gas" in text
    assert f"nine in ten at most {used[2]:,}, and the most was {used[2]:,}" in text
    assert "1 call failed" in text


def test_amounts_have_units_of_the_token_that_a_contract_returns(explorer):
    """Named in the hints of fields, and read without a script as with one."""
    teller = verified(explorer, TELLER, "Teller", deploy(explorer, TELLER, "Cash")[2:].zfill(64))
    path = f"/address/{teller}"
    for view in ("read", "write"):
        shown = explorer.get(f"{path}?tab=contract&view={view}")
        assert 'placeholder="a number, or 1.5 CASH"' in shown and "1.5 ether" not in shown

    def half(amount):
        form = {"function": "half(uint256)", "argument": amount}
        return explorer.client.post(f"{path}/call", data=form).text

    assert "Called with <code>1500000</code>" in half("1.5 CASH") and "750000" in half("1.5 CASH")
    assert "1.5 has no unit. Write one, such as 1.5 CASH, or a whole number." in half("1.5")
    assert "Unknown unit CAKE. Known units: CASH, " in half("1 CAKE")


@pytest.mark.thorough
def test_what_a_wallet_refuses_is_told(page, explorer, explorer_url, vault):
    anvil = explorer.anvil
    sender, chain = anvil.accounts[0], anvil.call("eth_chainId")
    page.open(f"{explorer_url}/address/{vault}?tab=contract&view=write")
    for accounts in ("[]", "null", "['0x12']", "5"):
        press(page, "withdraw(uint256)", "1")
        answer(page, "eth_requestAccounts", accounts)
        page.wait("form.querySelector('output').textContent.includes('no account')")
    press(page, "withdraw(uint256)", "1000000000000 ether")
    connect(page, sender, chain)
    page.wait("form.querySelector('output').textContent.includes('NotEnough')")
    assert sender in page.evaluate("form.querySelector('output').textContent")
    press(page, "deposit(string,(uint256,address)[])", "x", "[broken")
    connect(page, sender, chain)
    page.wait("form.querySelector('output').textContent.includes('JSON')")
    press(page, "withdraw(uint256)", "0")
    connect(page, sender, chain)
    page.wait("asked.length")
    page.evaluate("asked.shift().reject({code: 4001, message: 'User rejected'})")
    page.wait("form.querySelector('output').textContent.includes('rejected')")
    assert page.errors == []


@pytest.mark.thorough
def test_lines_of_several_files_can_be_linked_to(page, explorer, explorer_url):
    name = "ERC1155MathUpgradeable.sol"
    pragma = "pragma solidity ^0.8.0;\n"
    main = f'{pragma}import "lib/deep/{name}";\ncontract Main {{ uint256 public x = Math.X; }}'
    library = f"{pragma}library Math {{\nuint256 constant X = 31;\n}}"
    sources = {"src/Main.sol": main, f"lib/deep/{name}": library}
    address = explorer.verified(standard_input(sources), VERSION, "src/Main.sol:Main")
    page.open(f"{explorer_url}/address/{address}?tab=contract#F2-L3")
    line = "document.getElementById('F2-L3')"
    page.wait(f"{line}.closest('details').open")
    assert page.evaluate(f"{line}.textContent").strip() == "uint256 constant X = 31;"
    assert page.evaluate("document.querySelector(':target').id") == "F2-L3"
    tree = page.evaluate("document.querySelector('nav.paths').innerText").split()
    assert tree == ["src/", "Main.sol", "lib/", "deep/", name]
    page.click("nav.paths a[href='#L1']")
    page.wait("location.hash === '#L1'")
    assert "pragma" in page.evaluate("document.getElementById('L1').textContent")
    line_url = f"{explorer_url}/address/{address}?tab=contract#L2"
    page.open("about:blank")
    page.open(line_url)
    assert page_checks.least_shift(page, line_url) == 0


@pytest.mark.thorough
def test_a_hostile_abi_makes_a_page(explorer, vault):
    """9,000 functions, overloads, names with markup, types nested deep, 400 folders."""
    function = {"type": "function", "inputs": [], "stateMutability": "nonpayable"}
    abi = [{**function, "name": f"f{n}<script>window.ran=1</script>\u202e"} for n in range(9000)]
    inputs = [{"type": "uint256" + "[]" * n, "name": "<b>" * 200} for n in range(20)]
    over = {**function, "name": "over", "stateMutability": "view"}
    abi += [{**over, "inputs": inputs[:n]} for n in range(20)]
    abi += [{"type": "function"}, {"type": "function", "name": 5, "inputs": 5}, {"name": "x"}]
    source = VAULT.replace("contract Vault", "contract Abi")
    address = verified(explorer, source, "Abi", CONSTRUCTOR)
    paths = {"/".join("a" * n): {"content": "x"} for n in range(1, 400)}
    changed = "UPDATE verified_contracts SET abi = %s, sources = %s WHERE address = %s"
    explorer.execute(changed, json.dumps(abi), json.dumps(paths), bytes.fromhex(address[2:]))
    for view in ("code", "read", "write"):
        shown = explorer.client.get(f"/address/{address}?tab=contract&view={view}")
        assert shown.status_code == 200 and len(shown.data) < 500_000, view
        text = re.sub(r' data-function="[^"]*"', "", shown.text)  # which nobody sees
        assert "<script>window" not in shown.text and "\u202e" not in text
    values = explorer.client.get(f"/api/v1/contracts/{address}/values")
    assert values.status_code == 200 and values.json["values"] == []


def test_modifiers_are_shown_as_they_are_written_as_expected(explorer):
    """Each leads to its line; of functions that override each other it is the last."""
    guarded = Path(__file__).with_name("Guarded.sol").read_text()
    roles = Path(__file__).with_name("Roles.sol").read_text()
    given = standard_input({"src/Guarded.sol": guarded, "src/Roles.sol": roles})
    address = explorer.verified(given, VERSION, "src/Guarded.sol:Guarded")
    expected.compare(__file__, explorer.client, {"Guarded": address}, "modifiers")
