"""The ways people take through the pages, in a real browser."""

import json
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import pytest
import requests

from scan.pages.formatting import checksummed
from tests.support import WAIT_S, page_checks

pytestmark = pytest.mark.thorough


def test_home_moves_with_the_head_and_loads_nothing_from_elsewhere(page, explorer, explorer_url):
    """It looks for what is new thirty times as often."""
    script = "{ const later = setTimeout; setTimeout = (f, ms, ...a) => later(f, ms / 30, ...a); }"
    page.before_scripts(script)
    page.open(explorer_url)
    before = page.text("#head")
    indexed = requests.get(f"{explorer_url}/api/v1/stats", timeout=WAIT_S).json()["latestBlock"]
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
    assert page_checks.requested_from(page) == {urlsplit(explorer_url).netloc}
    assert page.errors == []


def test_the_search_box_suggests_and_is_used_by_keyboard(page, over_http, scenario):
    dollar = scenario.stage.contracts["dollar"].address

    def press(key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)

    def active():
        text = "document.getElementById(document.querySelector('.search input')"
        return str(page.evaluate(f"{text}.getAttribute('aria-activedescendant'))?.textContent"))

    page.open(over_http)
    page.evaluate("document.querySelector('.search input').focus()")
    page.call("Input.insertText", text="merid")
    page.wait("document.querySelector('.search [role=option]')")
    box = "document.querySelector('.search input')"
    assert page.evaluate(f"{box}.getAttribute('aria-expanded')") == "true"
    assert page_checks.all_violations(page) == []
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


def test_a_selected_hash_is_whole(page, over_http):
    page.open(f"{over_http}/txs")
    hash_ = page.evaluate("document.querySelector('tbody a').getAttribute('href').slice(4)")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('tbody a'))")
    assert page.evaluate("getSelection().toString()").strip() == hash_


def test_times_are_of_the_visitors_zone_until_utc_is_chosen(page, over_http, scenario):
    """Which is kept; the other one stands in the title. Days and paper have UTC."""
    sent = scenario.truth.transactions[-1]
    page.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kathmandu")
    time = "document.querySelector('.facts time')"
    utc = sent["timestamp"].replace("T", " ").replace("Z", " UTC")
    ahead = datetime.fromisoformat(sent["timestamp"]) + timedelta(hours=5, minutes=45)
    local = f"{ahead:%Y-%m-%d %H:%M:%S} UTC+5:45"
    page.open(f"{over_http}/tx/{sent['hash']}")
    assert page.evaluate(f"[{time}.textContent, {time}.title]") == [local, utc]
    page.click("button.zone")
    assert page.evaluate(f"[{time}.textContent, {time}.title]") == [utc, local]
    page.open(f"{over_http}/txs")
    page.click("button.ages")
    assert page.text("button.ages") == "Time (UTC)"
    page.click("button.zone")
    assert page.text("button.ages") == "Time (local)"
    page.open(f"{over_http}/tx/{sent['hash']}")
    assert page.evaluate(f"{time}.textContent") == local
    page.call("Emulation.setEmulatedMedia", media="print")
    page.wait(f"{time}.textContent === '{utc}'")
    page.call("Emulation.setTimezoneOverride", timezoneId="")
    page.open(f"{over_http}/earnings")
    assert page.errors == []


def test_a_theme_is_chosen_and_kept(page, explorer_url):
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
    page.evaluate("localStorage.setItem('theme', '<script>')")
    page.open(f"{explorer_url}/blocks")
    assert page.evaluate(colour) == colours[0]


def test_a_watch_list_is_kept_in_the_browser(page, explorer_url, explorer, hostile):
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
        f"{explorer_url}/api/v1/addresses?addresses={person}", timeout=WAIT_S
    ).json()["addresses"]
    assert page.evaluate("document.querySelector('#addresses data').value") == balance["balance"]
    assert "script" in page.text("#tokens tbody a")
    link = page.evaluate("document.querySelector('#addresses tbody a').textContent")
    assert link == checksummed(person)
    page.evaluate("localStorage.setItem('watchlist', '[{\"address\": \"0x12\"}, null, 7]')")
    page.open(f"{explorer_url}/watchlist")
    assert "The list is empty" in page.text() and page.errors == []


def test_private_names_stay_in_the_browser(page, explorer_url, explorer):
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
    # The browser reads the page's icon when it likes.
    assert [url for url in page.requested if not url.endswith("/icon.svg")] == []
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
