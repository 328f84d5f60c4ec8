"""What people need who read with a keyboard, a screen reader, paper or a window of middle width."""

import pytest

from tests.conftest import Played
from tests.pages.test_browser import show_at
from tests.support.browser import Page
from tests.support.database import execute
from tests.support.explorer import Explorer

FOCUSED = "document.activeElement.getAttribute('href')"
# Elements whose text is cut at their edge.
CUT = """[...document.querySelectorAll("SELECTOR")]
    .filter((element) => element.scrollWidth > element.clientWidth + 1)
    .map((element) => element.textContent)"""


def cut(page: Page, selector: str) -> list[str]:
    assert page.evaluate(f'document.querySelector("{selector}") !== null')
    return list(page.evaluate(CUT.replace("SELECTOR", selector)))


def press(page: Page, key: str) -> None:
    for kind in ("keyDown", "keyUp"):
        text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
        codes = {"Tab": 9, "Enter": 13}
        page.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            code=key,
            windowsVirtualKeyCode=codes[key],
            **text,
        )


@pytest.fixture
def busy(scenario: Played) -> str:
    """The path of an address with a head of many links before its list."""
    return f"/address/{scenario.truth.dex_trades[-1]['maker']}"


def test_a_keyboard_reaches_the_first_row_with_few_keys(
    page: Page, over_http: str, busy: str
) -> None:
    page.open(over_http + busy)
    for target in ("#main", "#list"):
        press(page, "Tab")
        assert page.evaluate(FOCUSED) == target
    press(page, "Enter")
    for _ in range(3):  # the table, which scrolls; the button of its ages; the first row
        press(page, "Tab")
    assert page.evaluate("document.activeElement.closest('tbody tr:first-child') !== null")
    page.open(f"{over_http}/keys")
    assert page.evaluate("document.querySelectorAll('.skip').length") == 1


def test_copying_is_announced_to_screen_readers(page: Page, over_http: str, busy: str) -> None:
    page.open(over_http + busy)
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; }")
    assert page.evaluate("document.querySelector('#announced[role=status]').textContent") == ""
    page.click("button.copy")
    page.wait("document.getElementById('announced').textContent === 'Copied'")
    assert page.evaluate("`/address/${window.copied.toLowerCase()}`") == busy


def test_a_page_is_printed_without_what_is_only_pressed(
    page: Page, over_http: str, busy: str
) -> None:
    page.open(over_http + busy)
    page.call("Emulation.setEmulatedMedia", media="print")
    pressed = "header, footer, .tabs, .pager, .skip, main button, main form"
    shown = f"[...document.querySelectorAll('{pressed}')].filter(e => e.checkVisibility()).length"
    assert page.evaluate(shown) == 0
    assert page.evaluate("document.querySelector('tbody td').checkVisibility()")
    style = "getComputedStyle(document.querySelector('.table'))"
    assert page.evaluate(f"[{style}.overflowX, {style}.backgroundImage]") == ["visible", "none"]
    page.call("Emulation.setEmulatedMedia", media="")
    assert page.evaluate(shown) > 0


def test_the_balance_of_an_address_has_one_line_at_768_px(
    page: Page, over_http: str, busy: str
) -> None:
    show_at(page, 768)
    page.open(over_http + busy)
    tops = "document.querySelectorAll('.numbers .wide dd > *')"
    bottoms = page.evaluate(f"[...{tops}].map(e => Math.round(e.getBoundingClientRect().bottom))")
    assert len(bottoms) >= 2 and max(bottoms) - min(bottoms) < 6
    boxes = "[...document.querySelectorAll('.numbers > div')].map(e => e.offsetTop)"
    assert len(set(page.evaluate(boxes)[1:])) == 1  # the others have one row below it
    page.call("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_badge_of_a_token_with_a_larger_namesake_is_whole(
    page: Page, over_http: str, width: int
) -> None:
    show_at(page, width)
    page.open(f"{over_http}/tokens")
    assert cut(page, "a.badge.bad") == []
    assert page.text("a.badge.bad").endswith("of this symbol")
    page.call("Emulation.clearDeviceMetricsOverride")


def test_names_in_a_history_are_whole_and_in_one_line_where_there_is_room(
    page: Page, explorer_url: str, explorer: Explorer
) -> None:
    owner, other = explorer.anvil.accounts[:2]
    url, name = explorer.settings.database_url, "Harbour treasury, cold wallet"
    insert = "INSERT INTO labels (address, label) VALUES (%s, %s)"
    execute(url, insert, bytes.fromhex(other[2:]), name)
    explorer.anvil.receipt_of(explorer.anvil.send(owner, other, value=10**17 + 1))
    explorer.wait_for_block(explorer.anvil.head())
    show_at(page, 1280)
    page.open(f"{explorer_url}/address/{owner}?tab=history&_=names")
    # What other tests sent from this account, names made to be cut among it, is in the list too.
    assert name not in cut(page, ".changes bdi")
    named = (
        f"[...document.querySelectorAll('.changes bdi')].filter(e => e.textContent === '{name}')"
    )
    assert set(page.evaluate(f"{named}.map(e => e.getClientRects().length)")) == {1}
    page.call("Emulation.clearDeviceMetricsOverride")
    execute(url, "DELETE FROM labels")
