"""Verification jobs: several processes, restarts, shares, waiting, and how long what is kept."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import psutil
import pytest

from scan.errors import NotFound, RateLimited, Unavailable
from scan.extensions.verification_jobs import jobs as job_runner
from scan.extensions.verification_jobs.jobs import MOST_UNFINISHED, MOST_UNFINISHED_OF_CLIENT
from scan.verification import compiler_run, compiler_store
from tests.support import WAIT_S, indexing, many_functions, serving, solidity

SOURCE = "pragma solidity ^0.8.0; contract Stored { uint256 public x = 4711; }"
CLIENT = "192.0.2.7"


@pytest.fixture(scope="module")
def address(explorer):
    return many_functions.deploy(explorer, SOURCE, "Stored")


@pytest.fixture
def jobs(explorer):
    yield explorer.app.extensions["scan"].sources.get(job_runner.VerificationJobs)
    explorer.execute("DELETE FROM verification_jobs")


def request(address, **fields):
    given = {"address": address, "sourceCode": SOURCE, "compilerVersion": many_functions.VERSION}
    return {**given, "contractName": "Stored", "optimizationUsed": 0, **fields}


def finished(jobs, job_id, timeout_s=180):
    job = jobs.wait(job_id, timeout_s)
    assert job is not None and job.is_over, job
    return job


def test_a_job_is_pending_until_somebody_runs_it_and_its_result_stays(explorer, jobs, address):
    job_id = jobs.submit(request(address), CLIENT)
    job = jobs.get(job_id)
    assert (job.status, job.match, job.finished_at) == ("pending", None, None)
    with explorer.running_jobs():
        job = finished(jobs, job_id)
    assert (job.status, job.match, job.creation_match) == ("done", "full", "full")
    assert (job.error_code, job.address.hex()) == (None, address[2:])
    assert job == jobs.get(job_id) == jobs.get(job_id.upper())
    assert explorer.execute("SELECT request FROM verification_jobs") == [(None,)]
    assert explorer.contract(address).json["match"] == "full"


def test_a_contract_that_no_block_names_is_indexed_by_a_submission(explorer, jobs):
    """As one that is older than the index, or that anvil_setCode has put there."""
    unnamed, empty = (f"0x{40 * digit}" for digit in "cd")
    explorer.anvil.call("anvil_setCode", unnamed, "0x6001600055")
    with pytest.raises(NotFound):
        jobs.submit(request(empty), CLIENT)
    job = jobs.get(jobs.submit(request(unnamed), CLIENT))
    assert (job.status, job.address.hex()) == ("pending", unnamed[2:])


def test_a_job_that_fails_has_a_reason(explorer, jobs, address, monkeypatch):
    """It fails soon: until then it takes one of its client's places."""
    unreachable = Mock(side_effect=compiler_store.NotFetched("its publisher cannot be reached"))
    monkeypatch.setattr(compiler_store.CompilerStore, "install", unreachable)
    given = [
        ({"sourceCode": SOURCE.replace("x =", "y =")}, "no_match", "No match"),
        ({"sourceCode": "contract Stored { uint x = y; }"}, "compiler_error", "not compile"),
        ({"constructorArguments": "00" * 32}, "no_match", "not the correct constructor arguments"),
        ({"contractName": "Absent"}, "no_match", "no contract named Absent"),
        ({"compilerVersion": "0.8.9"}, "unavailable", "scan solc install 0.8.9"),
    ]
    with explorer.running_jobs():
        for fields, error_code, words in given:
            job = finished(jobs, jobs.submit(request(address, **fields), CLIENT))
            assert (job.status, job.error_code, job.match) == ("failed", error_code, None)
            assert words in job.message


def test_what_is_not_indexed_is_refused_or_awaited(explorer, jobs, address):
    with pytest.raises(NotFound):
        jobs.submit(request(many_functions.CHECKSUMMED), CLIENT, wait_s=0.1)
    later = f"0x{int(address, 16) ^ 1:040x}"
    insert = "INSERT INTO contracts SELECT %s, block_number, code_hash FROM contracts"
    insert += " WHERE address = %s"
    with ThreadPoolExecutor(1) as pool:
        submitted = pool.submit(jobs.submit, request(later), CLIENT, wait_s=20)
        with pytest.raises(TimeoutError):
            submitted.result(0.2)
        explorer.execute(insert, *(bytes.fromhex(known[2:]) for known in (later, address)))
    assert jobs.get(submitted.result()) is not None


