"""`scan contracts import --from parquet`: what the public export claims is shown as a claim, and is
verified by a compilation here."""

import json

import pytest

from scan.errors import ScanError
from scan.extensions.contract_details import parquet_export
from scan.extensions.contract_details.contract_import.exported_claims import TABLES, import_folder
from scan.extensions.contract_details.tests.contract_import.exports import COLUMNS, Export
from scan.http import background_threads
from tests.support.explorer import compiled, standard_input
from tests.support.scan_command import scan
from tests.support.serving import wait_until

VERSION, COMMIT = "0.8.28", "0.8.28+commit.7893614a"
BOX = "contract Box { uint256 public number; constructor(uint256 n) { number = n; } }\n"
HELD = "contract Held { uint256 public immutable held; constructor(uint256 n) { held = n; } }\n"
STANDARD = standard_input({"src/Box.sol": BOX}, optimizer={"enabled": True, "runs": 200})


@pytest.fixture
def export(tmp_path, explorer):
    yield Export(tmp_path / "export", int(explorer.anvil.call("eth_chainId"), 16))
    explorer.execute(
        "TRUNCATE exported_contracts, exported_compilations, exported_files, exported_sources,"
        " read_export_files, verified_contracts, signatures"
    )


def deployed(explorer, source=BOX, name="Box"):
    """The address of a contract, its code as the node has it, and its standard JSON input."""
    standard = standard_input({f"src/{name}.sol": source}, **STANDARD["settings"])
    creation = compiled(VERSION, standard, f"src/{name}.sol", name).creation
    address = explorer.deploy(creation, f"{7:064x}")
    return address, explorer.anvil.call("eth_getCode", address, "latest"), standard


def add(export, explorer, source=BOX, name="Box", change=("", ""), **changed):
    """A contract of the chain in the export, with another source if `change` says so."""
    address, code, standard = deployed(explorer, source, name)
    path = f"src/{name}.sol"
    standard["sources"][path]["content"] = source.replace(*change, 1 if change[0] else 0)
    abi = compiled(VERSION, standard, path, name).abi
    export.add(address, code, standard, f"{path}:{name}", COMMIT, abi, **changed)
    return address


def load(explorer, export, *looked_at, again=False):
    """Import the export as it was written; of contracts that are looked at return the claims."""
    import_folder(explorer.database, export.folder, export.chain_id, again=again)
    return [claims(explorer, address) for address in looked_at]


def put(explorer, export, *looked_at):
    export.write()
    return load(explorer, export, *looked_at)


def compiling(explorer):
    """What the thread of a worker does beside serving."""
    [thread] = background_threads.restored_sources_threads(explorer.app.extensions["scan"])
    return thread._step


def claims(explorer, address):
    return explorer.get(f"/api/v1/contracts/{address}/claims")["claims"]


def wait_for_claim(explorer, address, **values):
    """Until there is one with these values: the response cache has to learn of it."""
    wait_until(lambda: any(values.items() <= claim.items() for claim in claims(explorer, address)))


