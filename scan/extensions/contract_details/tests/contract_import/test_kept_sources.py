"""Contracts of a chain that began anew are verified by the sources that were kept of the last."""

import pytest

from scan.extensions.contract_details.contract_import.importer import KeptSources
from scan.extensions.verification_jobs.jobs import VerificationJobs
from tests.support.database import wait_until_none
from tests.support.many_functions import VERSION, deploy, verified
from tests.support.serving import wait_until

KEPT = "contract Kept { uint public kept; constructor(uint n) { kept = n; } }"
OTHER = "contract Other { uint public other = 7; }"


def kept_in(explorer, folder):
    """What a process of an explorer's service does with a folder of sources."""
    services = explorer.app.extensions["scan"]
    return KeptSources(folder, services.writes, services.sources.get(VerificationJobs))


def match_of(explorer, address):
    return explorer.contract(address).json.get("match")  # a refusal has none


@pytest.fixture
def anew(own_explorer):
    with own_explorer.running_jobs():
        yield own_explorer


def test_code_deployed_anew_is_verified_by_the_source_that_was_kept(explorer, anew, tmp_path):
    kept, other = verified(explorer, KEPT, "Kept", f"{5:064x}"), verified(explorer, OTHER, "Other")
    codes = "SELECT encode(code_hash, 'hex') FROM verified_contracts WHERE address = ANY(%s)"
    hashes = explorer.execute(codes, [bytes.fromhex(address[2:]) for address in (kept, other)])
    folder = tmp_path / "sources"
    first, second = kept_in(explorer, folder), kept_in(anew, folder)
    unfinished = "SELECT id FROM verification_jobs WHERE finished_at IS NULL"
    expected = {folder / f"{code_hash}.json" for (code_hash,) in hashes}
    # A batch of sources at a time, of which other tests have added some.
    wait_until(lambda: first.step() or expected <= set(folder.iterdir()))
    assert not list(folder.glob("*.unfinished"))
    anew.anvil.mine(1)
    addresses = [deploy(anew, KEPT, "Kept", f"{n:064x}") for n in (8, 9)]
    # The same code, which something else than its source has created.
    code = explorer.anvil.call("eth_getCode", other, "latest")[2:]
    returned = anew.deploy(f"61{len(code) // 2:04x}80600c6000396000f3{code}")
    false = KEPT.replace("= n;", "= n + 1;")
    assert anew.verify(addresses[0], false, VERSION, optimizationUsed=0).json["match"] == "runtime"
    second.step()
    wait_until_none(anew.settings.database_url, unfinished)
    shown = anew.contract(addresses[0]).json
    assert (shown["match"], shown["constructorArguments"]) == ("full", f"0x{8:064x}")
    wait_until(lambda: match_of(anew, addresses[1]) == "full")
    assert match_of(anew, returned) == "runtime"
    second.step()
    wait_until_none(anew.settings.database_url, unfinished)
    jobs = "SELECT status FROM verification_jobs WHERE client = 'kept sources'"
    assert anew.execute(jobs) == [("done",), ("done",)]
