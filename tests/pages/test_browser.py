"""The ways people take through the pages, in a real browser."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from scan.pages.formatting import checksummed
from tests.conftest import Played
from tests.support.browser import Page
from tests.support.database import execute
from tests.support.explorer import Explorer, compiled, standard_input
from tests.support.many_functions import MANY, deploy
from tests.support.serving import wait_until
from tests.support.solidity import NODE
from tests.support.wallets import new_wallet, owner_of

STATS = "#operations-Chain-getStats"
AXE = NODE / "node_modules" / "axe-core" / "axe.min.js"
# A wallet as EIP-1193 describes it, whose signatures the test gives.
WALLET = """
window.ethereum = {request: async ({method, params}) => {
  if (method === "eth_requestAccounts") return [ACCOUNT];
  if (method !== "personal_sign") throw new Error("no " + method);
  window.toSign = params[0];
  return new Promise((resolve) => { window.signed = resolve; });
}};
window.confirm = () => true;
""".strip()


def requested_from(page: Page) -> set[str]:
    return {urlsplit(address).netloc for address in page.requested if address.startswith("http")}


@pytest.fixture
def hurried(page: Page) -> Iterator[Page]:
    """Pages look for what is new thirty times as often."""
    script = "{ const later = setTimeout; setTimeout = (f, ms, ...a) => later(f, ms / 30, ...a); }"
    added = page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
    yield page
    page.call("Page.removeScriptToEvaluateOnNewDocument", **added)


def test_home_moves_with_the_head_and_loads_nothing_from_elsewhere(
    hurried: Page, explorer: Explorer, explorer_url: str
) -> None:
    page = hurried
    page.open(explorer_url)
    before = page.text("#head")
    indexed = requests.get(f"{explorer_url}/api/v1/stats", timeout=10).json()["latestBlock"]
    assert before == f"{indexed:,}"
    # Rows are fresh until the page looks again, which it does soon.
    page.evaluate(
        "window.fresh = 0, new MutationObserver(() => { window.fresh = Math.max("
        "window.fresh, document.querySelectorAll('li.fresh').length) })"
        ".observe(document.body, {childList: true, subtree: true})"
    )
    explorer.anvil.mine()
    page.wait(f"document.getElementById('head').textContent !== '{before}'")
    page.wait("window.fresh >= 1")
    assert requested_from(page) == {urlsplit(explorer_url).netloc}
    assert page.errors == []


def test_a_pending_transaction_becomes_the_mined_one(
    hurried: Page, explorer: Explorer, explorer_url: str
) -> None:
    page, anvil = hurried, explorer.anvil
    anvil.call("evm_setAutomine", False)
    try:
        hash_ = anvil.send(anvil.accounts[5], anvil.accounts[6], value="0x1")
        page.open(f"{explorer_url}/tx/{hash_}")
        assert page.evaluate("document.querySelector('#pending .badge').textContent") == "pending"
        assert all_violations(page) == []
    finally:
        anvil.call("evm_setAutomine", True)
    anvil.mine()
    page.wait("!document.getElementById('pending') && document.querySelector('nav.tabs')")


def test_the_search_box_suggests_and_is_used_by_keyboard(
    page: Page, over_http: str, scenario: Played
) -> None:
    dollar = scenario.stage.contracts["dollar"].address

    def press(key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)

    def active() -> str:
        text = "document.getElementById(document.querySelector('.search input')"
        return str(page.evaluate(f"{text}.getAttribute('aria-activedescendant'))?.textContent"))

    page.open(over_http)
    page.evaluate("document.querySelector('.search input').focus()")
    page.call("Input.insertText", text="merid")
    page.wait("document.querySelector('.search [role=option]')")
    box = "document.querySelector('.search input')"
    assert page.evaluate(f"{box}.getAttribute('aria-expanded')") == "true"
    assert all_violations(page) == []
    press("Escape")
    assert page.evaluate("document.querySelector('[role=listbox]')") is None
    assert page.evaluate(f"{box}.value") == "merid"
    page.call("Input.insertText", text="i")
    page.wait("document.querySelector('.search [role=option]')")
    press("ArrowDown")
    assert "Meridian Dollar" in active()
    assert page.evaluate("document.activeElement.name") == "q"
    press("Enter")
    page.wait(f"location.pathname === '/token/{dollar}'")
    assert page.errors == []


def test_tabs_of_an_address_are_groups_of_one_line_each(
    page: Page, over_http: str, scenario: Played
) -> None:
    """The current one is in view, also where its group scrolls; a person has no code."""
    token = scenario.stage.contracts["dollar"].address
    person = scenario.truth.transactions[0]["fromAddress"]
    groups = "[...document.querySelectorAll('main .tabs:not(.views) > div')]"
    lines = f"{groups}.map((g) => new Set([...g.children].map((a) => a.offsetTop)).size)"
    current = "document.querySelector('main .tabs [aria-current]').getBoundingClientRect()"
    for width in (360, 768, 1280):
        show_at(page, width)
        for address, names in ((token, 3), (person, 2)):
            page.open(f"{over_http}/address/{address}?tab=trades")
            titles = page.evaluate(f"{groups}.map((g) => g.ariaLabel)")
            assert titles == ["Activity", "Holdings", "Contract"][:names]
            assert page.evaluate(lines) == [1] * names
            assert page.evaluate(f"{current}.left >= 0 && {current}.right <= innerWidth")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.call("Emulation.clearDeviceMetricsOverride")


def test_the_home_page_begins_with_a_large_search(page: Page, over_http: str) -> None:
    for width in (360, 1280):
        show_at(page, width)
        page.open(over_http)
        box = page.evaluate(
            "(({top, width, height}) => [top, width, height])"
            "(document.querySelector('h1 + form input[name=q]').getBoundingClientRect())"
        )
        assert box[0] < 300 and box[1] > 0.85 * width and box[2] >= 48
        assert page.evaluate("document.querySelectorAll('input[name=q]').length") == 1
    page.call("Emulation.clearDeviceMetricsOverride")


def test_a_selected_hash_is_whole(page: Page, over_http: str) -> None:
    page.open(f"{over_http}/txs")
    hash_ = page.evaluate("document.querySelector('tbody a').getAttribute('href').slice(4)")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('tbody a'))")
    assert page.evaluate("getSelection().toString()").strip() == hash_


def test_a_contract_is_verified_and_read(
    page: Page, explorer: Explorer, explorer_url: str, tmp_path: Path
) -> None:
    source = tmp_path / "Many.sol"
    source.write_text(MANY.replace("contract Many", "contract Read"))
    address = deploy(explorer, source.read_text(), "Read")
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


@pytest.mark.long
def test_a_folder_of_sources_is_verified_by_its_paths(
    page: Page, explorer: Explorer, explorer_url: str, tmp_path: Path
) -> None:
    """Chosen as files, they have no folders: the page says what to do."""
    folder = tmp_path / "Project"
    (folder / "sub").mkdir(parents=True)
    library = "pragma solidity ^0.8.0; library Lib { uint constant X = 271828; }"
    source = (
        'pragma solidity ^0.8.0; import "./sub/Lib.sol"; import "sub/Lib.sol";'
        " contract Two { uint256 public x = Lib.X; }"
    )
    (folder / "Two.sol").write_text(source)
    (folder / "sub" / "Lib.sol").write_text(library)
    (folder / "notes.bin").write_bytes(b"\xff\xfe")
    standard = standard_input({"Two.sol": source, "sub/Lib.sol": library})
    address = explorer.deploy(compiled("0.8.28", standard, "Two.sol", "Two").creation)
    page.open(f"{explorer_url}/address/{address}?tab=contract")

    def submit(selector: str, *paths: Path) -> None:
        page.fill("input[name=compilerVersion]", "0.8.28")
        root = page.call("DOM.getDocument")["root"]["nodeId"]
        files = page.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        page.call("DOM.setFileInputFiles", nodeId=files, files=[str(path) for path in paths])
        page.wait(f"document.querySelector({selector!r}).files.length")  # a folder takes a moment
        page.click("form[action$='verify#verify'] button")

    submit("input[type=file]", folder / "Two.sol", folder / "sub" / "Lib.sol")
    page.wait("document.querySelector('.problem') && document.readyState === 'complete'")
    assert "choose the folder" in page.text(".problem")
    assert "standard JSON" in page.text(".problem")
    submit("input[webkitdirectory]", folder)
    page.wait("document.querySelector('.badge.good') && document.readyState === 'complete'")
    assert page.text(".facts .badge.good") == "full match"
    assert explorer.contract(address).json["sources"].keys() == {"Two.sol", "sub/Lib.sol"}


def test_a_wallet_gets_a_key_that_manages_webhooks(page: Page, explorer_url: str) -> None:
    wallet = new_wallet()
    page.before_scripts(WALLET.replace("ACCOUNT", repr(wallet.address)))
    page.open(f"{explorer_url}/keys")
    page.fill("#get-key input", "from a browser")
    page.click("#get-key button")
    page.wait("window.toSign")
    message = bytes.fromhex(page.evaluate("toSign")[2:]).decode()
    page.evaluate(f"signed('{_signature(wallet, message)}')")
    page.wait("document.getElementById('key').textContent")
    page.wait("document.querySelector('#keys td')")
    assert "from a browser" in page.text("#keys")
    page.click("#use-key")
    page.wait(
        "location.pathname === '/webhooks' && document.querySelector('#create:not([hidden])')"
    )
    page.fill("#create-form input[name=url]", "https://hooks.example.com/scan")
    page.click("#create-form button")
    page.wait("document.querySelector('#webhooks td')")
    assert owner_of(wallet) in page.text("#webhooks") and len(page.text("#secret")) == 64
    secret = "document.getElementById('secret-section').getBoundingClientRect()"
    assert page.evaluate(f"{secret}.top >= 0 && {secret}.bottom <= innerHeight")
    assert page.evaluate("document.getElementById('copy-secret').dataset.copy.length") == 64
    _press(page, "Test")
    page.wait("document.querySelector('#deliveries td')")
    assert "tx" in page.text("#deliveries")
    page.open(f"{explorer_url}/webhooks")
    page.wait("document.querySelector('#webhooks td')")
    assert page.evaluate(CUMULATIVE_SHIFT) == 0
    _press(page, "Delete")
    page.wait("document.getElementById('webhooks').textContent.includes('no webhooks')")
    assert page.text("#message") == "" and page.errors == []


def test_a_key_is_ended_by_its_page(page: Page, explorer_url: str) -> None:
    wallet = new_wallet()
    page.before_scripts(WALLET.replace("ACCOUNT", repr(wallet.address)))
    page.open(f"{explorer_url}/keys")
    page.click("#get-key button")
    page.wait("window.toSign")
    message = bytes.fromhex(page.evaluate("toSign")[2:]).decode()
    page.evaluate(f"signed('{_signature(wallet, message)}')")
    page.wait("document.querySelector('#keys td button')")
    page.click("#keys td button")
    page.wait("document.getElementById('keys').textContent.includes('revoked')")
    listed = requests.get(f"{explorer_url}/api/v1/keys?owner={wallet.address}", timeout=10).json()
    assert [key["active"] for key in listed["keys"]] == [False]


def test_a_wallet_without_accounts_is_named(page: Page, explorer_url: str) -> None:
    page.before_scripts(WALLET.replace("[ACCOUNT]", "[]"))
    page.open(f"{explorer_url}/keys")
    page.click("#get-key button")
    page.wait("!document.getElementById('message').hidden")
    assert "has no account" in page.text("#message") and page.errors == []


def _signature(wallet: LocalAccount, message: str) -> str:
    return "0x" + bytes(wallet.sign_message(encode_defunct(text=message)).signature).hex()


def _press(page: Page, text: str) -> None:
    page.evaluate(
        f"[...document.querySelectorAll('#webhooks button')].find(b => b.textContent === '{text}')"
        ".click()"
    )


def test_the_csv_link_of_a_list_downloads_the_file_of_the_api(
    page: Page, over_http: str, scenario: Played, tmp_path: Path
) -> None:
    """Clicked as people do; the browser gives the file the server's name."""
    dollar = scenario.stage.contracts["dollar"].address.lower()
    lists = {"/tokens": "/tokens", f"/token/{dollar}?tab=holders": f"/tokens/{dollar}/holders"}
    for number, (path, api_path) in enumerate(lists.items()):
        folder = tmp_path / str(number)
        page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        expected = requests.get(f"{over_http}/api/v1{api_path}?format=csv", timeout=30)
        file = folder / expected.headers["Content-Disposition"].split('"')[1]
        page.open(f"{over_http}{path}")
        page.click("a.csv")
        # The browser makes the file before its content.
        wait_until(lambda: file.exists() and file.stat().st_size >= len(expected.content))  # noqa: B023
        assert expected.headers["X-Scan-Complete"] == "true"
        assert file.read_bytes() == expected.content
        assert len(expected.content.splitlines()) > 2
        assert urlsplit(page.evaluate("location.href")).path == path.partition("?")[0]


