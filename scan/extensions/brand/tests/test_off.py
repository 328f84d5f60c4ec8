"""The variable of an extension that is off."""

import pytest

from tests.test_settings_at_start import started

pytestmark = pytest.mark.check


def test_a_variable_of_an_extension_that_is_off_is_named(tmp_path):
    ended = started(
        "scan",
        "migrate",
        environ={"SCAN_BRAND": "acme", "SCAN_EXTENSIONS": "none", "SCAN_DATA_DIR": str(tmp_path)},
    )
    assert "SCAN_BRAND is of the extension brand, which is off" in ended.stderr
