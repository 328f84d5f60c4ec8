"""Takes the pictures of README and docs/: `python -m demo.picture [URL]`, by default of a new demo.

Writes home, token, failure and calls.webp in docs/. Needs `make install` and Chromium.
"""

import base64
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

from tests.support.browser import Page, chromium
from tests.support.scan_run import scan_run

FOLDER = Path(__file__).parents[1] / "docs"
WIDTH, HEIGHT = 1280, 1000


def main() -> None:
    with TemporaryDirectory() as folder, chromium() as browser, browser.tab() as page:
        if len(sys.argv) > 1:
            return take(page, sys.argv[1])
        Path(folder).chmod(0o755)
        limits = {"SCAN_RATE_LIMIT_ANONYMOUS": "10000/minute"}
        with scan_run((sys.executable, "-m", "scan"), Path(folder), **limits) as scan:
            scan.wait_for_block(718, or_later=True)
            time.sleep(30)  # a handful of blocks
            take(page, scan.url)


def take(page: Page, url: str) -> None:
    for name, height, path in pictures(url):
        size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        page.open(f"{url}{path}")
        shot = page.call("Page.captureScreenshot", format="webp", quality=70)
        (FOLDER / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))


def pictures(url: str) -> Iterator[tuple[str, int, str]]:
    """Yield names, heights in pixels and paths of the pages."""

    def answer(path: str) -> dict:
        return requests.get(f"{url}/api/v1{path}", timeout=60).json()

    yield "home", HEIGHT, "/"
    [token] = answer("/tokens?limit=1")["tokens"]
    yield "token", 800, f"/token/{token['address']}"
    failed = answer("/transactions?status=false&limit=100")["transactions"]
    hashes = [row["hash"] for row in failed]
    reasons = {hash_: answer(f"/transactions/{hash_}")["error"]["reason"] for hash_ in hashes}
    deposit = next(each for each in hashes if "InsufficientDeposit" in reasons[each])
    yield "failure", 700, f"/tx/{deposit}"
    trades = answer("/dex-trades?limit=20")["trades"]
    swap = next(trade["transactionHash"] for trade in trades if trade["dex"] == "uniswap-v2")
    yield "calls", 700, f"/tx/{swap}?tab=calls"


if __name__ == "__main__":
    main()
