"""`scan signatures`: files that people have, and files that nobody should have."""

import json
from pathlib import Path

import pytest

from tests.commands.test_command import scan
from tests.support.database import execute

pytestmark = pytest.mark.long

TRANSFER = "transfer(address,uint256)"
TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
EVENT = "Transfer(address,address,uint256)"


def stored(url: str) -> list[tuple[object, ...]]:
    return execute(
        url, "SELECT '0x' || encode(selector, 'hex'), signature FROM signatures ORDER BY 1, 2"
    )


BOTH = [("0xa9059cbb", TRANSFER), ("0xddf252ad", EVENT)]
FILES = {
    "text": f"{TRANSFER}\n{EVENT}",
    "text with hashes": f"# a comment\n\n0xA9059CBB {TRANSFER}\r\n  {TOPIC}\t{EVENT}\n",
    "other separators": f"0xa9059cbb,{TRANSFER}\n0xddf252ad: {EVENT}\n",
    "names and spaces": "function transfer(address to, uint value)\nevent Transfer(address indexed"
    " from, address indexed to, uint256 value)",
    "a byte order mark": f"\ufeff{TRANSFER}\n{EVENT}\n",
    "JSON": json.dumps({"0xa9059cbb": [TRANSFER], TOPIC: [EVENT]}, indent=1),
    "JSON of texts": json.dumps({"0xa9059cbb": TRANSFER, "0xddf252ad": EVENT}),
    "twice the same": f"{TRANSFER}\n{EVENT}\n{TRANSFER}\n",
}


@pytest.mark.parametrize("form", sorted(FILES))
def test_signatures_are_stored_once(database_url: str, tmp_path: Path, form: str) -> None:
    file = tmp_path / "signatures"
    file.write_text(FILES[form])
    count = 3 if form == "twice the same" else 2
    done = scan("signatures", "import", str(file), DATABASE_URL=database_url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{count} signatures read, 2 of them new, 0 lines skipped\n"
    assert stored(database_url) == BOTH


def test_signatures_are_not_stored_again(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "signatures"
    file.write_text(FILES["text"])
    assert scan("signatures", "import", str(file), DATABASE_URL=database_url).returncode == 0
    again = scan("signatures", "import", str(file), DATABASE_URL=database_url)
    assert again.stdout == "2 signatures read, 0 of them new, 0 lines skipped\n"
    listed = scan("signatures", "list", DATABASE_URL=database_url)
    assert listed.stdout == "".join(f"{selector} {text}\n" for selector, text in BOTH)


def test_several_signatures_may_have_one_selector(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "signatures"
    file.write_text(json.dumps({"0xa9059cbb": [TRANSFER, "many_msg_babbage(bytes1)"]}))
    assert scan("signatures", "import", str(file), DATABASE_URL=database_url).returncode == 0
    assert [text for _, text in stored(database_url)] == ["many_msg_babbage(bytes1)", TRANSFER]


WRONG = (
    *("transfer(address,uint256", "0xa9059cbb", "0xdeadbeef transfer(address,uint256)"),
    *(
        "f(uint7)",
        "x" * 30_000,
        "f(uint256)\x00",
        "'; DROP TABLE signatures; --",
        "f(address)\u202e",
    ),
)


@pytest.mark.parametrize("line", WRONG, ids=range(len(WRONG)))
def test_a_wrong_line_is_named(database_url: str, tmp_path: Path, line: str) -> None:
    file = tmp_path / "signatures"
    file.write_text(f"{TRANSFER}\n\n{line}\n{EVENT}\n")
    done = scan("signatures", "import", str(file), DATABASE_URL=database_url)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("scan: line 3: ") and len(done.stderr) < 1000
    assert stored(database_url) == []


def test_wrong_lines_are_skipped_and_named(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "signatures"
    file.write_text("\n".join([TRANSFER, "", *WRONG, EVENT]) + "\n")
    done = scan("signatures", "import", "--skip-invalid", str(file), DATABASE_URL=database_url)
    assert done.returncode == 0
    named = [line.partition(": ")[0] for line in done.stderr.splitlines()]
    assert named == [f"line {3 + number}" for number in range(len(WRONG))]
    assert done.stdout == f"2 signatures read, 2 of them new, {len(WRONG)} lines skipped\n"
    assert stored(database_url) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        *('{"0xa9059cbb": [', '{"0xa9059cbb": [[]]}', '{"0xa9059cbb": 7}', '{"a" "b"}', "{"),
        *('{"0xa9059cbb": {"name": "f()"}}', '{"0xa9059cbb": ["f()"' + "x" * 200_000),
    ],
    ids=range(7),
)
def test_other_json_is_refused(database_url: str, tmp_path: Path, text: str) -> None:
    file = tmp_path / "signatures"
    file.write_text(text)
    done = scan("signatures", "import", str(file), DATABASE_URL=database_url)
    assert done.returncode == 1 and done.stderr.startswith("scan: line 1: ")
    assert len(done.stderr) < 1000 and stored(database_url) == []


def test_bytes_that_are_no_text_are_refused(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "signatures"
    file.write_bytes(b"\xff\xfe\x00" * 50_000)
    done = scan("signatures", "import", str(file), DATABASE_URL=database_url)
    assert done.returncode == 1 and done.stderr.startswith("scan: line 1: ")


def test_many_wrong_lines_are_counted(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "signatures"
    file.write_text("no\n" * 30)
    done = scan("signatures", "import", str(file), DATABASE_URL=database_url)
    assert "and 10 more\n30 lines are invalid" in done.stderr


def test_signatures_are_deleted_by_selector_or_text(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "signatures"
    file.write_text(f"{TRANSFER}\n{EVENT}\nf()\n")
    scan("signatures", "import", str(file), DATABASE_URL=database_url)
    done = scan("signatures", "delete", "0xa9059cbb", "f()", DATABASE_URL=database_url)
    assert (done.returncode, done.stdout) == (0, "2 signatures removed\n")
    assert stored(database_url) == BOTH[1:]
    assert scan("signatures", "delete", "nonsense", DATABASE_URL=database_url).returncode == 1


def test_a_file_that_cannot_be_read_is_named(database_url: str, tmp_path: Path) -> None:
    done = scan("signatures", "import", str(tmp_path / "none"), DATABASE_URL=database_url)
    assert done.returncode == 1 and "No such file" in done.stderr