def show_at(page: Page, width: int) -> None:
    metrics = {"height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    page.call("Emulation.setDeviceMetricsOverride", width=width, **metrics)


def show_theme(page: Page, theme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": theme}
    page.call("Emulation.setEmulatedMedia", features=[feature])


ALL_RULES = "{resultTypes: ['violations'], preload: false}"
COLOURS = "{runOnly: ['color-contrast', 'link-in-text-block'], resultTypes: ['violations']}"


def all_violations(page: Page) -> list[tuple[str, list[str]]]:
    page.evaluate(AXE.read_text() + "; undefined")
    return axe_violations(page, ALL_RULES)


def axe_violations(page: Page, options: str) -> list[tuple[str, list[str]]]:
    """axe-core's rules that are broken, each with the first elements."""
    violations = page.evaluate(f"axe.run({options}).then(results => results.violations)")
    return [
        (violation["id"], [node["html"][:120] for node in violation["nodes"][:3]])
        for violation in violations
    ]


NOTHING_HIDDEN = """
[...document.querySelectorAll(".table, .table td")].filter((element) => {
  if (element.closest("[hidden], details:not([open])")) return false;
  const box = element.getBoundingClientRect();
  const isCut = element.matches(".table") && element.scrollWidth > element.clientWidth;
  const isOutside = box.left < 0 || box.right > innerWidth + 1;
  const isHidden = element.textContent.trim() && !box.width && !element.querySelector(".own");
  const inside = element.matches("td") ? [...element.children] : [];
  const spills = inside.some((child) => child.getBoundingClientRect().right > box.right + 1);
  return isCut || isOutside || isHidden || spills;
}).map((element) => element.outerHTML.slice(0, 200))
"""
INVISIBLE_LINKS = """
[...document.querySelectorAll("main a")].filter((link) => link.checkVisibility())
  .filter((link) => !link.innerText.trim() || link.offsetWidth < 8)
  .map((link) => link.outerHTML.slice(0, 200))
"""
CUMULATIVE_SHIFT = """
new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => setTimeout(() => resolve(sum), 50));
})
"""
MOST_PAINTS = 10


def least_shift(page: Page, url: str) -> float:
    """Return the layout shift of the page at url, which is open: the least of several paints, since
    a busy processor may paint a table in parts."""
    for _ in range(MOST_PAINTS):
        shift = page.evaluate(CUMULATIVE_SHIFT)
        if not shift:
            break
        page.open("about:blank")  # what differs by its fragment alone would not be painted again
        page.open(url)
    return float(shift)


TABLES_FIT = "[...document.querySelectorAll('.table')].every(t => t.scrollWidth <= t.clientWidth)"


def test_on_a_small_screen_values_fees_and_the_main_pages_are_seen(
    page: Page, over_http: str
) -> None:
    show_at(page, 1024)
    for path in ("/tokens", "/txs"):
        page.open(over_http + path)
        assert page.evaluate(TABLES_FIT), path
    assert page.evaluate(
        "[...document.querySelectorAll('.links a')].every(a => a.checkVisibility())"
    )
    assert {"/charts", "/gas", "/dex", "/docs/"} <= set(
        page.evaluate("[...document.querySelectorAll('.links a')].map(a => a.pathname)")
    )
    page.call("Emulation.clearDeviceMetricsOverride")


def test_the_key_that_goes_to_the_search_box_can_be_turned_off(page: Page, over_http: str) -> None:
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))"
    box = "document.querySelector('.search input')"
    page.open(f"{over_http}/gas")
    for place, is_on in enumerate([True, False, False, True]):
        if place == 2:
            page.open(f"{over_http}/gas")  # the choice is kept
        elif place:
            page.evaluate("document.getElementById('shortcut').click()")
        page.evaluate(f"document.activeElement.blur(); {press}")
        assert page.evaluate(f"document.activeElement === {box}") is is_on
        assert page.evaluate(f"{box}.hasAttribute('aria-keyshortcuts')") is is_on
        text = page.evaluate("document.getElementById('shortcut').textContent")
        assert text == f"Key “/” for search: {'on' if is_on else 'off'}"


