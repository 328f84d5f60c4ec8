"""What people need who read with a keyboard, a screen reader, paper or a window of middle width."""

import pytest

from tests.support import database, page_checks

pytestmark = pytest.mark.thorough

# Elements whose text is cut at their edge.
CUT = """[...document.querySelectorAll("SELECTOR")]
    .filter((element) => element.scrollWidth > element.clientWidth + 1)
    .map((element) => element.textContent)"""


def cut(page, selector):
    assert page.evaluate(f'document.querySelector("{selector}") !== null')
    return list(page.evaluate(CUT.replace("SELECTOR", selector)))


def press(page, key):
    for kind in ("keyDown", "keyUp"):
        text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
        page.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            code=key,
            windowsVirtualKeyCode={"Tab": 9, "Enter": 13}[key],
            **text,
        )


@pytest.fixture
def busy(scenario):
    """The path of an address with a head of many links before its list."""
    return f"/address/{scenario.truth.dex_trades[-1]['maker']}"


def test_a_keyboard_reaches_the_first_row_with_few_keys(page, over_http, busy):
    page.open(over_http + busy)
    for target in ("#main", "#list"):
        press(page, "Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == target
    press(page, "Enter")
    for _ in range(3):  # the table, which scrolls; the button of its ages; the first row
        press(page, "Tab")
    assert page.evaluate("document.activeElement.closest('tbody tr:first-child') !== null")
    page.open(f"{over_http}/keys")
    assert page.evaluate("document.querySelectorAll('.skip').length") == 1


def test_copying_is_announced_to_screen_readers(page, over_http, busy):
    page.open(over_http + busy)
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; }")
    assert page.evaluate("document.querySelector('#announced[role=status]').textContent") == ""
    page.click("button.copy")
    page.wait("document.getElementById('announced').textContent === 'Copied'")
    assert page.evaluate("`/address/${window.copied.toLowerCase()}`") == busy


def test_a_page_is_printed_without_what_is_only_pressed(page, over_http, busy):
    page.open(over_http + busy)
    page.call("Emulation.setEmulatedMedia", media="print")
    pressed = "header, footer, .tabs, .pager, .skip, main button, main form"
    shown = f"[...document.querySelectorAll('{pressed}')].filter(e => e.checkVisibility()).length"
    assert page.evaluate(shown) == 0
    assert page.evaluate("document.querySelector('tbody td').checkVisibility()")
    times = "[...document.querySelectorAll('td > time[data-age]')].map(e => e.innerText)"
    page.wait(f"{times}.every(text => /^[0-9-]{{10}} [0-9:]{{8}} UTC$/.test(text))")
    assert page.evaluate(f"{times}.length") > 0
    style = "getComputedStyle(document.querySelector('.table'))"
    assert page.evaluate(f"[{style}.overflowX, {style}.backgroundImage]") == ["visible", "none"]
    page.call("Emulation.setEmulatedMedia", media="")
    page.wait(f"{times}.every(text => !text.includes('UTC'))")
    assert page.evaluate(shown) > 0


def test_the_balance_of_an_address_has_one_line_at_768_px(page, over_http, busy):
    page_checks.show_at(page, 768)
    page.open(over_http + busy)
    tops = "document.querySelectorAll('.numbers .wide dd > *')"
    bottoms = page.evaluate(f"[...{tops}].map(e => Math.round(e.getBoundingClientRect().bottom))")
    assert len(bottoms) >= 2 and max(bottoms) - min(bottoms) < 6
    boxes = "[...document.querySelectorAll('.numbers > div')].map(e => e.offsetTop)"
    assert len(set(page.evaluate(boxes)[1:])) == 1  # the others have one row below it


@pytest.mark.parametrize("width", [360, 1280])
def test_the_badge_of_a_token_with_a_namesake_is_whole(page, over_http, width):
    page_checks.show_at(page, width)
    page.open(f"{over_http}/tokens")
    assert cut(page, "a.badge.namesake") == []
    assert page.text("a.badge.namesake").startswith("same symbol as ")


def test_names_in_a_history_are_whole_in_one_line_where_there_is_room(page, explorer_url, explorer):
    owner, other = explorer.anvil.accounts[:2]
    url, name = explorer.settings.database_url, "Harbour treasury, cold wallet"
    insert = "INSERT INTO labels (address, label) VALUES (%s, %s)"
    database.execute(url, insert, bytes.fromhex(other[2:]), name)
    explorer.anvil.receipt_of(explorer.anvil.send(owner, other, value=10**17 + 1))
    explorer.wait_for_block(explorer.anvil.head())
    page_checks.show_at(page, 1280)
    page.open(f"{explorer_url}/address/{owner}?tab=history&_=names")
    # What other tests sent from this account, names made to be cut among it, is in the list too.
    assert name not in cut(page, ".changes bdi")
    named = (
        f"[...document.querySelectorAll('.changes bdi')].filter(e => e.textContent === '{name}')"
    )
    assert set(page.evaluate(f"{named}.map(e => e.getClientRects().length)")) == {1}
    page.call("Emulation.clearDeviceMetricsOverride")
    database.execute(url, "DELETE FROM labels")


