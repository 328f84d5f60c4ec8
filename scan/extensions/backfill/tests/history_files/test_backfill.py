"""A whole chain from files, and its end from a node that has pruned the rest: the index is the one
that an indexer makes of a node that has everything."""

import argparse
import hashlib
import multiprocessing
import re
import sys
import tempfile
import threading
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pytest
import requests

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.extensions.backfill import e2store, history_export, history_source, plan
from scan.extensions.backfill.body_backfill import READ_BLOCKS, BodyBackfill
from scan.extensions.backfill.history_export import file_name, write_file
from scan.extensions.backfill.history_source import open_files
from scan.extensions.backfill.tests.backfilling import backfill, follow
from scan.extensions.backfill.tests.dask_cluster import DaskCluster
from scan.extensions.backfill.tests.history_files import signed_chain
from scan.extensions.backfill.tests.history_files.file_server import file_server
from scan.extensions.block_records.uncles.block_completion import BlockCompleter
from scan.hex import to_hex
from scan.indexer.block_source import BlockSource
from scan.indexer.node_reader import read_hash
from tests.support import WAIT_S, anvil, auditing, database, faulty_node, indexing, serving
from tests.support.indexing import status
from tests.support.scan_command import scan
from tests.support.scan_run import scan_run
from tests.support.table_digest import digest

KEPT = 40  # newest blocks that the node has


# A pruned node; `digest` is of the index that the indexer makes of a node that has all.
Chain = namedtuple("Chain", "node head first_kept files digest")


def sized(fault=None):
    """The node with true sizes of blocks, of which anvil leaves the list of withdrawals out, and
    with `fault`."""

    @faulty_node.altering
    def reply(_, answer):
        block = answer.get("result")
        if isinstance(block, dict) and block.get("withdrawalsRoot") and "size" in block:
            block["size"] = hex(int(block["size"], 16) + 1)

    return reply if fault is None else faulty_node.before(reply, fault)


def write(url, folder, last, first=0):
    """A file of a node's blocks."""
    source = BlockSource(node := Node([url]), traces="off")
    hash_ = read_hash(node, last)
    path = folder / file_name("test", first, hash_)
    write_file(source, BlockCompleter(node, source.chain_id), path, first, last, hash_)