def test_ages_and_exact_times_are_exchanged(page: Page, over_http: str) -> None:
    page.open(f"{over_http}/txs")
    first = "document.querySelector('td time').textContent"
    exact = page.evaluate("document.querySelector('td time').title")
    assert page.evaluate(first).endswith("ago")
    page.click("button.ages")
    assert f"{page.evaluate(first)} UTC" == exact
    page.open(f"{over_http}/blocks")
    assert page.text("button.ages") == "Time (UTC)"
    page.evaluate("document.querySelector('td time').click()")  # as a finger does
    assert page.evaluate(first).endswith("ago")


@pytest.mark.long
def test_long_names_are_reached_in_full(
    page: Page, explorer_url: str, explorer: Explorer, hostile: str
) -> None:
    """By keyboard where a list cuts them, and on their own pages."""
    owner, url = explorer.anvil.accounts[0], explorer.settings.database_url
    label = "Ten thousand bytes " + "W" * 10_000
    name, symbol = "N" * 255, "S" * 50
    insert = "INSERT INTO labels (address, label) VALUES (%s, %s)"
    rename = "UPDATE tokens SET name = %s, symbol = %s WHERE address = %s"
    token = bytes.fromhex(hostile[2:])
    before = execute(url, "SELECT name, symbol FROM tokens WHERE address = %s", token)[0]
    execute(url, insert, bytes.fromhex(owner[2:]), label)
    execute(url, rename, name, symbol, token)
    for width in (1280, 360):
        show_at(page, width)
        for path in ("/", "/txs", "/tokens", f"/address/{owner}?tab=transfers", "/search?q=nnnnnn"):
            page.open(f"{explorer_url}{path}{'&' if '?' in path else '?'}=long{width}")
            assert page.evaluate(INVISIBLE_LINKS) == [], path
            assert page.evaluate(NOTHING_HIDDEN) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        page.open(f"{explorer_url}/address/{owner}?=long{width}")
        assert page.text("h1").startswith("Ten thousand bytes W")
        assert page.text(".facts pre") == label
        page.open(f"{explorer_url}/token/{hostile}?=long{width}")
        assert page.text("h1").startswith("NNN") and page.text(".facts pre") == name
    show_at(page, 1280)
    page.open(f"{explorer_url}/txs?=long")
    link = "document.querySelector('td.party a.called')"
    page.evaluate(f"{link}.focus({{focusVisible: true}})")
    shown = page.evaluate(f"getComputedStyle({link}, '::after').content")
    assert label[:300] in shown and page.evaluate(f"{link}.title") == label[:300]
    page.call("Emulation.clearDeviceMetricsOverride")
    execute(url, "DELETE FROM labels")
    execute(url, rename, *before, token)


