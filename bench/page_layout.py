"""Each kind of page at four widths in both themes: what axe-core finds, overflow, layout shift.

`python -m bench.page_layout URL FOLDER [PAGE...]` prints by page, width and theme what is not zero,
and writes a screenshot of each into FOLDER. PAGE are names of pages as bench.pages prints them, all
without any. Needs Chromium, and rate limits of some thousands of requests.
"""

import base64
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import requests

from bench.pages import kinds
from tests.pages.test_browser import (
    ALL_RULES,
    AXE,
    NOTHING_HIDDEN,
    axe_violations,
    least_shift,
    show_at,
)
from tests.support.browser import Page, chromium

WIDTHS = (360, 768, 1024, 1280)
THEMES = ("light", "dark")
MORE_RULES = ("landmark-unique", "region", "heading-order", "page-has-heading-one")


class Faults(NamedTuple):
    kind: str
    width: int
    theme: str
    axe: list[str]
    overflow_px: int
    hidden: int
    shift: float

    def line(self) -> str:
        axe = f"{len(self.axe)} {', '.join(self.axe)}"
        return (
            f"| {self.kind} | {self.width} {self.theme} | {axe} | {self.overflow_px} px"
            f" | {self.hidden} | {self.shift:.3f} |"
        )


def main(url: str, folder: Path, *names: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shown = [kind for kind in kinds(requests.Session(), url) if not names or kind[0] in names]
    print(
        "| Page | Width | axe | Overflow | Cells hidden | Layout shift |\n|---|---|---|---|---|---|"
    )
    count = 0
    with chromium() as page:
        for name, path in shown:
            for faults in _faults(page, name, url + path, folder):
                count += 1
                if faults.axe or faults.overflow_px or faults.hidden or faults.shift:
                    print(faults.line(), flush=True)
    print(f"{len(shown)} pages, {count} views")


def _faults(page: Page, name: str, url: str, folder: Path) -> Iterator[Faults]:
    for width in WIDTHS:
        show_at(page, width)
        _show_theme(page, THEMES[0])
        page.open(url)
        shift = least_shift(page, url)
        overflow_px = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        hidden = len(page.evaluate(NOTHING_HIDDEN))
        page.evaluate(AXE.read_text() + "; undefined")
        for theme in THEMES:
            _show_theme(page, theme)
            axe = [rule for rule, _ in axe_violations(page, ALL_RULES, *MORE_RULES)]
            picture = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
            file = folder / f"{name.replace(', ', '_').replace(' ', '_')}-{width}-{theme}.png"
            file.write_bytes(base64.b64decode(picture["data"]))
            yield Faults(name, width, theme, axe, max(0, overflow_px), hidden, shift)


def _show_theme(page: Page, theme: str) -> None:
    """Show a theme, without the animation of new rows, which keeps colours of the one before."""
    media = {"prefers-color-scheme": theme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in media.items()]
    page.call("Emulation.setEmulatedMedia", features=features)


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), Path(sys.argv[2]), *sys.argv[3:])
