"""Keys that operators make: `scan key create`, `change`, `usage`, and what the service makes of
them."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import requests

from tests.support import WAIT_S, database, serving
from tests.support.scan_command import scan


def create_key(url, *options):
    done = scan("key", "create", "--label", "Ann", *options, DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
    key, _, message = done.stdout.splitlines()
    return key, re.match(r"Key (\d+) of Ann allows (\d+) requests a minute", message).groups()


def ask(server, key, path="/api/v1/stats", method="GET", **body):
    headers = {"X-API-Key": key}
    return requests.request(method, f"{server}{path}", headers=headers, timeout=WAIT_S, **body)


def test_a_key_of_an_operator_works_with_a_limit_of_its_own(shared_server, shared_database_url):
    url = shared_database_url
    key, (key_id, limit) = create_key(url, "--limit", "7/minute", "--expires", "90d")
    assert limit == "7"
    answers = [ask(shared_server, key) for _ in range(8)]
    assert [answer.status_code for answer in answers] == [200] * 7 + [429]
    assert answers[0].headers["X-RateLimit-Limit"] == "7"
    changed = scan("key", "change", key_id, "--limit", "5000/minute", DATABASE_URL=url)
    assert changed.stdout.split()[:2] == [key_id, "5000"]
    assert "SCAN_RATE_LIMIT_ADDRESS" in changed.stderr  # 1,000 of an address, with all of its keys
    serving.wait_until(lambda: ask(shared_server, key).headers["X-RateLimit-Limit"] != "7")
    today = datetime.now(UTC).date()
    listed = scan("key", "list", DATABASE_URL=url).stdout
    line = rf"^{key_id} +scan_\w+ +operator +5000 +\d+ +\S+ +(\S+) +Ann$"
    end = re.search(line, listed, re.M)[1]
    assert today + timedelta(89) <= datetime.fromisoformat(end).date() <= today + timedelta(90)


def test_requests_with_a_key_are_counted_by_day(shared_server, shared_database_url):
    url = shared_database_url
    key, (key_id, _) = create_key(url)
    for _ in range(5):
        assert ask(shared_server, key).status_code == 200
    before = datetime.now(UTC).date() - timedelta(3)
    database.execute(url, "INSERT INTO api_key_uses VALUES (%s, %s, 20)", key_id, before)

    def lines():
        _, *lines = scan("key", "usage", key_id, DATABASE_URL=url).stdout.splitlines()
        return [line.split() for line in lines]

    serving.wait_until(lambda: len(lines()) == 2 and lines()[0][-2:] == ["5", "Ann"])
    assert lines()[1] == [str(before), key_id, key[:12], "20", "Ann"]
    assert len(scan("key", "usage", "--days", "1", DATABASE_URL=url).stdout.splitlines()) >= 1
    metrics = requests.get(f"{shared_server}/metrics", timeout=WAIT_S).text
    assert re.search(
        rf'^scan_api_key_requests_total{{id="{key_id}",label="Ann"}} 5.0$', metrics, re.M
    )
    assert key not in metrics


def test_a_key_ends(shared_server, shared_database_url):
    url = shared_database_url
    limit = ("--limit", "100000/minute")  # for requests until something has changed
    ended, (ended_id, _) = create_key(url, "--expires", "1d", *limit)
    revoked, (revoked_id, _) = create_key(url, *limit)
    assert ask(shared_server, ended).status_code == ask(shared_server, revoked).status_code == 200
    database.execute(url, "UPDATE api_keys SET expires_at = now() WHERE id = %s", ended_id)
    assert scan("key", "revoke", revoked_id, DATABASE_URL=url).stdout == f"revoked {revoked_id}\n"
    for key in (ended, revoked):
        serving.wait_until(lambda key=key: ask(shared_server, key).status_code == 401)
    for_ever = scan("key", "change", ended_id, "--expires", "never", DATABASE_URL=url)
    assert for_ever.stdout == f"{ended_id} 100000 never Ann\n"
    serving.wait_until(lambda: ask(shared_server, ended).status_code == 200)
    gone = scan("key", "change", revoked_id, "--label", "Bob", DATABASE_URL=url)
    assert (gone.returncode, gone.stderr) == (1, f"scan: no active key {revoked_id}\n")


def test_a_key_without_a_wallet_owns_nothing(shared_server, shared_database_url):
    """It acts for no address: not for one that is claimed, and it does not claim the zero one."""
    key, (key_id, _) = create_key(shared_database_url)
    owner, path = f"0x{'00' * 20}", f"/api/v1/keys/{key_id}"
    assert ask(shared_server, key, path, "DELETE").status_code == 404
    claimed = database.execute(shared_database_url, "SELECT has_had_key(%s, 'infinity')", bytes(20))
    body = {"ownerAddress": owner, "url": "https://example.org/", "watchAddress": owner}
    answer = ask(shared_server, key, "/api/v1/webhooks", "POST", json=body)
    assert (answer.status_code == 403) == claimed[0][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("create",), "--label"),
        (("create", "--label", " "), "1 to 100 characters"),
        (("create", "--label", "x" * 101), "1 to 100 characters"),
        (("create", "--label", "\udcff"), "must be UTF-8"),
        (("change", "1", "--label", "\udcff"), "must be UTF-8"),
        (("create", "--label", "x", "--limit", "many"), "must be a rate such as"),
        (("create", "--label", "x", "--limit", "1/day"), "must be 1/minute or more"),
        (("change", "1", "--limit", "1/3 minutes"), "must be 1/minute or more"),
        (("create", "--label", "x", "--expires", "0d"), "must be 1d to 36500d"),
        (("create", "--label", "x", "--expires", "90"), "must be days, such as 90d"),
        (("change", "1"), "Give --label, --limit or --expires"),
        (("usage", "--days", "0"), "must be a whole number, 1 to 1000000"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(arguments, message):
    refused = scan("key", *arguments, DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert refused.returncode != 0
    assert message in " ".join(refused.stderr.split())