def test_whatever_is_touched_is_large_enough(page: Page, explorer_url: str) -> None:
    """24 px, as WCAG 2.2 has it."""
    show_at(page, 360)
    for path in ("/", "/txs"):
        page.open(explorer_url + path)
        small = """[...document.querySelectorAll(":is(header, main, footer) :is(a, button)")]
            .filter((link) => link.offsetHeight && link.offsetHeight < 24)
            .map((link) => link.outerHTML)"""
        assert page.evaluate(small) == []
    page.call("Emulation.clearDeviceMetricsOverride")


def test_a_theme_is_chosen_and_kept(page: Page, explorer_url: str) -> None:
    page.call("Emulation.setEmulatedMedia", features=[])
    page.open(explorer_url)
    colour = "getComputedStyle(document.body).backgroundColor"
    colours = [page.evaluate(colour)]
    for _ in range(2):
        page.click("button.theme")
        colours.append(page.evaluate(colour))
    assert colours[0] == colours[1] != colours[2]  # system, light, dark
    page.open(f"{explorer_url}/blocks")
    assert page.evaluate(colour) == colours[2]
    assert page.evaluate("document.querySelector('button.theme').title") == "Theme: dark"
    page.evaluate("localStorage.setItem('theme', '<script>')")
    page.open(f"{explorer_url}/blocks")
    assert page.evaluate(colour) == colours[0]
    page.evaluate("localStorage.removeItem('theme')")


