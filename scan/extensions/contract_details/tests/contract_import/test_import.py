"""`scan contracts`: contracts that another explorer has verified are compiled and compared here."""

import json
import re
import shutil

import pytest
from flask import Response

from scan.extensions.contract_details.contract_import import source_client, source_records
from tests.support.explorer import compiled, standard_input
from tests.support.scan_command import scan
from tests.support.serving import serving
from tests.support.verified_elsewhere import Elsewhere, Verified
from tests.support.vyper import BOX as VYPER_BOX
from tests.support.vyper import NEWEST, SEVEN

VERSION, COMMIT = "0.8.28", "0.8.28+commit.7893614a"
BOX = "contract Box { uint256 public number; constructor(uint256 n) { number = n; } }\n"
TWO = {
    "src/Base.sol": "contract Base { function one() public pure returns (uint) { return 1; } }",
    "src/Top.sol": 'import "./Base.sol"; contract Top is Base { uint public immutable x = 5; }',
}
OPTIMIZED = {"optimizer": {"enabled": True, "runs": 77}, "evmVersion": "paris"}
STORED = """SELECT '0x' || encode(address, 'hex'), match, creation_match,
        (to_jsonb(v) - 'verified_at' - 'match_id')::text
    FROM verified_contracts v ORDER BY address"""
FORMS = {"blockscout": "", "sourcify": "/server", "etherscan": "/api"}


class Chain:
    """Contracts on a chain of the file's own, and the explorer that has verified some of them."""

    def __init__(self, explorer, vyper, folder):
        self.explorer = explorer
        self.folder = folder  # of the programs that commands have: a missing compiler stays so
        for program in ("node", "sh", "cat", "rm", "env", "unshare", "mkfifo"):
            (folder / program).symlink_to(shutil.which(program) or program)
        self.elsewhere = Elsewhere(str(int(explorer.anvil.call("eth_chainId"), 16)))
        self.url = ""
        box = standard_input({"contracts/Box.sol": BOX}, optimizer={"enabled": False, "runs": 200})
        self.box = self._deploy(box, "contracts/Box.sol", "Box", f"{7:064x}")
        self.two = self._deploy(standard_input(TWO, **OPTIMIZED), "src/Top.sol", "Top")
        other = standard_input({"A.sol": "contract A { uint public a; /* one */ }"})
        self.partial = self._deploy(other, "A.sol", "A", match="partial", change=("one", "two"))
        false = standard_input({"B.sol": "contract B { function f() public {} }"})
        self.false = self._deploy(false, "B.sol", "B", change=("function f", "function g"))
        self.fe, self.old, _ = map(explorer.place, ("6005600a60", "6005600b60", "6005600c60"))
        self.vyper = explorer.deploy(vyper.creation_of(NEWEST, VYPER_BOX), SEVEN)
        for address, source, path, name, version, language in (
            (self.fe, "contract V {}", "V.fe", "V", "0.26.0", "Fe"),
            (self.old, "contract O {}", "O.sol", "O", "0.8.9+commit.e5eed63a", "Solidity"),
            (self.vyper, VYPER_BOX, "Box.vy", "Box", NEWEST, "Vyper"),
        ):
            standard = {**standard_input({path: source}), "language": language}
            contract = address, standard, path, name, version
            self.elsewhere.add(Verified(*contract, language=language))

    def _deploy(self, standard, path, name, arguments="", match="full", change=("^", "")):
        """Deploys what the source compiles to, and has it verified there with a change of it."""
        creation = compiled(VERSION, standard, path, name).creation
        address = self.explorer.deploy(creation, arguments)
        claimed = json.loads(re.sub(*change, json.dumps(standard)))
        self.elsewhere.add(Verified(address, claimed, path, name, COMMIT, match))
        return address

    def forget(self):
        self.explorer.execute("DELETE FROM verified_contracts")
        self.explorer.execute("DELETE FROM contract_claims")

    def scan(self, *arguments):
        settings = self.explorer.settings
        environment = {"DATABASE_URL": settings.database_url, "RPC_URL": settings.rpc_urls[0]}
        environment |= {"SCAN_SOLC_DIR": str(settings.solc_dir), "PATH": str(self.folder)}
        return scan("contracts", *arguments, **environment)

    def load(self, form, *arguments, of=()):
        """Import all that are indexed, or those `of` these addresses."""
        if of:
            file = self.folder / "addresses"
            file.write_text("\n".join(of))
            arguments += ("--addresses", str(file))
        source = self.url + FORMS[form]
        done = self.scan("import", "--rate", "100", "--from", form, source, *arguments)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)


@pytest.fixture(scope="module")
def made(own_explorer, vyper, tmp_path_factory):
    made = Chain(own_explorer, vyper, tmp_path_factory.mktemp("programs"))
    with serving(made.elsewhere.app) as url:
        made.url = url
        yield made


