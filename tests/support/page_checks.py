"""What is looked at on a page in a browser: accessibility, layout, screens, themes, hosts."""

from pathlib import Path
from urllib.parse import urlsplit

from tests.support.solidity import NODE

AXE = NODE / "node_modules" / "axe-core" / "axe.min.js"


def requested_from(page):
    return {urlsplit(address).netloc for address in page.requested if address.startswith("http")}


def show_at(page, width):
    metrics = {"height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    page.call("Emulation.setDeviceMetricsOverride", width=width, **metrics)


def show_theme(page, theme):
    feature = {"name": "prefers-color-scheme", "value": theme}
    page.call("Emulation.setEmulatedMedia", features=[feature])


ALL_RULES = "{resultTypes: ['violations'], preload: false}"
COLOURS = "{runOnly: ['color-contrast', 'link-in-text-block'], resultTypes: ['violations']}"


def all_violations(page):
    page.evaluate(AXE.read_text() + "; undefined")
    return axe_violations(page, ALL_RULES)


def axe_violations(page, options):
    """axe-core's rules that are broken, each with the first elements."""
    return [
        (violation["id"], [node["html"][:120] for node in violation["nodes"][:3]])
        for violation in page.evaluate(f"axe.run({options}).then(results => results.violations)")
    ]


NOTHING_HIDDEN = Path(__file__).with_name("nothing_hidden.js").read_text()
BROKEN_LINES = Path(__file__).with_name("broken_lines.js").read_text()
CUMULATIVE_SHIFT = Path(__file__).with_name("cumulative_shift.js").read_text()
MOST_PAINTS = 10


def least_shift(page, url):
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
