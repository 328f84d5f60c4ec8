"""A chain of two files, as real ones have many: what links them to each other and to the node."""

import argparse
from collections import namedtuple
from contextlib import closing

import pytest

from scan.ethereum.client import Node
from scan.extensions.backfill import e2store, history_export, history_source
from scan.extensions.backfill.plan import BLOCKS_OF_FILE, SpoolFailed
from scan.extensions.backfill.tests.backfilling import backfill, follow
from scan.extensions.backfill.tests.history_files import signed_chain
from scan.indexer.node_reader import read_hash
from tests.support import database, indexing
from tests.support.anvil import Anvil
from tests.support.faulty_node import FaultyNode, Reply, before, prune
from tests.support.table_digest import digest

pytestmark = pytest.mark.thorough

GENESIS = BLOCKS_OF_FILE - 13  # of anvil; it is block 0 for those who ask, as anvil mines slowly
START = GENESIS + 1  # the first block that is indexed
LAST = BLOCKS_OF_FILE + 19  # block of the second file
HEAD = LAST + 20


# `other` has the first file, and the second one of another chain.
Chain = namedtuple("Chain", "node files other digest")


@pytest.fixture(scope="module")
def chain(postgres, template, tmp_path_factory):
    files, other = tmp_path_factory.mktemp("files"), tmp_path_factory.mktemp("other")
    with Anvil("--number", str(GENESIS)) as anvil, FaultyNode(anvil.url) as node:
        node.fault = with_genesis(signed_chain.sized())
        play(anvil, value=1)
        write(node.url, files, 0, BLOCKS_OF_FILE - 1)
        write(node.url, files, BLOCKS_OF_FILE, LAST)
        with Anvil("--number", str(GENESIS)) as foreign, FaultyNode(foreign.url) as foreign_node:
            foreign_node.fault = signed_chain.sized()
            play(foreign, value=2)
            write(foreign_node.url, other, BLOCKS_OF_FILE, LAST)
        [first] = files.glob("test-00000-*")
        (other / first.name).hardlink_to(first)
        with postgres.cloned(template) as url:
            indexing.Indexing(url, node.url, traces="off", start_block=START).run_until(HEAD)
            expected = digest(url)
        node.fault = with_genesis(signed_chain.sized(prune(LAST + 1, "null")))
        yield Chain(node, files, other, expected)


def play(anvil, value):
    while anvil.head() < HEAD:
        anvil.send(anvil.accounts[0], anvil.accounts[1], value=value)
        anvil.mine()


def with_genesis(fault):
    """The node with its first block as block 0, too: anvil takes long to mine so many."""
    numbers = {"0x0": hex(GENESIS)}

    def at_genesis(calls, forward):
        renumbered = [{**c, "params": [numbers.get(str(p), p) for p in c["params"]]} for c in calls]
        return Reply(body=forward(renumbered))

    return before(fault, at_genesis)


def write(url, folder, first, last):
    """Write a file, but for the blocks before START, which nobody reads."""
    hash_ = read_hash(Node([url]), last)
    assert hash_ is not None
    parts = signed_chain.parts(url, max(first, GENESIS), last)
    path = folder / history_export.file_name("test", first, hash_)
    with closing(e2store.E2Writer(folder, first)) as writer, path.open("wb") as output:
        for part in (*[e2store.Parts(b"", b"", b"", True)] * max(GENESIS - first, 0), *parts):
            writer.add(part)
        writer.write(output)


def open_sources(chain, database_url, folder, *sources):
    settings = indexing.settings_for(
        database_url, chain.node.url, traces="off", data_dir=folder, start_block=START
    )
    options = argparse.Namespace(cluster=None, last_hash=None)
    return settings, history_source.open_files(settings, options, [*map(str, sources)])


# Ranges end where a file ends, or do not.
@pytest.mark.parametrize("range_blocks", [4, 500])
def test_a_chain_of_two_files_is_the_one_of_the_node(chain, database_url, tmp_path, range_blocks):
    """Though the second file of the first source is of another chain, which only the parent of its
    first block tells, or of the first block that the node has."""
    settings, files = open_sources(chain, database_url, tmp_path, chain.other, chain.files)
    options = {"range_blocks": range_blocks, "history": files}
    assert backfill(settings, tmp_path / "spooled", last_block=HEAD - 3, **options)
    follow(settings, HEAD)
    assert digest(database_url) == chain.digest


@pytest.mark.parametrize("range_blocks", [4, 500])
def test_a_chain_whose_second_file_does_not_follow_shows_nothing(
    chain, database_url, tmp_path, range_blocks
):
    settings, files = open_sources(chain, database_url, tmp_path, chain.other)
    reason = "test-00001-.*: .*block .* does not name block"
    folder = tmp_path / "spooled"
    with pytest.raises(SpoolFailed, match=reason):
        backfill(settings, folder, last_block=HEAD, range_blocks=range_blocks, history=files)
    assert database.execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]
