"""Streams whose key is revoked or expires while they are open."""

import pytest
import requests

from tests.http.test_limits_of_cached_responses import made_key
from tests.support import WAIT_S
from tests.support.database import execute
from tests.support.serving import gunicorn

pytestmark = pytest.mark.thorough
ENDS = ("active = false", "expires_at = now() + interval '1 second'")


@pytest.mark.parametrize(("access", "end"), [*zip(("open", "keys"), ENDS, strict=True)])
def test_a_stream_ends_with_its_key(own_index, access, end):
    """Before its first heartbeat, which is sent after 15 s."""
    url = own_index.settings.database_url
    key = made_key(url, 1000)
    with gunicorn(url, SCAN_ACCESS=access) as address:
        request = {"url": f"{address}/api/v1/stream", "headers": {"X-API-Key": key.text}}
        with requests.get(**request, stream=True, timeout=WAIT_S) as opened:
            lines = opened.iter_lines(chunk_size=1)
            assert next(lines) == b"retry: 2000"
            assert next(lines).startswith(b"id: ") and next(lines) == b""
            execute(url, f"UPDATE api_keys SET {end} WHERE id = %s", key.id)  # noqa: S608
            assert [*lines] == []
        assert requests.get(**request, timeout=WAIT_S).status_code == 401
