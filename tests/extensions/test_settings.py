"""Settings of the core that extensions decide on, and of extensions."""

import pytest

from scan import registry
from scan.errors import SettingError
from tests.support.scan_command import started

pytestmark = pytest.mark.check


def test_a_name_that_is_nearly_an_extension_s_is_named_with_it():
    for name in registry.installed():
        with pytest.raises(SettingError, match=f"called {name}x; did you mean {name}?"):
            registry.chosen({registry.VARIABLE: f"{name}x"})


@pytest.mark.parametrize("text", ["2", "5000 blocks"])
def test_where_no_extension_removes_rows_none_can_be_kept_for_a_time(text):
    ended = started("scan", "run", environ={"SCAN_EXTENSIONS": "none", "SCAN_KEEP_DAYS": text})
    assert ended.stderr.startswith(f"scan: SCAN_KEEP_DAYS={text!r}: must be 0 to keep all, ")
    assert ended.stderr.endswith(": no extension that is on removes rows\n")
    assert ended.returncode == 2
