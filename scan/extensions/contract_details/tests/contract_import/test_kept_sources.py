"""Contracts of a chain that began anew are verified by the sources that were kept of the last."""

from scan.extensions.contract_details.contract_import.importer import KeptSources
from scan.extensions.verification_jobs.jobs import VerificationJobs
from tests.support.many_functions import VERSION, deploy, verified
from tests.support.serving import wait_until


def test_code_deployed_anew_is_verified_by_the_source_that_was_kept(
    own_explorer, explorer, running_jobs, tmp_path
):
    source = "contract Kept { uint public kept; constructor(uint n) { kept = n; } }"
    kept = verified(own_explorer, source, "Kept", f"{5:064x}")
    other = verified(own_explorer, "contract Other { uint public other = 7; }", "Other")
    codes = "SELECT encode(code_hash, 'hex') FROM verified_contracts WHERE address = ANY(%s)"
    hashes = own_explorer.execute(codes, [bytes.fromhex(address[2:]) for address in (kept, other)])
    folder = tmp_path / "sources"
    # What the process of each explorer's service does with the folder.
    first, second = (
        KeptSources(folder, services.writes, services.sources.get(VerificationJobs))
        for services in (world.app.extensions["scan"] for world in (own_explorer, explorer))
    )
    unfinished = "SELECT id FROM verification_jobs WHERE finished_at IS NULL"
    expected = {folder / f"{code_hash}.json" for (code_hash,) in hashes}
    wait_until(lambda: first.step() or expected <= set(folder.iterdir()))
    assert not list(folder.glob("*.unfinished"))
    explorer.anvil.mine(1)
    addresses = [deploy(explorer, source, "Kept", f"{n:064x}") for n in (8, 9)]
    # The same code, which something else than its source has created.
    code = own_explorer.anvil.call("eth_getCode", other, "latest")[2:]
    returned = explorer.deploy(f"61{len(code) // 2:04x}80600c6000396000f3{code}")
    false = source.replace("= n;", "= n + 1;")
    answer = explorer.verify(addresses[0], false, VERSION, optimizationUsed=0)
    assert answer.json["match"] == "runtime"
    second.step()
    wait_until(lambda: not explorer.execute(unfinished))
    shown = explorer.contract(addresses[0]).json
    assert (shown["match"], shown["constructorArguments"]) == ("full", f"0x{8:064x}")
    # A refusal has no match.
    wait_until(lambda: explorer.contract(addresses[1]).json.get("match") == "full")
    assert explorer.contract(returned).json["match"] == "runtime"
    second.step()
    wait_until(lambda: not explorer.execute(unfinished))
    jobs = "SELECT status FROM verification_jobs WHERE client = 'kept sources'"
    assert explorer.execute(jobs) == [("done",), ("done",)]
