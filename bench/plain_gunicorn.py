"""gunicorn's settings as the service has them, without its hooks, which expect the service."""

import runpy

from scan.settings import ROOT

globals().update(
    (name, value)
    for name, value in runpy.run_path(str(ROOT / "gunicorn.conf.py")).items()
    if isinstance(value, str | int | dict | None) and not name.startswith("_")
)
