"""`scan labels`: labels of addresses from a file, and to one."""

from tests.support.database import execute, insert
from tests.support.scan_command import scan

FIRST, SECOND = "0x" + 40 * "a", "0x" + 40 * "B"


def labels(url):
    rows = execute(url, "SELECT '0x' || encode(address, 'hex'), label FROM labels")
    return {str(address): str(label) for address, label in rows}


def test_labels_are_stored_replaced_and_removed(database_url, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text(f'address,label\n{FIRST},"Treasury, new"\n{SECOND},Bridge\n')
    done = scan("labels", "import", str(file), DATABASE_URL=database_url)
    assert (done.returncode, done.stdout) == (0, "2 labels stored, 0 removed\n")
    assert labels(database_url) == {FIRST: "Treasury, new", SECOND.lower(): "Bridge"}
    file.write_text(f"{SECOND},\n{FIRST},Vault\n")
    assert scan("labels", "import", str(file), DATABASE_URL=database_url).returncode == 0
    assert labels(database_url) == {FIRST: "Vault"}


def test_of_a_wrong_file_nothing_is_stored_and_its_fault_is_named(database_url, tmp_path):
    file = tmp_path / "labels.csv"
    wrong = [
        *("0x12,short", FIRST, f"{FIRST},{101 * 'x'}", f"{FIRST},a\x1bb", f"{FIRST},a,b"),
        f"{FIRST},M\xfcnze",  # not in UTF-8
    ]
    faults = dict.fromkeys(wrong[:-1], "scan: line 3: ")
    faults[wrong[-1]] = f"scan: {file}: not a text file in UTF-8\n"
    for line, fault in faults.items():
        file.write_text(f"address,label\n{SECOND},Bridge\n{line}\n", encoding="latin-1")
        done = scan("labels", "import", str(file), DATABASE_URL=database_url)
        assert (done.returncode, done.stderr[: len(fault)]) == (1, fault), line
    for action in ("import", "export"):
        absent = str(tmp_path / "none" / "labels.csv")
        done = scan("labels", action, absent, DATABASE_URL=database_url)
        assert done.returncode == 1
        assert done.stderr == f"scan: {absent}: No such file or directory\n"
    assert labels(database_url) == {}


def test_exported_labels_can_be_imported(database_url, tmp_path):
    stored = {FIRST: 'a "quoted", one', SECOND.lower(): "Über"}
    for address, label in stored.items():
        insert(database_url, "labels", address=bytes.fromhex(address[2:]), label=label)
    listed = scan("labels", "list", DATABASE_URL=database_url).stdout
    rows = "".join(f"{address}  {label}\n" for address, label in stored.items())
    assert listed == f"{'ADDRESS':42}  LABEL\n{rows}"
    file = str(tmp_path / "labels.csv")
    assert scan("labels", "export", file, DATABASE_URL=database_url).returncode == 0
    execute(database_url, "DELETE FROM labels")
    assert scan("labels", "import", file, DATABASE_URL=database_url).returncode == 0
    assert labels(database_url) == stored


def test_labels_are_removed_by_address(database_url):
    for address in (FIRST, SECOND):
        insert(database_url, "labels", address=bytes.fromhex(address[2:]), label="Bridge")
    done = scan("labels", "remove", FIRST, DATABASE_URL=database_url)
    assert (done.returncode, done.stdout) == (0, "1 labels removed\n")
    assert [*labels(database_url)] == [SECOND.lower()]
    assert scan("labels", "remove", FIRST, DATABASE_URL=database_url).returncode == 1
    wrong = scan("labels", "remove", SECOND, "0x12", DATABASE_URL=database_url)
    assert wrong.returncode == 1 and "40 hex digits" in wrong.stderr
    assert [*labels(database_url)] == [SECOND.lower()]
