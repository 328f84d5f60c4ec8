"""Sources that `scan restore --owners` has put back are compiled again, and count by that alone."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from scan.database import owners_file
from scan.errors import Unavailable
from scan.verification import compiler_store
from scan.verification.restored_sources import RestoredSources
from tests.support.explorer import standard_input
from tests.support.owners_rows import changed_file

SOURCE = Path(__file__).with_name("Box.sol").read_text()
SOURCE = SOURCE.replace("constructor(uint256 first) public", "constructor(uint256 first)")
PATH, VERSION, SEVEN = "contracts/Box.sol", "0.8.28", f"{7:064x}"
TABLES = ("verified_contracts", "compiled_sources", "interfaces")


@pytest.fixture
def verified(explorer, tmp_path):
    """The address of a verified contract, and the file that has it; the database has it no more."""
    address = explorer.verified(standard_input({PATH: SOURCE}), VERSION, f"{PATH}:Box", SEVEN)
    owners_file.write(explorer.database, tmp_path / "file")
    before = stored(explorer, address)
    for table in TABLES:
        explorer.sql(f"DELETE FROM {table}")  # noqa: S608
    yield address, tmp_path / "file", before
    explorer.sql("TRUNCATE restored_sources, verified_contracts")


def stored(explorer, address):
    rows = {}
    for table in TABLES:
        statement = f"SELECT (to_jsonb(t) - 'match_id')::text FROM {table} t WHERE address = %s"  # noqa: S608
        rows[table] = explorer.sql(statement, bytes.fromhex(address[2:]))
    return rows


def restore(explorer, path):
    owners_file.restore(explorer.database, owners_file.read(path))
    return RestoredSources(explorer.database, explorer.app.extensions["scan"].verifier)


def test_what_compilers_said_comes_back_once_no_other_verification_runs(explorer, verified):
    address, path, before = verified
    compiling = restore(explorer, path)
    assert explorer.sql("SELECT 1 FROM verified_contracts") == [(1,)]
    assert stored(explorer, address) != before
    places = explorer.app.extensions["scan"].verifier.places
    with places.running(float("inf")):
        assert compiling.step() is False
    assert compiling.step() is True
    assert stored(explorer, address) == before
    assert compiling.step() is False
    assert explorer.sql("SELECT * FROM restored_sources") == []


def test_what_a_file_says_of_a_source_is_not_believed(explorer, verified):
    address, path, _ = verified

    def forged(line):
        if line["table"] == "verified_contracts":
            text = orjson.dumps(line["row"]["sources"]).decode()
            line["row"]["sources"] = orjson.loads(text.replace("+", "-"))
        return line

    assert "+" in SOURCE
    compiling = restore(explorer, changed_file(path.with_name("forged"), forged, path))
    assert compiling.step() is True
    assert not any(stored(explorer, address).values())
    [(reason,)] = explorer.sql("SELECT reason FROM restored_sources")
    assert reason.startswith("No match in ")
    assert compiling.step() is False
    # The right file is compiled, once it is restored.
    assert restore(explorer, path).step() is True
    assert explorer.sql("SELECT match FROM verified_contracts") == [("full",)]
    assert explorer.sql("SELECT reason FROM restored_sources") == []


def test_another_process_goes_on_with_what_one_that_ended_had_begun(explorer, verified):
    address, path, before = verified
    compiling = restore(explorer, path)
    claim, now = "verification/restored_sources_claim", datetime.now(UTC)
    assert explorer.database.row(claim, now=now) is not None  # by one that is killed then
    assert compiling.step() is False
    explorer.sql("UPDATE restored_sources SET due_at = due_at - interval '11 minutes'")
    assert compiling.step() is True
    assert stored(explorer, address) == before


def test_without_its_compiler_a_contract_stays_as_the_file_has_it(explorer, verified, tmp_path):
    def fetch(*_):
        raise compiler_store.NotFetched("nothing is reached from a test")

    restore(explorer, verified[1])
    settings = replace(explorer.settings, solc_dir=tmp_path / "no compilers")
    store = compiler_store.CompilerStore(settings, compiler_store.SOLC._replace(fetch=fetch))
    verifier = replace(explorer.app.extensions["scan"].verifier, compilers=store)
    compiling = RestoredSources(explorer.database, verifier)
    assert compiling.step() is True
    assert explorer.sql("SELECT match FROM verified_contracts") == [("full",)]
    [(reason, is_later)] = explorer.sql("SELECT reason, due_at > now() FROM restored_sources")
    assert (reason, is_later) == (None, True)


@pytest.fixture
def older(explorer):
    """Addresses of contracts that an older version verified, of which the second has newer
    transactions, and what compiles them again, after its first step."""
    sources = [{PATH: SOURCE.replace("contract Box", f"// {n}\ncontract Box")} for n in (1, 2, 3)]
    named = VERSION, f"{PATH}:Box", SEVEN
    addresses = [explorer.verified(standard_input(source), *named) for source in sources]
    explorer.send(addresses[1], "")
    explorer.sql("TRUNCATE read_findings, compiled_sources")
    compiling = RestoredSources(explorer.database, explorer.app.extensions["scan"].verifier)
    assert compiling.step() is True
    yield addresses, compiling
    explorer.sql("TRUNCATE read_findings, verified_contracts")


def test_contracts_of_an_older_version_are_compiled_again_newest_use_first(explorer, older):
    addresses, compiling = older
    mapped = "SELECT '0x' || encode(address, 'hex') FROM compiled_sources"
    assert explorer.sql(mapped) == [(addresses[1],)]
    assert explorer.database.row("verification/read_findings_count") == (2, 0)
    claim, now = "verification/read_findings_claim", datetime.now(UTC)
    assert explorer.database.row(claim, now=now) is not None  # by another process
    assert compiling.step() is False
    explorer.sql("UPDATE read_findings SET due_at = now() - interval '1 minute'")
    assert [compiling.step(), compiling.step()] == [True, True]
    assert {address for (address,) in explorer.sql(mapped)} == set(addresses)
    kept = "SELECT 1 FROM compiled_sources WHERE layout IS NOT NULL"
    assert len(explorer.sql(kept)) == 3
    assert compiling.step() is False


def test_what_no_longer_gives_its_code_keeps_what_it_has(explorer, older):
    _, compiling = older
    changed = "UPDATE verified_contracts SET sources = replace(sources::text, '+', '-')::json"
    explorer.sql(changed)
    before = explorer.sql("SELECT * FROM verified_contracts ORDER BY address")
    assert [compiling.step() for _ in range(3)] == [True, True, False]
    assert explorer.sql("SELECT * FROM verified_contracts ORDER BY address") == before
    assert explorer.database.row("verification/read_findings_count") == (0, 2)


def test_compiling_again_ends_at_once_where_others_wait(explorer, older):
    _, compiling = older
    places = explorer.app.extensions["scan"].verifier.places
    with places.running(float("inf"), gives_way=True) as place:
        place.check()
        places.jobs_wait = True
        with pytest.raises(Unavailable):
            place.check()
    assert compiling.step() is False
    places.jobs_wait = False