def test_on_a_small_screen_values_fees_and_the_main_pages_are_seen(page, over_http):
    page_checks.show_at(page, 1024)
    for path in ("/tokens", "/txs"):
        page.open(over_http + path)
        assert page.evaluate(page_checks.TABLES_FIT), path
    assert page.evaluate(
        "[...document.querySelectorAll('.links a')].every(a => a.checkVisibility())"
    )
    assert {"/charts", "/gas", "/dex", "/docs/"} <= set(
        page.evaluate("[...document.querySelectorAll('.links a')].map(a => a.pathname)")
    )


def test_rows_on_a_phone_are_compact_and_digits_as_dark_as_their_amount(page, over_http):
    """A list of 25 transactions takes less than five screens."""
    page_checks.show_at(page, 390)
    page.open(f"{over_http}/txs")
    rows = "[...document.querySelectorAll('tbody tr:not(.failed)')].map(r => r.offsetHeight)"
    heights = page.evaluate(rows)
    assert sum(heights) / len(heights) < 125
    colour = "getComputedStyle({}).color"
    digits = "document.querySelector('.fraction:not(:empty)')"
    of_fraction, of_amount = (colour.format(e) for e in (digits, f"{digits}.parentElement"))
    assert page.evaluate(f"{of_fraction} === {of_amount}")


def test_rows_of_lists_have_two_lines_on_a_phone(page, over_http):
    """But those with a warning or a reason, or with names that were made to be long."""
    page_checks.show_at(page, 360)
    lists = "/txs /blocks /token-transfers /tokens /accounts /trades /contracts".split()
    for path in lists:
        page.open(over_http + path)
        rows = "[...document.querySelectorAll('.lines tbody tr')]"
        heights = sorted(page.evaluate(f"{rows}.map(row => row.offsetHeight)"))
        assert heights[len(heights) // 2] <= 66, (path, heights)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_a_name_on_a_phone_is_cut_only_where_its_line_is_full(page, over_http):
    page_checks.show_at(page, 360)
    page.open(f"{over_http}/txs")
    row = "document.querySelector('.lines tbody tr:not(.failed)')"
    links = f"[...{row}.querySelectorAll('td.party a')]"

    def cut(*names):
        for number, name in enumerate(names):
            page.evaluate(f"{links}[{number}].innerHTML = '<bdi>{name}</bdi>'")
        bdi = "a.firstChild"
        return page.evaluate(f"{links}.map(a => {bdi}.scrollWidth > {bdi}.clientWidth + 1)")

    assert cut("Lantern workshop", "Router") == [False, False]
    assert cut("Router", "Lantern workshop") == [False, False]
    assert cut("Lantern workshop of the harbor", "Router") == [True, False]
    assert cut("Lantern workshop of the harbor", "Treasury of the harbor") == [True, True]
    assert page.evaluate(f"{row}.offsetHeight") <= 66


def test_the_key_that_goes_to_the_search_box_can_be_turned_off(page, over_http):
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))"
    box = "document.querySelector('.search input')"
    page.open(f"{over_http}/gas")

    def tried():
        page.evaluate(f"document.activeElement.blur(); {press}")
        is_reached = page.evaluate(f"document.activeElement === {box}")
        is_told = page.evaluate(f"{box}.hasAttribute('aria-keyshortcuts')")
        text = page.evaluate("document.getElementById('shortcut').textContent")
        return is_reached, is_told, text

    on, off = (True, True, "Key “/” for search: on"), (False, False, "Key “/” for search: off")
    assert tried() == on
    page.click("#shortcut")
    assert tried() == off
    page.open(f"{over_http}/gas")
    assert tried() == off  # the choice is kept
    page.click("#shortcut")
    assert tried() == on