def test_what_an_export_has_is_claimed_at_once_and_verified_by_a_compilation(explorer, export):
    address = add(export, explorer)
    export.write()
    done = scan(
        "contracts", "import", "--from", "parquet", str(export.folder),
        DATABASE_URL=explorer.settings.database_url,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "1 contracts claimed, of 1 compilations and 1 sources" in done.stdout
    [claim] = claims(explorer, address)
    assert claim["source"] == "sourcify export" and claim["outcome"] == "claimed"
    assert (claim["contractName"], claim["compilerVersion"]) == ("src/Box.sol:Box", COMMIT)
    assert (claim["match"], claim["reason"]) == ("full", None)
    assert claim["standardInput"] == STANDARD
    assert {entry.get("name") for entry in claim["abi"]} == {None, "number"}
    # Nowhere is it verified.
    assert explorer.contract(address).status_code == 404
    unverified = "Contract source code not verified"
    etherscan = f"/api?module=contract&address={address}&action="
    assert explorer.get(f"{etherscan}getabi")["result"] == unverified
    [row] = explorer.get(f"{etherscan}getsourcecode")["result"]
    assert (row["SourceCode"], row["ABI"]) == ("", unverified)
    assert explorer.get(f"/server/v2/contract/{export.chain_id}/{address}")["match"] is None
    shown = explorer.get(f"/api/v2/smart-contracts/{address}")
    assert "source_code" not in shown and not shown.get("is_verified")
    assert explorer.call(address, "number()").status_code == 404
    page = explorer.get(f"/address/{address}?tab=contract")
    assert "Claimed, not verified." in page and "Claimed source" in page
    # It was looked at, so it is compiled next.
    step = compiling(explorer)
    assert step() is True
    wait_until(lambda: explorer.contract(address).json.get("match") == "full")
    assert claims(explorer, address) == []
    assert "Claimed" not in explorer.get(f"/address/{address}?tab=contract")
    assert json.loads(explorer.get(f"{etherscan}getabi")["result"]) == claim["abi"]
    assert [step() for _ in range(4)] == [False] * 4


def test_a_source_that_gives_other_code_is_marked_and_compiled_once(explorer, export):
    address = add(export, explorer, change=("public number;", "public number; uint256 public b;"))
    put(explorer, export, address)
    step = compiling(explorer)
    assert step() is True
    [claim] = claims(explorer, address)
    assert (claim["outcome"], claim["standardInput"], claim["abi"]) == ("different", None, None)
    assert claim["reason"].startswith("No match in ")
    page = explorer.client.get(f"/address/{address}?tab=contract").text
    assert "its source gave other code" in page and "Claimed source" not in page
    attempts = "SELECT attempts, due_at = 'infinity' FROM exported_contracts"
    assert explorer.execute(attempts) == [(1, True)]
    # It is compiled again only where another import is to.
    load(explorer, export)
    assert [step() for _ in range(4)] == [False] * 4
    load(explorer, export, again=True)
    wait_for_claim(explorer, address, outcome="claimed", reason=None)
    assert step() is True
    # A newer export has another compilation of it.
    code = explorer.anvil.call("eth_getCode", address, "latest")
    export.add(address, code, STANDARD, "src/Box.sol:Box", COMMIT)
    put(explorer, export)
    wait_for_claim(explorer, address, outcome="claimed", standardInput=STANDARD)
    assert step() is True
    wait_until(lambda: explorer.contract(address).json.get("match") == "full")


def test_a_claim_about_other_code_is_not_shown(explorer, export):
    """Neither of another chain's contract at the same address, nor of code that the address does
    not have; a contract whose code is indexed later is shown then."""
    elsewhere = add(export, explorer, chain_id=export.chain_id + 1)
    other = add(export, explorer, HELD, "Held", code_hash_keccak=bytes(32))
    runtime = compiled(VERSION, STANDARD, "src/Box.sol", "Box").runtime
    future = explorer.next_place
    export.add(future, runtime, STANDARD, "src/Box.sol:Box", COMMIT)
    assert put(explorer, export, elsewhere, other, future) == [[]] * 3
    assert "laimed" not in explorer.client.get(f"/address/{other}?tab=contract").text
    assert not any(compiling(explorer)() for _ in range(4))
    assert explorer.place(runtime) == future
    wait_for_claim(explorer, future, contractName="src/Box.sol:Box")


def test_an_interrupted_import_goes_on_and_a_newer_export_adds_to_it(explorer, export, monkeypatch):
    first = add(export, explorer)
    second = add(export, explorer, HELD, "Held", is_full=False)
    export.write(rows_per_file=1)
    read = parquet_export.ParquetExport.rows

    def killed(self, statement, batch_rows, **params):
        if "list_hashes" in statement and "sources_1_2" in params["file"]:
            raise MemoryError
        return read(self, statement, batch_rows, **params)

    monkeypatch.setattr(parquet_export.ParquetExport, "rows", killed)
    with pytest.raises(MemoryError):
        load(explorer, export)
    [one], [other] = (claims(explorer, at) for at in (first, second))
    assert (one["standardInput"], other["standardInput"]) == (STANDARD, None)
    monkeypatch.undo()
    read_files = "SELECT file, read_at FROM read_export_files"
    stored = {*explorer.execute(read_files)}
    load(explorer, export)
    again = {*explorer.execute(read_files)}
    assert stored <= again and len(again) == len(stored) + 1
    for at in (first, second):
        wait_until(lambda at=at: claims(explorer, at)[0]["standardInput"])
    for table in ("exported_contracts", "exported_files"):
        assert explorer.execute(f"SELECT count(*) FROM {table}") == [(2,)]  # noqa: S608
    # A third contract has the compilation of the first; the second matches in full since.
    address, code, _ = deployed(explorer)
    export.add(address, code, STANDARD, "src/Box.sol:Box", COMMIT)
    rows = export.rows["verified_contracts"]
    rows[-1]["compilation_id"] = rows[0]["compilation_id"]
    rows.append({**rows[1], "runtime_metadata_match": True})
    export.write(rows_per_file=1)
    load(explorer, export)
    for at in (first, second, address):
        wait_for_claim(explorer, at, match="full")
    [claim], [same] = claims(explorer, first), claims(explorer, address)
    assert claim["standardInput"] == same["standardInput"]


HOSTILE = {
    "a name to be read backwards": {"fully_qualified_name": "src/\u202eevil.sol:\u202eevil"},
    "an ABI that is none": {"compilation_artifacts": '{"abi": {"type": "function"}}'},
    "artifacts 10,000 deep": {
        "compilation_artifacts": '{"abi":' + "[" * 10_000 + "]" * 10_000 + "}"
    },
    "no artifacts": {"compilation_artifacts": None},
    "half of a character": {"compilation_artifacts": '{"abi":[{"type":"\\ud800"}]}'},
    "a path out of its folder": {"path": "../../../etc/passwd"},
    "another version": {"version": "0.8.28; rm -rf /\n\x1b[2J"},
}
LEFT_OUT = {
    "settings 10,000 deep": {"compiler_settings": '{"a":' * 10_000 + "1" + "}" * 10_000},
    "settings that grow": {"compiler_settings": '{"a":[' + "1E9," * 100_000 + "1]}"},
    "settings with a number of 100 digits": {"compiler_settings": '{"a":' + "9" * 100 + "}"},
    "an address of 19 bytes": {"address": bytes(19)},
    "no id": {"compilation_id": "1; DROP TABLE"},
    "a hash of 3 bytes": {"code_hash_keccak": b"abc"},
}


@pytest.mark.thorough
@pytest.mark.parametrize("changed", HOSTILE.values(), ids=HOSTILE)
def test_hostile_rows_are_shown_harmlessly_and_verify_nothing(explorer, export, changed):
    address = add(export, explorer, **changed)
    [[claim]] = put(explorer, export, address)
    claim["contractName"] = claim["contractName"].partition(":")[2]
    assert (claim["abi"] is None) == ("compilation_artifacts" in changed)
    assert all(text.isprintable() for text in (claim["contractName"], claim["compilerVersion"]))
    page = explorer.client.get(f"/address/{address}?tab=contract")
    assert page.status_code == 200 and "\u202e" not in page.text and "\x1b" not in page.text
    compiling(explorer)()
    assert explorer.execute("SELECT attempts FROM exported_contracts") == [(1,)]


@pytest.mark.thorough
@pytest.mark.parametrize("changed", LEFT_OUT.values(), ids=LEFT_OUT)
def test_rows_that_cannot_be_are_left_out(explorer, export, changed):
    address = add(export, explorer, **changed)
    good = add(export, explorer, HELD, "Held")
    left_out, kept = put(explorer, export, address, good)
    assert left_out == [] and len(kept) == 1


@pytest.mark.thorough
def test_a_source_of_another_hash_or_of_too_many_bytes_is_not_stored(explorer, export):
    large = add(export, explorer, BOX + "// " + "x" * 2**20)
    forged = add(export, explorer, HELD, "Held", content="contract Held {}")
    of_both = put(explorer, export, large, forged)
    assert [claim["standardInput"] for [claim] in of_both] == [None] * 2
    assert explorer.execute("SELECT count(*) FROM exported_sources") == [(0,)]
    assert not any(compiling(explorer)() for _ in range(4))


def test_files_of_another_form_are_refused_by_their_names(export):
    def require_refused(*words):
        with pytest.raises(ScanError) as refused, parquet_export.opened(export.folder, TABLES):
            pass
        assert all(word in refused.value.message for word in words), refused.value.message

    export.write(columns={"code": {"code_hash_keccak": None}})
    require_refused("code_0_100000.parquet", "no column code_hash_keccak")
    export.write(columns={"contract_deployments": {"address": COLUMNS["sources"]["content"]}})
    require_refused("contract_deployments_0_", "address is VARCHAR, not BLOB")
    export.write()
    file = export.folder / "sources" / "sources_0_100000.parquet"
    whole = file.read_bytes()
    for cut in (0, 3, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:cut])
        require_refused(str(file))
    file.write_bytes(whole)
    file.rename(file.with_name("sources_100000_200000.parquet"))
    require_refused("rows 0 to 100000 are missing before sources_100000_200000.parquet")
    file.write_bytes(whole)
    (file.parent / "sources_0_100000_zstd.parquet").write_bytes(whole)
    require_refused("rows 0 to 100000 are in sources_0_100000")


def test_signatures_of_an_export_are_imported_once(explorer, export):
    export.add_signature("transfer(address,uint256)")
    export.add_signature("Transfer(address,address,uint256)")
    export.write(rows_per_file=1)
    url = explorer.settings.database_url

    def run():
        folder = str(export.folder)
        return scan("signatures", "import", "--parquet", folder, DATABASE_URL=url)

    done = run()
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.endswith("2 signatures read, 2 of them new, 0 lines skipped\n")
    assert run().stdout == "0 signatures read, 0 of them new, 0 lines skipped\n"
    stored = explorer.execute("SELECT signature FROM signatures ORDER BY 1")
    assert stored == [("Transfer(address,address,uint256)",), ("transfer(address,uint256)",)]