@pytest.fixture
def chain(made):
    """Before anything is imported."""
    made.forget()
    for asked in (made.elsewhere.requests, made.elsewhere.answers, made.elsewhere.refusals):
        asked.clear()
    return made


def summary(printed):
    [line] = re.findall(r"^.*: (\d+ verified here.*)$", printed, re.M)
    return str(line)


def require_import(chain, form):
    """What matched elsewhere matches here and nothing else; a second run asks for nothing again."""
    chain.elsewhere.refusals.append(Response(status=429, headers={"Retry-After": "1"}))
    printed = chain.load(form)
    assert summary(printed) == (
        "4 verified here, 2 kept as claims, 1 that do not match, 1 not verified there,"
        " 0 not indexed here"
    )
    whole = dict.fromkeys((chain.box, chain.two, chain.vyper), ("full", "full"))
    matches = {row[0]: row[1:3] for row in chain.explorer.execute(STORED)}
    assert matches == {**whole, chain.partial: ("partial", "partial")}
    reasons = dict(re.findall(r"^(0x\w{40}): (.*)$", printed, re.M))
    assert reasons.keys() == {chain.false, chain.fe, chain.old}
    assert "different: No match" in reasons[chain.false]
    assert reasons[chain.fe].lower().startswith("claimed: there is no compiler for fe")
    assert "claimed: The compiler 0.8.9 is not installed" in reasons[chain.old]
    chain.elsewhere.requests.clear()
    assert summary(chain.load(form)).startswith("0 verified here, 0 kept")
    assert chain.elsewhere.requests == []


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["etherscan", pytest.param("blockscout", marks=pytest.mark.long)])
def test_what_another_explorer_has_verified_is_imported(chain, form):
    require_import(chain, form)
    chain.load(form, "--again")
    assert len(chain.elsewhere.requests) == 4


@pytest.mark.thorough
def test_contracts_of_sourcify_are_exported_and_have_source_maps(chain, tmp_path):
    """The export is imported with every match as it was; maps are added where none are known, as
    after a verification by a release that did not keep them."""
    require_import(chain, "sourcify")
    before = chain.explorer.execute(STORED)
    file = tmp_path / "contracts.ndjson"
    assert chain.scan("export", str(file)).stdout == "4 contracts written\n"
    chain.forget()
    done = chain.scan("import", str(file))
    assert summary(done.stdout).startswith("4 verified here, 0 kept"), done
    assert chain.explorer.execute(STORED) == before
    file.write_text('{"address": "0x12"}\nno JSON\n')
    done = chain.scan("import", str(file))
    assert done.returncode == 1 and "address" in done.stderr
    maps = "SELECT address, to_jsonb(m)::text FROM compiled_sources m ORDER BY address"
    known = chain.explorer.execute(maps)
    assert len(known) == 4
    first = "(SELECT min(address) FROM compiled_sources)"
    chain.explorer.execute(f"DELETE FROM compiled_sources WHERE address <> {first}")  # noqa: S608
    done = chain.scan("source-maps")
    assert done.stdout == "3 source maps added, 0 contracts left without one\n", done
    assert (chain.explorer.execute(maps), chain.explorer.execute(STORED)) == (known, before)
    chain.explorer.execute("DELETE FROM compiled_sources")
    other = "UPDATE verified_contracts SET compiler_version = '0.9.9' WHERE file_path = %s"
    chain.explorer.execute(other, "contracts/Box.sol")
    done = chain.scan("source-maps")
    assert f"{chain.box}: " in done.stdout and "0.9.9" in done.stdout
    assert done.stdout.endswith("3 source maps added, 1 contracts left without one\n"), done


def test_a_claim_is_shown_as_such_and_nothing_is_read_by_it(chain):
    chain.load("blockscout", of=(chain.fe, chain.box, chain.two))
    explorer = chain.explorer

    def claims(address):
        return explorer.get(f"/api/v1/contracts/{address}/claims")["claims"]

    [claim] = claims(chain.fe)
    assert (claim["contractName"], claim["match"], claim["source"]) == ("V.fe:V", "full", chain.url)
    page = explorer.get(f"/address/{chain.fe}?tab=contract")
    assert "claims" in page and "V.fe:V" in page and chain.url in page
    assert explorer.contract(chain.fe).status_code == 404
    assert claims(chain.box) == []
    # What a compiler verifies is no claim any more.
    record = {"address": chain.two, "compilerVersion": COMMIT, "contractName": "src/Top.sol:Top"}
    record["sourceCode"] = standard_input(TWO, **OPTIMIZED)
    explorer.execute(
        "UPDATE contract_claims SET outcome = 'claimed', reason = 'none', record = %s"
        " WHERE address = decode(%s, 'hex')",
        *(json.dumps(record), chain.two[2:]),
    )
    explorer.execute("DELETE FROM verified_contracts WHERE contract_name = 'Top'")
    assert len(claims(chain.two)) == 1
    assert summary(chain.load("blockscout", of=(chain.two,))).startswith("1 verified here")
    assert (explorer.contract(chain.two).json["match"], claims(chain.two)) == ("full", [])


