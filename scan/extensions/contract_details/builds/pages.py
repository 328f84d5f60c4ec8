"""What /status says of build folders."""

from collections.abc import Mapping
from typing import Any

from scan.extensions.contract_details.builds.settings import Settings, missing
from scan.http.request_state import services
from scan.pages.hooks import Pages, StatusSection


def _read() -> Mapping[str, Any]:
    folders = missing(services().settings.of(Settings).artifacts)
    return {"missing_builds": [folder.name for folder in folders]}  # paths are the operator's


HOOKS = Pages(sections=(StatusSection({"status": "status_builds.html"}, _read),))
