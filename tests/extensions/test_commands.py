"""Subcommands that extensions bring: their help, and wrong calls."""

import pytest

from scan import registry
from tests.support.scan_command import require_help, scan

CASES = [
    (["labels", "import", "x.csv"], {}, "DATABASE_URL"),
    (["export", "blocks", "--output=x", "--from=5", "--to=2"], {}, "--to='2'"),
    (["backfill", "chain", "--last-block=-1"], {}, "--last-block"),
    (["status", "--most-behind=-1"], {}, "--most-behind"),
]


@pytest.mark.check
@pytest.mark.parametrize(
    ("arguments", "environment", "named"),
    [case for case in CASES if case[0][0] in registry.commands()],
)
def test_a_wrong_call_is_not_taken_for_a_fault(arguments, environment, named, tmp_path):
    result = scan(*arguments, SCAN_DATA_DIR=str(tmp_path), **environment)
    assert result.returncode == 2
    assert named in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.check
def test_without_an_action_it_prints_help(capsys):
    groups = registry.commands().keys() & {"labels", "signatures"}
    require_help(capsys, *([name] for name in groups))
