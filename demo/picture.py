"""Takes README's picture: `python -m demo.picture [URL]`, of the demo or of a service that runs.

Writes docs/home.webp. Needs `make install` and Chromium.
"""

import base64
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.browser import Page, chromium
from tests.support.scan_run import scan_run

PICTURE = Path(__file__).parents[1] / "docs" / "home.webp"
WIDTH, HEIGHT = 1280, 1000


def main() -> None:
    with TemporaryDirectory() as folder, chromium() as page:
        if len(sys.argv) > 1:
            return take(page, sys.argv[1])
        Path(folder).chmod(0o755)
        with scan_run((sys.executable, "-m", "scan"), Path(folder)) as scan:
            scan.wait_for_block(718, or_later=True)
            time.sleep(30)  # a handful of blocks
            take(page, scan.url)


def take(page: Page, url: str) -> None:
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    page.call("Emulation.setDeviceMetricsOverride", **size)
    page.open(url)
    shot = page.call("Page.captureScreenshot", format="webp", quality=80)
    PICTURE.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    main()
