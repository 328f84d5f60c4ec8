"""Files that another program has written and reads, and files that are wrong in any way."""

import json
import subprocess
import tracemalloc
from contextlib import closing

import pytest

from scan.ethereum import client, rlp_and_tries
from scan.extensions.backfill import e2store, file_sources, history_source, raw_block
from scan.extensions.backfill.plan import SpoolFailed
from scan.extensions.backfill.tests.history_files import faulty_files, signed_chain
from scan.indexer.block_rows import FetchedBlock
from tests.support import WAIT_S, solidity

pytestmark = pytest.mark.thorough

BLOCKS = 50
HEADER, BODY, SLIM = 3, 4, 10


@pytest.fixture(scope="module")
def all_parts(signed):
    return signed_chain.parts(signed.url, 0, BLOCKS - 1)


def with_blooms(parts, number):
    """As era1 has receipts."""
    leaves = [receipt.encoded for receipt in raw_block.read_block(parts, number).receipts]
    items = [e if e[0] >= 0xC0 else rlp_and_tries.string_prefix_bytes(len(e)) + e for e in leaves]
    return parts._replace(receipts=rlp_and_tries.join_list(items), are_slim=False)


def run_ethereumjs(*arguments):
    command = ["node", "era1.mjs", *arguments]
    done = subprocess.run(
        command, cwd=solidity.NODE, capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_era1_file_of_ethereumjs_is_read(all_parts, tmp_path):
    expected = [with_blooms(parts, number) for number, parts in enumerate(all_parts)]
    # EthereumJS writes wrong offsets into its index, which is why Scan walks the entries.
    texts = [
        [rlp_and_tries.keccak256(p.header).hex(), p.header.hex(), p.body.hex(), p.receipts.hex()]
        for p in expected
    ]
    (tmp_path / "parts.json").write_text(json.dumps(texts))
    path = tmp_path / "test-00000-00000000.era1"
    run_ethereumjs("write", str(tmp_path / "parts.json"), str(path))
    with closing(e2store.E2File(path)) as file:
        assert (file.first_block, file.last_block) == (0, BLOCKS - 1)
        assert [file.parts(number) for number in range(BLOCKS)] == expected
    for number, pair in enumerate(zip(expected, all_parts, strict=True)):
        full, slim = (raw_block.read_block(parts, number) for parts in pair)
        assert full == slim


def test_an_ere_file_of_scan_is_read_by_scan_and_ethereumjs(all_parts, tmp_path):
    path = tmp_path / "test-00000-00000000-noproofs.ere"
    with closing(e2store.E2Writer(tmp_path, 0)) as writer, path.open("wb") as output:
        for parts in all_parts:
            writer.add(parts)
        writer.write(output)
    with closing(e2store.E2File(path)) as file:
        assert [file.parts(number) for number in range(BLOCKS)] == all_parts
    for kind in range(3):
        contents = json.loads(run_ethereumjs("read", str(path), str((HEADER, BODY, SLIM)[kind])))
        assert [*map(bytes.fromhex, contents)] == [parts[kind] for parts in all_parts]


def test_the_right_file_of_the_faults_is_read(all_parts, tmp_path):
    assert read_all(faulty_files.file_of(all_parts), tmp_path) == BLOCKS


@pytest.mark.parametrize("fault", faulty_files.FAULTS)
def test_a_file_that_is_wrong_is_refused_in_bounded_memory(all_parts, tmp_path, fault):
    content = faulty_files.FAULTS[fault](all_parts)
    tracemalloc.start()
    try:
        with pytest.raises(SpoolFailed, match=NAME):
            read_all(content, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * e2store.MAX_PART_BYTES


NAME = "test-00000-00000000.ere of .*: "


class OwnChain:
    """What the node behind a source says of its chain: it has pruned all blocks."""

    stores_bodies = True

    def call(self, _):
        return hex(signed_chain.CHAIN_ID)

    def batch(self, _):
        raise client.NodeError("pruned")

    def untraced(self, block):
        return FetchedBlock(block, ())


def read_all(content, folder):
    """How many blocks a file has; its blocks are read as a worker reads them."""
    (folder / "test-00000-00000000.ere").write_bytes(content)
    history = history_source.RangeHistory(
        file_sources.list_files(str(folder)), BLOCKS - 1, str(folder / "downloads"), ""
    )
    number = 0
    chain = OwnChain()
    with closing(history.source(chain, chain)) as source:
        while number < BLOCKS:
            number += len(source.blocks(number, number + 4))
    return number
