"""`scan signatures`: files that people have, and files that nobody should have."""

import json

import pytest

from tests.support import database, scan_command

pytestmark = pytest.mark.thorough

TRANSFER = "transfer(address,uint256)"
EVENT = "Transfer(address,address,uint256)"


def stored(url):
    selected = "SELECT '0x' || encode(selector, 'hex'), signature FROM signatures ORDER BY 1, 2"
    return database.execute(url, selected)


BOTH = [("0xa9059cbb", TRANSFER), ("0xddf252ad", EVENT)]


@pytest.fixture
def run(database_url, tmp_path):
    """Run `scan signatures`; what is given as `content` is the file that it imports."""

    def call(*arguments, content=b""):
        file = tmp_path / "signatures"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        last = (str(file),) if arguments[0] == "import" else ()
        return scan_command.scan("signatures", *arguments, *last, DATABASE_URL=database_url)

    return call


def test_signatures_of_every_form_are_stored_once(run, database_url):
    topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    files = {
        "text": f"{TRANSFER}\n{EVENT}",
        "text with hashes": f"# a comment\n\n0xA9059CBB {TRANSFER}\r\n  {topic}\t{EVENT}\n",
        "other separators": f"0xa9059cbb,{TRANSFER}\n0xddf252ad: {EVENT}\n",
        "names and spaces": "function transfer(address to, uint value)\n"
        "event Transfer(address indexed from, address indexed to, uint256 value)",
        "a byte order mark": f"\ufeff{TRANSFER}\n{EVENT}\n",
        "JSON": json.dumps({"0xa9059cbb": [TRANSFER], topic: [EVENT]}, indent=1),
        "JSON of texts": json.dumps({"0xa9059cbb": TRANSFER, "0xddf252ad": EVENT}),
        "twice the same": f"{TRANSFER}\n{EVENT}\n{TRANSFER}\n",
    }
    for form, content in files.items():
        done = run("import", content=content)
        count = 3 if form == "twice the same" else 2
        output = f"{count} signatures read, 2 of them new, 0 lines skipped\n"
        assert (done.returncode, done.stderr, done.stdout) == (0, "", output), form
        assert stored(database_url) == BOTH
        again = run("import", content=content)
        assert again.stdout == output.replace("2 of them new", "0 of them new")
        database.execute(database_url, "DELETE FROM signatures")


def test_signatures_are_listed_and_deleted_by_selector_or_text(run, database_url):
    """Several may have one selector."""
    run("import", content=json.dumps({"0xa9059cbb": [TRANSFER, "many_msg_babbage(bytes1)"]}))
    assert [text for _, text in stored(database_url)] == ["many_msg_babbage(bytes1)", TRANSFER]
    run("import", content=f"{EVENT}\nf()\n")
    done = run("remove", "0xa9059cbb", "f()")
    assert (done.returncode, done.stdout) == (0, "3 signatures removed\n")
    assert stored(database_url) == BOTH[1:]
    _, *lines = run("list").stdout.splitlines()
    assert [tuple(line.split()) for line in lines] == BOTH[1:]
    assert run("remove", "f()").returncode == run("delete", "nonsense").returncode == 1


def test_wrong_lines_are_named_and_nothing_is_stored_unless_they_are_skipped(run, database_url):
    wrong = [
        "transfer(address,uint256",
        "0xa9059cbb",
        "0xdeadbeef transfer(address,uint256)",
        "f(uint7)",
        "x" * 30_000,
        "f(uint256)\x00",
        "'; DROP TABLE signatures; --",
        "f(address)\u202e",
    ]
    content = "\n".join([TRANSFER, "", *wrong, EVENT]) + "\n"
    done = run("import", content=content)
    assert (done.returncode, done.stdout, stored(database_url)) == (1, "", [])
    assert done.stderr.startswith("line 3: ") and len(done.stderr) < 1000 * len(wrong)
    done = run("import", "--skip-invalid", content=content)
    named = [line.partition(": ")[0] for line in done.stderr.splitlines()]
    assert named == [f"line {3 + number}" for number in range(len(wrong))]
    assert done.stdout == f"2 signatures read, 2 of them new, {len(wrong)} lines skipped\n"
    assert (done.returncode, stored(database_url)) == (0, BOTH)
    done = run("import", content="no\n" * 30)
    assert "and 10 more\nscan: 30 lines are invalid" in done.stderr


@pytest.mark.parametrize(
    "content",
    [
        '{"0xa9059cbb": [',
        '{"0xa9059cbb": [[]]}',
        '{"0xa9059cbb": {"name": "f()"}}',
        '{"0xa9059cbb": ["f()"' + "x" * 200_000,
        b"\xff\xfe\x00" * 50_000,
    ],
    ids=range(5),
)
def test_other_json_and_bytes_that_are_no_text_are_refused(run, database_url, content):
    done = run("import", content=content)
    reason = done.stderr.removeprefix("scan: ")
    assert done.returncode == 1 and reason.startswith(("line 1: ", "expected JSON such as "))
    assert len(done.stderr) < 1000 and stored(database_url) == []
