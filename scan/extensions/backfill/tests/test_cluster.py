"""Ranges fetched by a cluster: a scheduler and workers that are killed, frozen, or late."""

import signal
from itertools import islice

import pytest
from pyarrow import fs

from scan.ethereum.client import Node
from scan.extensions.backfill import block_columns, cluster, plan, worker_pool
from scan.extensions.backfill.cluster import ClusterPool
from scan.extensions.backfill.plan import SpoolFailed, split
from scan.extensions.backfill.range_files import FOLDER, RangeFiles, RangeStore, StoreFailed
from scan.extensions.backfill.resources import Cluster
from scan.extensions.backfill.spool import RangeTask, spool_range
from scan.extensions.backfill.tests.dask_cluster import DaskCluster, certificates
from scan.indexer import block_rows, chain_identity
from tests.support.s3_server import s3_bucket
from tests.support.serving import wait_until


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    with DaskCluster(tmp_path_factory.mktemp("dask")) as started:
        yield started


@pytest.fixture
def tasks(scenario):
    """Of a node that the workers do not reach: each has one in its environment."""
    chain = chain_identity.read_identity(Node((scenario.anvil.url,)))
    task = RangeTask(("http://127.0.0.1:9",), "", "auto", block_rows.NO_LOGS, None, chain=chain)
    return [task._replace(blocks=blocks) for blocks in split(0, scenario.anvil.head(), 5)]


def content(files, blocks):
    return [files.path(kind, blocks).read_bytes() for kind in block_columns.SPOOLED]


@pytest.mark.long
def test_workers_are_killed_or_late(dask, tasks, scenario, tmp_path, caplog):
    """The files are those that one process writes, byte by byte."""
    bounds = worker_pool.SpoolBounds(least_slow_s=2.0, first_slow_s=2.0)
    environment = {"RPC_URL": scenario.anvil.url}
    with s3_bucket("ranges") as (_, query):
        bucket = f"s3://ranges/chain?{query}"
        killed, frozen = (dask.add_worker(**environment) for _ in range(2))
        pool = ClusterPool(dask.settings(bucket), files := RangeFiles(tmp_path))
        wait_until(lambda: pool.slots() == 2 * cluster.RANGES_AHEAD)
        spooled = worker_pool.spool(pool, tasks, bounds)
        first = [*islice(spooled, 2)]
        killed.kill()
        frozen.send_signal(signal.SIGSTOP)
        dask.add_worker(**environment)
        rest = [*spooled]
        frozen.kill()
        filesystem, folder = fs.FileSystem.from_uri(bucket)
        left = filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True))
    assert not [one.path for one in left if FOLDER in one.path]
    assert len(first) + len(rest) == len(tasks)
    assert "a second worker takes them" in caplog.text
    for number, task in enumerate(tasks[:: len(tasks) // 4]):
        one = RangeFiles(tmp_path / f"one-{number}")
        spool_range(task._replace(rpc_urls=(scenario.anvil.url,)), one.folder)
        assert content(files, task.blocks) == content(one, task.blocks)


@pytest.mark.long
def test_a_scheduler_takes_nobody_without_its_certificates(dask, tmp_path):
    others = map(str, certificates(tmp_path / "certificates"))
    stranger = Cluster(dask.address, str(tmp_path), *others)
    plain = Cluster(dask.address.replace("tls:", "tcp:"), str(tmp_path), "", "", "")
    for settings in (stranger, plain):
        with pytest.raises(SpoolFailed, match="no scheduler answers at"):
            ClusterPool(settings, RangeFiles(tmp_path), connect_s=2.0)


def test_what_is_not_as_its_worker_has_written_it_is_refused(scenario, tasks, tmp_path):
    """The same range stored twice is stored once."""
    store, blocks = RangeStore(str(tmp_path / "shared"), "one"), tasks[1].blocks
    written, files, incoming = (RangeFiles(tmp_path / name) for name in ("written", "a", "b"))
    spool_range(tasks[1]._replace(rpc_urls=(scenario.anvil.url,)), written.folder)
    store.make()
    digest_ = store.put(written, blocks)
    [archive] = (tmp_path / "shared" / f"{FOLDER}-one").iterdir()
    content_ = archive.read_bytes()

    def refusal(its_digest=digest_, its_blocks=blocks):
        with pytest.raises(StoreFailed) as error:
            store.take(files, its_blocks, its_digest, incoming.folder)
        assert not files.folder.exists() and not incoming.folder.exists()
        return str(error.value)

    for altered in (content_[:-1] + b"x", b""):
        archive.write_bytes(altered)
        assert refusal() == "the archive is not what its worker has written"
    archive.unlink()
    assert "No such file" in refusal()
    assert [store.put(written, blocks), store.put(written, blocks)] == [digest_] * 2
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]
    other_backfill = RangeStore(str(tmp_path / "shared"), "other")
    other_backfill.make()
    other_backfill.remove()
    whole = RangeFiles(tmp_path / "whole")
    whole.folder.mkdir()
    store.take(whole, blocks, digest_, incoming.folder)
    assert content(whole, blocks) == content(written, blocks)
    other = tasks[2].blocks
    for kind in block_columns.SPOOLED:
        written.path(kind, blocks).rename(written.path(kind, other))
    digest_ = store.put(written, other)
    assert refusal(digest_, other) == "the files do not have the rows and columns of their range"


@pytest.mark.check
@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("tls://10.0.0.1:8786", "needs --tls-ca-file, --tls-cert and --tls-key"),
        ("tcp://10.0.0.1:8786", "whoever reaches this scheduler runs code here: use tls://"),
        ("tcp://127.0.0.1.example.com:8786", "use tls://"),
        *((text, "must be an address such as tls://host:8786") for text in ("10.0.0.1:8786", "x")),
        *((f"{text}", "must be") for text in ("tls://host", "tls://:1", "ucx://h:1", "tls://h:x")),
    ],
)
def test_a_scheduler_that_is_not_to_be_trusted_is_refused(address, reason):
    with pytest.raises(plan.CannotBackfill) as error:
        Cluster.of(address, "/shared", (None, None, None))
    assert reason in str(error.value)


@pytest.mark.check
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_scheduler_of_this_machine_needs_no_certificates(host):
    files = ("ca", "certificate", "key")
    assert Cluster.of(f"tcp://{host}:1", "/s", files) == (f"tcp://{host}:1", "/s", "", "", "")
    assert Cluster.of("tls://h:1", "/s", files)[2:] == files


@pytest.mark.check
def test_credentials_of_storage_are_in_no_address():
    with pytest.raises(StoreFailed, match="set AWS_ACCESS_KEY_ID"):
        RangeStore("s3://key:secret@bucket/folder", "one")