def test_all_digits_are_reached_by_keyboard(page: Page, over_http: str) -> None:
    page.open(f"{over_http}/txs")
    cut = "document.querySelector('.amount[data-full]')"
    assert page.evaluate(f"getComputedStyle({cut}, '::after').content") == "none"
    page.evaluate(f"{cut}.focus()")
    shown = page.evaluate(f"getComputedStyle({cut}, '::after').content")
    assert shown == page.evaluate(f"JSON.stringify({cut}.dataset.full)") and "ETH" in shown


def test_a_chart_is_read_with_the_arrow_keys(page: Page, over_http: str) -> None:
    page.open(over_http)
    page.evaluate("document.querySelector('.plot svg').focus()")
    reading = "document.querySelector('figcaption output').textContent"
    newest = page.evaluate(reading)
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}))"
    page.evaluate(press)
    rows = "[...document.querySelector('figure.chart tbody').rows].slice(-2)"
    text = "[...row.cells].map((cell) => cell.textContent).join(': ')"
    shown = page.evaluate(f"{rows}.map((row) => {text})")
    assert [page.evaluate(reading), newest] == shown


def test_a_watch_list_is_kept_in_the_browser(
    page: Page, explorer_url: str, explorer: Explorer, hostile: str
) -> None:
    person = explorer.anvil.accounts[0]
    for path in (f"/token/{hostile}", f"/address/{person}"):
        page.open(explorer_url + path)
        page.click("button.watch")
        assert page.evaluate("document.querySelector('button.watch').ariaPressed") == "true"
    page.requested.clear()
    page.open(f"{explorer_url}/watchlist")
    numbers = "[...document.querySelectorAll('main td.number')].map((cell) => cell.textContent)"
    page.wait(f"{numbers}.length === 4 && !{numbers}.includes('…')")
    assert sum("/api/v1/" in url for url in page.requested) == 1  # however many are watched
    assert page.evaluate("window.ran") is None
    [balance] = requests.get(
        f"{explorer_url}/api/v1/addresses?addresses={person}", timeout=10
    ).json()["addresses"]
    assert page.evaluate("document.querySelector('#addresses data').value") == balance["balance"]
    assert "script" in page.text("#tokens tbody a")
    link = page.evaluate("document.querySelector('#addresses tbody a').textContent")
    assert link == checksummed(person)
    page.evaluate("localStorage.setItem('watchlist', '[{\"address\": \"0x12\"}, null, 7]')")
    page.open(f"{explorer_url}/watchlist")
    assert "The list is empty" in page.text() and page.errors == []
    page.evaluate("localStorage.removeItem('watchlist')")


