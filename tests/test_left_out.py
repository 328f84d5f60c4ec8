"""Where a server is missing and may not be installed, its tests are left out, and it is said so."""

import pytest

from tests.support.serving import program


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip), ("true", pytest.fail)])
def test_a_test_is_left_out_without_its_server_and_fails_in_ci(monkeypatch, tmp_path, ci, outcome):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome.Exception, match="redis-server is not installed"):
        program("redis-server")
