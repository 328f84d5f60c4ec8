"""Settings of the core that extensions decide on, and of extensions."""

import pytest

from scan import registry
from scan.errors import SettingError
from scan.settings import Settings
from tests.test_settings import test_what_is_taken as takes
from tests.test_settings_at_start import (
    test_a_malformed_setting_stops_every_command as stops_a_command,
)

pytestmark = pytest.mark.check


def test_a_name_that_is_nearly_an_extension_s_is_named_with_it():
    for name in registry.installed():
        with pytest.raises(SettingError, match=f"called {name}x; did you mean {name}?"):
            registry.chosen({registry.VARIABLE: f"{name}x"})


KEPT = [("2", (None, 172_800)), ("5000 blocks", (5000, None))]
REMOVES_ROWS = "retention" in registry.enabled()


@pytest.mark.skipif(not REMOVES_ROWS, reason="retention is off")
@pytest.mark.parametrize(("text", "value"), KEPT)
def test_rows_are_kept_for_days_or_blocks(text, value):
    takes("SCAN_KEEP_DAYS", text, "keep", value)


@pytest.mark.skipif(REMOVES_ROWS, reason="retention is on")
@pytest.mark.parametrize(("text", "_value"), KEPT)
def test_where_no_extension_removes_rows_none_can_be_kept_for_a_time(text, _value):
    with pytest.raises(SettingError, match="no extension that is on removes rows"):
        Settings.from_environment({"SCAN_KEEP_DAYS": text})


def test_a_malformed_setting_stops_commands_of_extensions(tmp_path):
    for command in registry.commands().keys() & {"doctor"}:
        stops_a_command(tmp_path, command)