@pytest.fixture(scope="module")
def chain(postgres, template, signed, tmp_path_factory):
    head, files = signed.head(), tmp_path_factory.mktemp("files")
    with faulty_node.FaultyNode(signed.url, sized()) as node, postgres.cloned(template) as url:
        write(node.url, files, head - KEPT // 2)
        indexing.Indexing(url, node.url, traces="off").run_until(head)
        yield Chain(node, head, head - KEPT, files, digest(url))


def run_backfill(chain, database_url, folder, *options):
    return scan(
        "backfill",
        "chain",
        f"--folder={folder}/files",
        "--workers=1",
        "--range-blocks=16",
        "--memory=1",
        f"--last-block={chain.head - 3}",
        *options,
        DATABASE_URL=database_url,
        RPC_URL=chain.node.url,
        SCAN_TRACES="off",
        SCAN_DATA_DIR=str(folder),
        SCAN_HISTORY=str(chain.files),  # where the options name no other
    )


def test_older_blocks_are_stored_later_from_node_and_files(chain, database_url, tmp_path):
    def first_stored():
        return database.execute(database_url, "SELECT block_number FROM bodies_from")[0][0]

    def store(**variables):
        return scan(
            *("backfill", "bodies"),
            **{"DATABASE_URL": database_url, "RPC_URL": chain.node.url, **variables},
            SCAN_DATA_DIR=str(tmp_path),
        )

    def require_head_alone():
        """Bodies are turned off, and on from the head on."""
        for stores in (False, True):
            settings = {"traces": "off", "stores_bodies": stores}
            indexing.Indexing(database_url, chain.node.url, **settings).run_until(chain.head)
        assert first_stored() == chain.head + 1

    chain.node.fault = sized()
    require_head_alone()
    stop = threading.Event()
    with closing(Database(database_url, statement_timeout_ms=0)) as own:
        for _ in BodyBackfill(own, Node([chain.node.url]), stop).run():
            stop.set()  # as a kill would: each range is one transaction
    assert first_stored() == chain.head + 1 - READ_BLOCKS
    require_head_alone()  # though some older blocks have rows
    chain.node.fault = sized(faulty_node.prune(chain.first_kept, "4444"))
    pruned = store()
    assert (pruned.returncode, first_stored()) == (1, chain.first_kept), pruned.stderr
    assert f"has pruned blocks before {chain.first_kept}" in pruned.stderr
    done = store(SCAN_HISTORY=str(chain.files))
    assert (done.returncode, first_stored()) == (0, 0), done.stderr
    assert digest(database_url) == chain.digest
    again = store()
    assert (again.returncode, again.stderr) == (0, "0 blocks are not stored\n")
    database.execute(database_url, "DELETE FROM bodies_from")  # as SCAN_BODIES=off leaves it
    off = store()
    assert (off.returncode, "SCAN_BODIES is off" in off.stderr) == (1, True), off.stderr


@pytest.mark.long
def test_one_command_beside_a_pruned_node_is_ready_with_files(chain):
    """From nothing to a service, with the two variables that the guide names: what `make run`
    runs."""
    chain.node.fault = sized(faulty_node.prune(chain.first_kept, "null"))
    with tempfile.TemporaryDirectory(prefix="scan-run-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # for PostgreSQL's user
        command = (sys.executable, "-m", "scan")
        environment = {"RPC_URL": chain.node.url, "SCAN_HISTORY": str(chain.files)}
        finality = {"SCAN_FINALITY": "3"}  # as the chain is short
        with scan_run(command, folder, **environment, **finality) as run:
            run.wait_for_block(chain.head)
            ready = run.ready()
            assert (ready["status"], ready["problem"], ready["firstBlock"]) == ("ready", None, 0)
            assert ready["untracedBlocks"] > 0
            blocks = requests.get(f"{run.url}/api/v1/blocks", timeout=WAIT_S).json()
            assert blocks["total"] == chain.head + 1


@pytest.mark.thorough
def test_doctor_and_readyz_name_the_files_as_the_cure(chain, database_url):
    chain.node.fault = sized(faulty_node.prune(chain.first_kept, "null"))
    cure = "set SCAN_HISTORY to a folder or URL with era1 or ere files"
    assert cure in scan("doctor", RPC_URL=chain.node.url).stdout
    done = scan("doctor", RPC_URL=chain.node.url, SCAN_HISTORY=str(chain.files))
    assert "an empty index takes them from elsewhere" in done.stdout
    with indexing.Indexing(database_url, chain.node.url):
        serving.wait_until(lambda: cure in (status(database_url)["problem"] or ""))


def test_files_are_written_of_what_is_indexed(chain, database_url, tmp_path):
    """Files of the first blocks, then of more: the first file of the era is replaced, and what is
    listed beside it stays."""
    chain.node.fault = sized()
    of_chain = f"chain{signed_chain.CHAIN_ID}"
    others = (
        f"{of_chain}-00000-aaaaaaaa.era1",
        f"{of_chain}-00001-aaaaaaaa-noproofs.ere",
        "sepolia-00000-aaaaaaaa-noproofs.ere",
    )
    for name in others:
        (tmp_path / name).touch()
    listed = [f"{'0' * 64}  {name}" for name in (*others, "notes.txt")]
    (tmp_path / "checksums.txt").write_text("\n".join(listed))
    indexing.Indexing(database_url, chain.node.url, traces="off").run_until(chain.head)
    urls = {"DATABASE_URL": database_url, "RPC_URL": chain.node.url}
    done = scan("export", "history", f"--output={tmp_path}", **urls)
    assert done.returncode == 1 and "no block is final (SCAN_FINALITY=" in done.stderr
    for last in (40, chain.head - 20, chain.head - 20):
        done = scan("export", "history", f"--output={tmp_path}", f"--to={last}", **urls)
        assert done.returncode == 0, done.stderr
        [path] = tmp_path.glob(f"{of_chain}-00000-*.ere")
        digest_ = hashlib.sha256(path.read_bytes()).hexdigest()
        lines = (tmp_path / "checksums.txt").read_text().splitlines()
        of_names = sorted([f"{digest_}  {path.name}", *listed], key=lambda line: line.split()[-1])
        assert lines == of_names and all((tmp_path / name).exists() for name in others)
    [written] = chain.files.glob("*.ere")
    assert path.read_bytes() == written.read_bytes()
    assert path.name == written.name.replace("test", f"chain{signed_chain.CHAIN_ID}")


@pytest.mark.thorough
def test_a_file_that_is_wrong_is_taken_from_the_next_source(chain, database_url, tmp_path):
    """From a folder with an altered file, from a host that has another one than its list says, and
    at last from a host that has the right one."""
    [path] = chain.files.glob("*.ere")
    content = path.read_bytes()
    for name in ("altered", "other"):
        (tmp_path / name).mkdir()
        middle = len(content) // 2
        altered = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        (tmp_path / name / path.name).write_bytes(altered)
    digest_ = hashlib.sha256(content).hexdigest()
    (tmp_path / "other" / "checksums.txt").write_text(f"{digest_}  {path.name}")
    with file_server(tmp_path / "other") as other, file_server(chain.files) as right:
        chain.node.fault = sized(faulty_node.prune(chain.first_kept, "no receipts"))
        options = [f"--history={source}" for source in (tmp_path / "altered", other.url, right.url)]
        done = run_backfill(chain, database_url, tmp_path, *options)
        assert done.returncode == 0, done.stderr
        downloads = [name for name, range_ in right.requests if name == path.name and not range_]
    assert f"{path.name} of {tmp_path}/altered: " in done.stderr
    assert f"{path.name} of {other.url}: its SHA-256 is not the one" in done.stderr
    assert len(downloads) == 1
    assert not (tmp_path / "history").exists()
    settings = indexing.settings_for(database_url, chain.node.url, traces="off")
    follow(settings, chain.head)
    assert digest(database_url) == chain.digest
    chain.node.fault = sized()
    assert auditing.run(settings) == auditing.EXACT


@pytest.mark.thorough
def test_files_of_another_chain_show_nothing(chain, database_url, tmp_path):
    """They agree with themselves, and the node has other blocks, or only their headers."""
    with anvil.Anvil() as other:
        other.call("anvil_setCoinbase", "0x" + "77" * 20)
        other.mine(chain.head)
        write(other.url, tmp_path, chain.head)
    chain.node.fault = sized(faulty_node.prune(chain.first_kept, "no receipts"))
    done = run_backfill(chain, database_url, tmp_path, f"--history={tmp_path}")
    assert done.returncode == 1
    assert re.search(r"noproofs.ere of .*: block \d+ is not the one that the node has", done.stderr)
    assert database.execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]


@pytest.mark.thorough
@pytest.mark.parametrize("range_blocks", [4, 500])  # which end where a file ends, or do not
def test_a_second_file_of_another_chain_is_refused_and_taken_from_the_next_source(
    chain, postgres, template, database_url, tmp_path, monkeypatch, range_blocks
):
    """Only the parent of its first block tells, or of the first block that the node has."""
    last = chain.head - KEPT // 2
    size = last // 2 + 1
    for module in (e2store, history_export, history_source, plan):
        monkeypatch.setattr(module, "BLOCKS_OF_FILE", size)
    forked = multiprocessing.get_context("fork")  # whose processes have the size, too
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: forked)
    chain.node.fault = sized()
    sources = [tmp_path / name for name in ("other", "right")]
    with anvil.Anvil() as other:
        other.mine(last)
        for folder, url in zip(sources, (other.url, chain.node.url), strict=True):
            folder.mkdir()
            write(chain.node.url, folder, size - 1)
            write(url, folder, last, first=size)
    chain.node.fault = sized(faulty_node.prune(last + 1, "null"))

    def fill(url, *folders):
        settings = indexing.settings_for(url, chain.node.url, traces="off", data_dir=tmp_path)
        options = argparse.Namespace(cluster=None, last_hash=None)
        files = open_files(settings, options, [*map(str, folders)])
        of_ranges = {"last_block": chain.head - 3, "range_blocks": range_blocks}
        assert backfill(settings, tmp_path / str(len(folders)), history=files, **of_ranges)
        follow(settings, chain.head)

    with pytest.raises(plan.SpoolFailed, match=r"test-00001-.*: .*block .* does not name block"):
        fill(database_url, sources[0])
    assert database.execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]
    with postgres.cloned(template) as url:
        fill(url, *sources)
        assert digest(url) == chain.digest