@pytest.mark.parametrize("network", ["192.0.2.{}", "2001:db8:1:{}::/64"])
def test_a_stranger_with_many_addresses_leaves_places_and_turns_to_others(
    explorer, jobs, address, network
):
    strangers = [
        jobs.submit(request(address), network.format(number // MOST_UNFINISHED_OF_CLIENT))
        for number in range(MOST_UNFINISHED)
    ]
    services = explorer.app.extensions["scan"]
    runner = job_runner.JobRunner(services.writes, services.verifier, jobs)
    assert runner._claim().id == strangers[0]
    honest = [jobs.submit(request(address), f"198.51.{number}.1") for number in range(12)]
    gave_way = [job for job in map(jobs.get, strangers) if job.is_over]
    assert len(gave_way) == 12 and {job.error_code for job in gave_way} == {"unavailable"}
    assert jobs.get(strangers[0]).status == "running"
    assert [runner._claim().id for _ in honest] == honest  # before the rest of the stranger's
    # One of the same network that has none yet has a place, too, while another has two.
    assert jobs.get(jobs.submit(request(address), network.format(99))).status == "pending"
    with pytest.raises(Unavailable):
        for number in range(20):
            jobs.submit(request(address), network.format(100 + number))
    assert not any(jobs.get(job_id).is_over for job_id in honest)


def test_shares_hold_where_many_submit_at_once(explorer, jobs, address):
    """Also through two processes: each has an application of its own here."""
    other = indexing.sources(explorer.indexing.client())
    doors = (jobs, other.get(job_runner.VerificationJobs)) * 5
    with ThreadPoolExecutor(10) as pool:
        submitted = [pool.submit(door.submit, request(address), CLIENT) for door in doors]
    refusals = [each.exception() for each in submitted if each.exception()]
    assert len(refusals) == 8 and {type(refusal) for refusal in refusals} == {RateLimited}
    assert int(refusals[0].headers["Retry-After"]) > 0


def test_no_job_is_found_by_guessing(jobs, address):
    job_id = jobs.submit(request(address), CLIENT)
    near = [f"{job_id[:-1]}{digit:x}" for digit in range(16)]
    assert [guess for guess in (str(uuid.uuid4()), *near) if jobs.get(guess)] == [job_id]
    for malformed in ("", "1", job_id[:-1], job_id + "0", f"{{{job_id}}}", "' OR true", "\0", "é"):
        assert jobs.get(malformed) is None
        assert jobs.wait(malformed, 5) is None


def test_few_requests_wait_at_once(explorer, jobs, address):
    job_id = jobs.submit(request(address), CLIENT)
    with ThreadPoolExecutor(8) as pool:
        waits = [pool.submit(jobs.wait, job_id, 120) for _ in range(8)]
        serving.wait_until(lambda: sum(wait.done() for wait in waits) == 6)  # see WaitingThreads
        explorer.execute("DELETE FROM verification_jobs")
        jobs.notify()
    assert sorted(wait.result() is None for wait in waits) == [False] * 6 + [True] * 2


def test_jobs_are_swept_after_a_day(explorer, jobs, address):
    old, young = (jobs.submit(request(address), CLIENT) for _ in range(2))
    with explorer.running_jobs():
        finished(jobs, old)
        finished(jobs, young)
    created = "UPDATE verification_jobs SET created_at = now() - %s WHERE id = %s"
    for job_id, age in ((old, timedelta(hours=25)), (young, timedelta(hours=23))):
        explorer.execute(created, age, job_id)
    with explorer.running_jobs():
        serving.wait_until(lambda: jobs.get(old) is None)
    assert jobs.get(young) is not None


def test_a_job_that_ends_its_process_each_time_is_given_up(explorer, jobs, address):
    job_id = jobs.submit(request(address), CLIENT)
    begun = "UPDATE verification_jobs SET status = 'running', lease = 1, attempts = %s"
    explorer.execute(begun, job_runner.MOST_ATTEMPTS)
    with explorer.running_jobs():
        job = finished(jobs, job_id)
    assert (job.status, job.error_code) == ("failed", "internal_error")


def kill_all(process):
    for child in psutil.Process(process.pid).children():
        child.kill()
    process.kill()


@pytest.mark.long
# A lease that was not given back would expire by itself after LEASE_S.
@pytest.mark.parametrize(
    ("end", "left"),
    [(kill_all, "running"), (lambda process: process.terminate(), "pending")],
    ids=["SIGKILL", "SIGTERM"],
)
def test_jobs_survive_their_process(explorer, jobs, address, solc_dir, tmp_path, end, left):
    """By a compiler that takes its time, so that there is time to end its process."""
    folder = f"solc-{many_functions.VERSION}"
    script = tmp_path / folder / folder
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nsleep 60\nexec {solc_dir / folder / folder} $@\n")
    script.chmod(0o755)
    job_id = jobs.submit(request(address), CLIENT)
    ports = serving.free_port(), serving.free_port()

    def started(port, folder):
        environment = {"RPC_URL": explorer.anvil.url, "SCAN_SOLC_DIR": str(folder)}
        return serving.gunicorn_started(explorer.settings.database_url, port, **environment)

    with started(ports[0], tmp_path) as process:
        serving.wait_for(ports[0], process)
        serving.wait_until(lambda: jobs.get(job_id).status == "running")
        end(process)
        process.wait(WAIT_S)
        assert jobs.get(job_id).status == left
    explorer.execute("UPDATE verification_jobs SET due_at = now() WHERE status = 'running'")
    with started(ports[1], solc_dir) as process:
        serving.wait_for(ports[1], process)
        assert finished(jobs, job_id, 120).match == "full"


def test_a_job_is_not_begun_again_while_its_process_stands(explorer, jobs, address):
    jobs.submit(request(address), CLIENT)
    services = explorer.app.extensions["scan"]

    def claim(after_s):
        now = datetime.now(UTC) + timedelta(seconds=after_s)
        return job_runner.JobRunner(services.writes, services.verifier, jobs, lambda: now)._claim()

    assert claim(0) is not None
    assert claim(25) is None
    assert claim(60) is not None


def test_a_job_whose_thread_cannot_start_is_not_taken_for_one_that_runs(explorer, jobs, address):
    jobs.submit(request(address), CLIENT)
    services = explorer.app.extensions["scan"]
    runner = job_runner.JobRunner(services.writes, services.verifier, jobs)
    with serving.no_thread_starts(), pytest.raises(RuntimeError, match="thread"):
        runner._claim_all()
    assert not runner._running  # whose leases are extended for ever


def test_jobs_run_in_the_places_of_other_verifications(explorer, jobs, address):
    """While all are taken, a job waits, and it does not fail."""
    places = explorer.app.extensions["scan"].verifier.places
    with ExitStack() as taken:

        def is_admitted(client):
            """Not while a verification of the test before has its place."""
            with suppress(Unavailable):
                taken.enter_context(places.admitted(client))
                return True

        for client in "abcd":
            serving.wait_until(lambda client=client: is_admitted(client))
        job_id = jobs.submit(request(address), CLIENT)
        with explorer.running_jobs():
            job = jobs.wait(job_id, 0.5)
            assert job is not None and job.status in ("pending", "running")
    explorer.execute("UPDATE verification_jobs SET due_at = now()")
    with explorer.running_jobs():
        assert finished(jobs, job_id).match == "full"
    assert compiler_run.RUNNING == 2


@pytest.mark.long
def test_jobs_of_others_get_their_turn(explorer, jobs, address, monkeypatch):
    """What compiles for longer than it may beside others is put behind them, and not given up."""

    def statuses(job_ids):
        return [jobs.get(job_id).status for job_id in job_ids]

    endless = [
        jobs.submit(request(address, sourceCode=solidity.ENDLESS, contractName="A"), client)
        for client in ("192.0.2.1", "192.0.2.2")
        for _ in range(MOST_UNFINISHED_OF_CLIENT)
    ]
    first = endless[::MOST_UNFINISHED_OF_CLIENT]  # of each client
    with explorer.running_jobs():
        serving.wait_until(lambda: statuses(first) == ["running"] * 2)
        others = [jobs.submit(request(address), f"198.51.100.{number}") for number in range(3)]
        monkeypatch.setattr(compiler_run, "SHARED_BUDGET_S", 0.0)
        serving.wait_until(lambda: statuses(first) == ["pending"] * 2)
        # So that no other one is cut short, however busy the machine is.
        monkeypatch.setattr(compiler_run, "SHARED_BUDGET_S", compiler_run.BUDGET_S)
        for job_id in others:
            assert finished(jobs, job_id).status == "done"