@pytest.mark.long
def test_long_names_are_reached_in_full(page, explorer_url, explorer, hostile):
    """By keyboard where a list cuts them, and on their own pages."""
    owner, url = explorer.anvil.accounts[0], explorer.settings.database_url
    label = "Ten thousand bytes " + "W" * 10_000
    name, symbol = "N" * 255, "S" * 50
    insert = "INSERT INTO labels (address, label) VALUES (%s, %s)"
    rename = "UPDATE tokens SET name = %s, symbol = %s WHERE address = %s"
    token = bytes.fromhex(hostile[2:])
    before = database.execute(url, "SELECT name, symbol FROM tokens WHERE address = %s", token)[0]
    database.execute(url, insert, bytes.fromhex(owner[2:]), label)
    database.execute(url, rename, name, symbol, token)
    for width in (1280, 360):
        page_checks.show_at(page, width)
        for path in ("/", "/txs", "/tokens", f"/address/{owner}?tab=transfers", "/search?q=nnnnnn"):
            page.open(f"{explorer_url}{path}{'&' if '?' in path else '?'}=long{width}")
            assert page.evaluate(page_checks.INVISIBLE_LINKS) == [], path
            assert page.evaluate(page_checks.NOTHING_HIDDEN) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        page.open(f"{explorer_url}/address/{owner}?=long{width}")
        assert page.text("h1").startswith("Ten thousand bytes W")
        assert page.text(".facts pre") == label
        page.open(f"{explorer_url}/token/{hostile}?=long{width}")
        assert page.text("h1").startswith("NNN") and page.text(".facts pre") == name
    page_checks.show_at(page, 1280)
    page.open(f"{explorer_url}/txs?=long")
    link = "document.querySelector('td.party a.called')"
    page.evaluate(f"{link}.focus({{focusVisible: true}})")
    shown = page.evaluate(f"getComputedStyle({link}, '::after').content")
    assert label[:300] in shown and page.evaluate(f"{link}.title") == label[:300]
    page.call("Emulation.clearDeviceMetricsOverride")
    database.execute(url, "DELETE FROM labels")
    database.execute(url, rename, *before, token)


def test_whatever_is_touched_is_large_enough(page, explorer_url):
    """24 px, as WCAG 2.2 has it."""
    page_checks.show_at(page, 360)
    for path in ("/", "/txs"):
        page.open(explorer_url + path)
        small = """[...document.querySelectorAll(":is(header, main, footer) :is(a, button)")]
            .filter((link) => link.offsetHeight && link.offsetHeight < 24)
            .map((link) => link.outerHTML)"""
        assert page.evaluate(small) == []


def test_all_digits_of_a_row_are_shown_where_one_of_its_links_has_the_focus(page, over_http):
    """So that no cell is a stop of its own; a finger and the pointer show one."""
    page.open(f"{over_http}/txs")
    assert page.evaluate("document.querySelectorAll('tr [data-full][tabindex=\"0\"]').length") == 0
    cut = "document.querySelector('tr .amount[data-full]')"
    content = f"getComputedStyle({cut}, '::after').content"
    full = page.evaluate(f"JSON.stringify({cut}.dataset.full)")
    assert page.evaluate(content) == "none" and "ETH" in full
    page.evaluate(f"{cut}.closest('tr').querySelector('a').focus()")
    assert page.evaluate(content) == full
    page.evaluate(f"{cut}.closest('tr').querySelector('a').blur()")
    assert page.evaluate(content) == "none"
    page.evaluate(f"{cut}.focus()")
    assert page.evaluate(content) == full


def test_the_tab_key_stops_at_links_alone_in_a_list(page, over_http):
    page.open(f"{over_http}/txs")
    stops = "[...document.querySelectorAll('tbody *')].filter((element) => element.tabIndex >= 0)"
    assert page.evaluate(f"{stops}.every((stop) => stop.matches('a, button'))")


def test_a_list_is_skipped_by_keyboard(page, over_http):
    """Its rows have over a hundred links: what follows them is reached at once."""
    page.open(f"{over_http}/txs")
    page.evaluate("document.querySelector('main .skip').focus()")
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.evaluate("document.activeElement.click()")
    assert page.evaluate(
        "location.hash === '#pages' && document.querySelector('#pages').textContent"
    )


def test_bars_of_gas_begin_below_each_other(page, over_http):
    page.open(f"{over_http}/blocks")
    for row, share in enumerate(("0 %", "<0.1 %", "100 %", ">99.9 %")):
        page.evaluate(f"document.querySelectorAll('.percent')[{row}].textContent = '{share}'")
    bars = "[...document.querySelectorAll('meter')]"
    assert page.evaluate(f"new Set({bars}.map((b) => b.getBoundingClientRect().left)).size") == 1


def test_a_chart_is_read_with_the_arrow_keys(page, over_http):
    page.open(over_http)
    page.evaluate("document.querySelector('.plot svg').focus()")
    reading = "document.querySelector('figcaption output').textContent"
    newest = page.evaluate(reading)
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}))"
    page.evaluate(press)
    rows = "[...document.querySelector('figure.chart tbody').rows].slice(-2)"
    text = "[...row.cells].map((cell) => cell.textContent).join(': ')"
    assert [page.evaluate(reading), newest] == page.evaluate(f"{rows}.map((row) => {text})")
