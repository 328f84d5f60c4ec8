"""Contracts of a chain that began anew are verified by the sources that were kept of the last."""

import pytest

from scan.extensions.contract_details.contract_import.importer import KeptSources
from scan.extensions.verification_jobs.jobs import VerificationJobs
from tests.support.database import execute, wait_until_none
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import VERSION, verified
from tests.support.serving import wait_until

KEPT = "contract Kept { uint public kept; constructor(uint n) { kept = n; } }"
OTHER = "contract Other { uint public other = 7; }"


class Sources:
    """What a process of an explorer's service does with a folder of sources."""

    def __init__(self, explorer, folder):
        services = explorer.app.extensions["scan"]
        self._kept = KeptSources(folder, services.writes, services.sources.get(VerificationJobs))
        self._url = explorer.settings.database_url

    def step(self):
        """Wait until what the step submits is over."""
        self._kept.step()
        wait_until_none(self._url, "SELECT id FROM verification_jobs WHERE finished_at IS NULL")


def creation(source, name):
    return compiled(VERSION, standard_input({f"{name}.sol": source}), f"{name}.sol", name).creation


def verify(explorer, source, name, arguments=""):
    """Deploy and verify a contract of the explorer's chain; return its code's hash."""
    address = verified(explorer, source, name, arguments)
    [(code_hash,)] = explorer.execute(
        "SELECT encode(code_hash, 'hex') FROM verified_contracts WHERE address = decode(%s, 'hex')",
        address[2:],
    )
    return str(code_hash)


def match_of(explorer, address):
    answer = explorer.client.get(f"/api/v1/contracts/{address}")
    return answer.json.get("match") if answer.status_code == 200 else None


@pytest.fixture
def anew(own_explorer):
    with own_explorer.running_jobs():
        yield own_explorer


def test_code_deployed_anew_is_verified_by_the_source_that_was_kept(explorer, anew, tmp_path):
    kept = verify(explorer, KEPT, "Kept", f"{5:064x}")
    other = verify(explorer, OTHER, "Other")
    folder = tmp_path / "sources"
    first, second = Sources(explorer, folder), Sources(anew, folder)
    expected = {folder / f"{kept}.json", folder / f"{other}.json"}
    # A batch of sources at a time, of which other tests have added some.
    wait_until(lambda: first.step() or expected <= set(folder.iterdir()))
    assert not list(folder.glob("*.unfinished"))
    anew.anvil.mine(1)
    addresses = [anew.deploy(creation(KEPT, "Kept"), f"{n:064x}") for n in (8, 9)]
    # The same code, which something else than its source has created.
    runtime = compiled(VERSION, standard_input({"Other.sol": OTHER}), "Other.sol", "Other").runtime
    code = runtime.removeprefix("0x")
    returned = anew.deploy(f"61{len(code) // 2:04x}80600c6000396000f3{code}")
    false = KEPT.replace("= n;", "= n + 1;")
    assert anew.verify(addresses[0], false, VERSION, optimizationUsed=0).json["match"] == "runtime"
    second.step()
    assert match_of(anew, addresses[0]) == "full"
    shown = anew.client.get(f"/api/v1/contracts/{addresses[0]}").json
    assert shown["constructorArguments"] == f"0x{8:064x}"
    wait_until(lambda: match_of(anew, addresses[1]) == "full")
    assert match_of(anew, returned) == "runtime"
    second.step()
    jobs = "SELECT status FROM verification_jobs WHERE client = 'kept sources'"
    assert execute(anew.settings.database_url, jobs) == [("done",), ("done",)]
