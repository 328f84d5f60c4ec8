"""What people need who read with a keyboard, a screen reader, paper or a window of middle width."""

import pytest

from tests.support import page_checks

pytestmark = pytest.mark.thorough


def test_a_keyboard_reaches_the_first_row_with_few_keys(page, over_http, truth):
    """On a page with a head of many links before its list."""

    def press(key, number, **text):
        fields = {"key": key, "code": key, "windowsVirtualKeyCode": number}
        page.call("Input.dispatchKeyEvent", type="keyDown", **fields, **text)
        page.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    page.open(f"{over_http}/address/{truth.dex_trades[-1]['maker']}")
    for target in ("#main", "#list"):
        press("Tab", 9)
        assert page.evaluate("document.activeElement.getAttribute('href')") == target
    press("Enter", 13, text="\r")
    for _ in range(3):  # the table, which scrolls; the button of its ages; the first row
        press("Tab", 9)
    assert page.evaluate("document.activeElement.closest('tbody tr:first-child') !== null")
    page.open(f"{over_http}/keys")
    assert page.evaluate("document.querySelectorAll('.skip').length") == 1


def test_copying_is_announced_to_screen_readers(page, over_http, truth):
    path = f"/address/{truth.dex_trades[-1]['maker']}"
    page.open(over_http + path)
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; }")
    assert page.evaluate("document.querySelector('#announced[role=status]').textContent") == ""
    page.click("button.copy")
    page.wait("document.getElementById('announced').textContent === 'Copied'")
    assert page.evaluate("`/address/${window.copied.toLowerCase()}`") == path


def test_a_page_is_printed_without_what_is_only_pressed(page, over_http, truth):
    page.open(f"{over_http}/address/{truth.dex_trades[-1]['maker']}")
    page.call("Emulation.setEmulatedMedia", media="print")
    pressed = "header, footer, .tabs, .pager, .skip, main button, main form"
    shown = f"[...document.querySelectorAll('{pressed}')].filter(e => e.checkVisibility()).length"
    assert page.evaluate(shown) == 0
    assert page.evaluate("document.querySelector('tbody td').checkVisibility()")
    times = "[...document.querySelectorAll('td > time[data-age]')].map(e => e.innerText)"
    page.wait(f"{times}.every(text => /^[0-9-]{{10}} [0-9:]{{8}} UTC$/.test(text))")
    assert page.evaluate(f"{times}.length") > 0


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