def test_private_names_stay_in_the_browser(
    page: Page, explorer_url: str, explorer: Explorer
) -> None:
    """They are shown wherever the address is, as text, and leave and return with the watch list."""
    person, other = (account.lower() for account in explorer.anvil.accounts[:2])
    explorer.anvil.receipt_of(explorer.anvil.send(person, other, value=1))
    explorer.wait_for_block(explorer.anvil.head())
    name = "<img src=x onerror=window.ran=3>"
    page.open(f"{explorer_url}/address/{person}?=private")
    page.click("details:has(#own-name) summary")
    page.fill("#own-name [name=name]", name)
    page.fill("#own-name [name=note]", "pays late")
    page.requested.clear()
    page.click("#own-name button")
    page.wait("document.querySelector('#own-name p output').textContent !== ''")
    assert page.requested == []
    page.open(f"{explorer_url}/address/{other}?=private")
    shown = f"document.querySelector('td a[href$=\"/address/{person}\"] .mine')"
    assert page.evaluate(f"{shown}.textContent") == name
    assert page.evaluate(f"{shown}.title") == "pays late"
    page.open(f"{explorer_url}/watchlist")
    exported = {"names": {person: {"name": name, "note": "pays late"}}}
    assert page.evaluate("JSON.parse(localStorage.getItem('names'))") == exported["names"]
    page.evaluate("localStorage.removeItem('names')")
    page.evaluate(
        "(() => { const files = new DataTransfer();"
        f" files.items.add(new File([{json.dumps(json.dumps(exported))}], 'watchlist.json'));"
        " const input = document.getElementById('import'); input.files = files.files;"
        " input.dispatchEvent(new Event('change')); })()"
    )
    page.wait("document.getElementById('taken').textContent.startsWith('1 names and 0')")
    assert page.evaluate("JSON.parse(localStorage.getItem('names'))") == exported["names"]
    assert page.evaluate("window.ran") is None and page.errors == []
    page.evaluate("localStorage.removeItem('names')")