@pytest.mark.thorough
def test_the_last_block_may_be_one_that_the_node_has_pruned(chain, database_url, tmp_path):
    """Contracts are asked at the newest block then."""
    last = 15
    hash_ = read_hash(Node([chain.node.upstream]), last)
    pruned = faulty_node.prune(chain.first_kept, "4444")
    old_state = faulty_node.without_old_state(1, 4444, "pruned history unavailable")
    chain.node.fault = sized(faulty_node.before(old_state, pruned))
    options = [f"--last-block={last}"]
    done = run_backfill(chain, database_url, tmp_path, *options)
    assert "give its true hash with --last-hash" in done.stderr, done.stderr
    for last_hash, code in (("0x" + 64 * "1", 1), (to_hex(hash_), 0)):
        again = run_backfill(chain, database_url, tmp_path, *options, f"--last-hash={last_hash}")
        assert again.returncode == code, again.stderr
    blocks = database.execute(database_url, "SELECT max(number), count(*) FROM blocks")
    assert blocks == [(last, last + 1)]
    symbols = database.execute(database_url, "SELECT symbol FROM tokens WHERE symbol IS NOT NULL")
    assert {"MUSD", "HBR", "RGLD"} <= {symbol for (symbol,) in symbols}


@pytest.mark.long
def test_a_cluster_reads_files_of_a_shared_folder(chain, database_url, tmp_path):
    chain.node.fault = sized(faulty_node.prune(chain.first_kept, "null"))
    settings = indexing.settings_for(database_url, chain.node.url, traces="off", data_dir=tmp_path)
    options = argparse.Namespace(cluster="tls://…", last_hash=None)
    with pytest.raises(plan.CannotBackfill, match="a folder that all machines share"):
        open_files(settings, options, ["https://localhost/era"])
    files = open_files(settings, options, [str(chain.files)])
    with DaskCluster(tmp_path) as dask:
        dask.add_worker()
        shared = dask.settings(str(tmp_path / "shared"))
        last = chain.head - 3
        folder = tmp_path / "files"
        assert backfill(settings, folder, last_block=last, cluster=shared, history=files)
    follow(settings, chain.head)
    assert digest(database_url) == chain.digest