@pytest.mark.thorough
def test_listed_addresses_are_asked_for_page_by_page(chain):
    addresses = (chain.box, "", chain.box.upper().replace("X", "x"), "0x" + 40 * "9", "")
    printed = chain.load("blockscout", of=addresses)
    assert summary(printed).startswith("1 verified here") and "1 not indexed here" in printed
    printed = chain.load("blockscout", "--listed")
    assert summary(printed).startswith("3 verified here, 2 kept as claims, 1 that")
    assert sum("items_count" in path for path in chain.elsewhere.requests) == 3


def test_an_answer_of_another_form_is_refused(chain):
    too_large = b" " * (source_client.MAX_ANSWER_BYTES + 1)
    deep = b'{"is_verified":true,"compiler_settings":' + b'{"a":' * 100_000
    another_type = b'{"is_verified": true, "source_code": 5}'
    source = source_records.Blockscout(source_client.SourceClient(chain.url, 100))
    for chain.elsewhere.answers[chain.box] in (b"{", deep, another_type, too_large):
        with pytest.raises(source_client.Malformed) as refused:
            source.record(bytes.fromhex(chain.box[2:]))
        assert len(refused.value.message) < 100


@pytest.mark.thorough
def test_hostile_names_paths_and_settings_end_in_a_line_of_the_report(chain):
    """None of it ends the import, reaches the disk or is stored as a verification."""
    made = {
        "is_verified": True, "language": "solidity", "name": "\u202eX\n\0", "file_path": "../../e",
        "source_code": "contract X {}", "compiler_version": "v0.8.28; rm -rf /",
        "compiler_settings": {"remappings": [{}], "libraries": {"a": "b"}},
    }  # fmt: skip
    chain.elsewhere.answers |= {
        chain.box: json.dumps(made).encode(),
        chain.two: json.dumps({**made, "compiler_version": COMMIT}).encode(),
        chain.partial: json.dumps({**made, "language": "\n\x1b[2J" * 1000}).encode(),
    }
    printed = chain.load("blockscout")
    assert summary(printed).startswith("1 verified here, 5 kept as claims")
    assert [row[0] for row in chain.explorer.execute(STORED)] == [chain.vyper]
    assert "\x1b" not in printed and "\0" not in printed
    page = chain.explorer.client.get(f"/address/{chain.box}?tab=contract").text
    assert "rm -rf" in page and "\u202e" not in page


def test_a_source_is_asked_politely_and_not_for_ever(chain):
    waits = []
    client = source_client.SourceClient(chain.url, 0.5, sleep=waits.append)
    address = bytes.fromhex(chain.box[2:])
    chain.elsewhere.refusals[:] = [Response(status=503), Response(status=429)]
    assert source_records.Blockscout(client).record(address) is not None
    assert sum(1 < wait <= 2 for wait in waits) == 3 and 8.0 in waits  # two requests' pauses
    chain.elsewhere.refusals[:] = [Response(status=500)] * 5
    with pytest.raises(source_client.SourceFailed, match="does not answer: status 500"):
        source_records.Blockscout(client).record(address)
    chain.elsewhere.refusals[:] = [Response(status=429, headers={"Retry-After": "86400"})]
    with pytest.raises(source_client.SourceFailed, match="asks to wait 86400 s"):
        source_records.Blockscout(client).record(address)
    elsewhere = Response(status=302, headers={"Location": "http://127.0.0.1:1/"})
    for refusal in (elsewhere, Response(status=403)):
        chain.elsewhere.refusals[:] = [refusal]
        with pytest.raises(source_client.SourceFailed, match="refuses a request with status"):
            source_records.Blockscout(client).record(address)


def test_a_key_and_a_password_are_never_printed(chain, tmp_path):
    key = tmp_path / "key"
    key.write_text("SECRET\n")
    chain.load("etherscan", f"@{key}", of=(chain.box,))
    assert chain.elsewhere.requests
    assert all("apikey=SECRET" in path for path in chain.elsewhere.requests)
    chain.elsewhere.refusals[:] = [Response(status=403)]
    done = chain.scan("import", "--from", "etherscan", chain.url + "/api", "SECRET", "--again")
    assert done.returncode == 1 and "status 403" in done.stderr
    assert "SECRET" not in done.stdout + done.stderr
    done = chain.scan("import", "--from", "blockscout", "https://user:SECRET@x.org")
    assert done.returncode == 1 and "SECRET" not in done.stderr