@pytest.mark.long
@pytest.mark.parametrize(("theme", "width"), [("light", 360), ("dark", 1280)])
def test_the_documentation_is_whole_accessible_usable_and_from_here_alone(
    page: Page, over_http: str, theme: str, width: int
) -> None:
    feature = {"name": "prefers-color-scheme", "value": theme}
    page.call("Emulation.setEmulatedMedia", features=[feature])
    metrics = {"height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    page.call("Emulation.setDeviceMetricsOverride", width=width, **metrics)
    page.open(f"{over_http}/docs/")
    assert not any("swagger-ui" in address for address in page.requested)
    assert all_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("main a[href='#/Chain/getStats']")
    page.wait("document.querySelectorAll('.opblock').length > 20")
    page.wait(f"document.querySelector('{STATS}.is-open')")
    documented = requests.get(f"{over_http}/api/v1/openapi.json", timeout=10).json()
    names = {
        operation["operationId"]
        for path in documented["paths"].values()
        for method, operation in path.items()
        if method in ("get", "post", "patch", "delete")
    }
    shown = page.evaluate("[...document.querySelectorAll('.opblock')].map(block => block.id)")
    assert {block.rsplit("-", 1)[-1] for block in shown} >= names
    assert page.evaluate("document.querySelectorAll('.errors-wrapper').length") == 0
    locks = "[...document.querySelectorAll('.opblock .authorization__btn')]"
    locked = page.evaluate(f"{locks}.map(lock => lock.closest('.opblock').id.split('-').pop())")
    assert set(locked) == {
        operation["operationId"]
        for path in documented["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict) and {"ApiKey": []} in operation.get("security", ())
    }
    require_a_try(page)
    page.click("#operations-Webhooks-createWebhook button")
    for block in (STATS, "#operations-Webhooks-createWebhook"):
        page.wait(f"document.querySelector('{block} .responses-wrapper')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dark = page.evaluate("document.documentElement.classList.contains('dark-mode')")
    assert dark == (theme == "dark")
    assert all_violations(page) == []
    assert requested_from(page) == {urlsplit(over_http).netloc} and page.errors == []
    page.call("Emulation.clearDeviceMetricsOverride")
    page.call("Emulation.setEmulatedMedia", features=[])


def require_a_try(page: Page) -> None:
    page.wait(f"document.querySelector('{STATS} button.execute')")
    # The page loses a request asked for in the moment in which it still resolves the operation.
    page.wait("ui.specSelectors.specResolvedSubtree(['paths', '/api/v1/stats', 'get'])")
    time.sleep(0.5)
    page.evaluate(f"document.querySelector('{STATS} button.execute').click()")
    live = f"document.querySelector('{STATS} .live-responses-table .response')"
    page.wait(live)
    assert page.evaluate(f"{live}.querySelector('.response-col_status').innerText") == "200"
    assert "latestBlock" in page.evaluate(f"{live}.innerText")


def test_the_documentation_has_a_strict_policy(over_http: str) -> None:
    for path in ("/docs/", "/docs/docs.js", "/docs/swagger-ui-bundle.js"):
        response = requests.get(over_http + path, timeout=10)
        assert response.status_code == 200
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy
        assert "unsafe" not in policy
    for path in ("/docs/nothing.js", "/docs/..%2fdocumentation.py", "/docs//etc/passwd"):
        assert requests.get(over_http + path, timeout=10).status_code == 404


def test_another_site_may_ask(page: Page, over_http: str) -> None:
    """A browser lets a page of another origin read the answer and its headers."""
    page.open(f"{over_http.replace('127.0.0.1', 'localhost')}/healthz")
    script = f"fetch('{over_http}/api/v1/stats', {{headers: {{'X-Request-Id': 'a-page'}}}})"
    assert page.evaluate(f"{script}.then(answer => answer.headers.get('x-request-id'))") == "a-page"
