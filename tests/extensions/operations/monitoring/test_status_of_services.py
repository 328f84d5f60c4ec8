"""`scan status` of services that are not there, and for scripts."""

import json

import pytest

from tests.commands.test_command import scan
from tests.support.database import execute
from tests.support.serving import gunicorn, wait_until


@pytest.mark.check
def test_status_of_nobody(tmp_path):
    done = scan("status", "--json", PORT="1")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "unreachable"


def test_status_is_for_scripts(database_url):
    with gunicorn(database_url) as server:
        done = scan("status", "--json", "--url", server)
        assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "ready")
        execute(database_url, "DROP TABLE migrations")
        # /readyz may be an answer of a second ago.
        wait_until(lambda: scan("status", "--url", server).returncode == 1)
        assert "unavailable" in scan("status", "--url", server).stdout
