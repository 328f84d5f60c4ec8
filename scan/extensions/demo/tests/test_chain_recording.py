"""`scan doctor --record`: what its file has and has not; it is indexed as the node's chain is."""

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentTypeError, Namespace
from functools import partial
from pathlib import Path

import pytest

from scan.commands.run import run
from scan.errors import ScanError, SettingError
from scan.extensions.demo import demo_node
from scan.extensions.demo.chain_recording import BlockRange, block_range, record, write_recording
from tests.commands.test_command import scan
from tests.support import WAIT_S, anvil, faulty_node, forked_python, indexing, serving, table_digest
from tests.support.scan_run import scan_run

SECRETS = ("/v3/9f8e7d6c5b4a", "?token=t0pS3cret")
RECORDED = BlockRange(3, 9)


@pytest.fixture(scope="module")
def chain():
    """Tokens, a contract that only a trace shows, failures; blocks before and after."""
    with anvil.Anvil() as node:
        me, *others = node.accounts
        coin, maker = node.deploy(me, "NulName"), node.deploy(me, "Maker")
        for number in range(3, 11):
            node.send(me, coin.address, data=coin.data("mint", others[number % 9], number))
            if number % 3 == 0:
                node.send(me, maker.address, data=maker.data("makeFunded"), value=9, gas=1_000_000)
            node.send(others[0], others[number % 9], value=number)
            node.mine()
        yield node


@pytest.fixture
def node(chain):
    with faulty_node.FaultyNode(chain.url) as proxy:
        yield proxy


def no_database():
    raise AssertionError("blocks come first")


def rows_of(packed):
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


def alter(node, **answers):
    """Each call of these methods has this result or error."""

    def replace_result(call, answer):
        if call["method"] in answers:
            answer.pop("result", None)
            answer.update(answers[call["method"]])

    node.fault = faulty_node.altering(replace_result)


def test_a_recording_is_indexed_as_the_node_was(chain, node, postgres, template, tmp_path):
    settings = indexing.settings_for("", node.url + "".join(SECRETS), traces="off")
    contents, packed = record(settings, RECORDED, lambda: postgres.cloned(template))
    assert "blocks 3 to 9: 17 transactions" in contents and "did not end" not in contents
    text = gzip.decompress(packed).decode()
    for private in ("9f8e7d6c5b4a", "t0pS3cret", "127.0.0.1", "anvil", "pending"):
        assert private not in text
    path = tmp_path / "recording"
    path.write_bytes(packed)
    replay = demo_node.start(path)
    with postgres.cloned(template) as replayed, postgres.cloned(template) as fresh:
        indexing.Indexing(replayed, replay.url, start_block=3).run_until(9)
        with faulty_node.FaultyNode(chain.url, up_to(9)) as cut:
            indexing.Indexing(fresh, cut.url, start_block=3).run_until(9)
        assert table_digest.digest(replayed) == table_digest.digest(fresh)
    replay.stop()


def up_to(last):
    """The node of a chain that ends there."""

    def fault(calls, forward):
        tagged = [
            {**call, "params": [hex(last) if p == "latest" else p for p in call["params"]]}
            for call in calls
        ]
        return faulty_node.replacing("eth_blockNumber", hex(last))(tagged, forward)

    return fault


def error(code, message, **data):
    return {"code": code, "message": message, **data}


NO_METHOD = error(-32601, "no such method for t0pS3cret of bob@example")
REVERT = error(3, "execution reverted: bob", data="0x0102")
OUT_OF_GAS = error(-32000, "out of gas", data="t0pS3cret")


KINDS_OF_ERRORS = [
    (
        {"debug_traceBlockByHash": NO_METHOD, "eth_call": REVERT},
        {
            "debug_traceBlockByHash": error(-32601, "the method does not exist"),
            "eth_call": error(3, "execution reverted", data="0x0102"),
        },
    ),
    ({"eth_call": OUT_OF_GAS}, {"eth_call": error(-32000, "execution reverted")}),
]


@pytest.mark.parametrize(("answers", "recorded"), KINDS_OF_ERRORS)
def test_of_an_error_its_kind_is_recorded(node, postgres, template, answers, recorded):
    alter(node, **{method: {"error": answer} for method, answer in answers.items()})
    settings = indexing.settings_for("", node.url)
    _, packed = record(settings, BlockRange(3, 4), lambda: postgres.cloned(template))
    errors = {row["method"]: row["error"] for row in rows_of(packed) if "error" in row}
    assert {method: errors.get(method) for method in answers} == recorded
    assert b"bob" not in gzip.decompress(packed)


def test_a_response_with_a_part_of_the_url_is_not_recorded(node, postgres, template):
    settings = indexing.settings_for("", node.url + "".join(SECRETS))
    alter(node, debug_traceBlockByHash={"result": [{"result": {"output": "see t0pS3cret"}}]})
    contents, packed = record(
        settings, BlockRange(3, 4), lambda: postgres.cloned(template), quiet_s=1.0
    )
    assert "Indexing did not end" in contents and "a part of its URL" in contents
    assert b"t0pS3cret" not in gzip.decompress(packed)
    assert not [row for row in rows_of(packed) if row["method"] == "debug_traceBlockByHash"]


WITHOUT_BLOCKS = [
    ("eth_blockNumber", "0xzz"),
    ("eth_chainId", None),
    ("eth_getBlockByNumber", None),
    ("eth_getBlockByNumber", {"transactions": 7}),
    ("eth_getBlockByNumber", {"number": "0x3"}),
    ("eth_getBlockByNumber", ["t"] * 9),
]


@pytest.mark.parametrize(("method", "result"), WITHOUT_BLOCKS)
def test_a_node_without_these_blocks_is_said_so(node, method, result):
    alter(node, **{method: {"result": result}})
    with pytest.raises(ScanError, match="the node cannot give these blocks"):
        record(indexing.settings_for("", node.url), BlockRange(3, 4), no_database)


def test_more_bytes_than_allowed_are_no_recording(node, postgres, template):
    settings, database = indexing.settings_for("", node.url), partial(postgres.cloned, template)
    with pytest.raises(ScanError, match="choose fewer blocks"):
        record(settings, RECORDED, database, max_bytes=10_000)


@pytest.mark.parametrize("text", ["", "3-", "-3", "9-3", "3-103", "a-b", "3-4-5", "\uff19"])
def test_a_range_of_no_or_too_many_blocks_is_refused(text):
    with pytest.raises(ArgumentTypeError):
        block_range(text)
    assert (block_range("3"), block_range("3-102")) == ((3, 3), (3, 102))


WRONG_CALLS = [
    ("new", False, None, "where nobody can be asked"),
    ("old", True, None, "must be a new file"),
    ("nowhere/new", True, None, "in an existing directory"),
    ("new", True, BlockRange(900, 901), "the newest block is"),
]


@pytest.mark.parametrize(("name", "is_agreed", "blocks", "reason"), WRONG_CALLS)
def test_a_wrong_call_writes_nothing(chain, tmp_path, name, is_agreed, blocks, reason):
    (tmp_path / "old").write_text("kept")
    options = Namespace(record=tmp_path / name, yes=is_agreed, blocks=blocks)
    with pytest.raises(SettingError, match=reason):
        write_recording(indexing.settings_for("", chain.url), options)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.thorough
def test_an_interrupted_recording_leaves_no_file(node, tmp_path):
    node.fault = faulty_node.hang(30)
    command = [sys.executable, "-m", "scan", "doctor", "--yes", "--record", str(tmp_path / "file")]
    process = forked_python.Forked(
        command, env={**os.environ, "RPC_URL": node.url}, stdout=subprocess.PIPE, text=True
    )
    serving.wait_until(lambda: node.requests > 0)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=WAIT_S)
    assert (process.returncode, output) == (1, "nothing was written\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_recording_is_replayed_by_scan_run(chain, tmp_path):
    path = tmp_path / "blocks"
    done = scan("doctor", "--record", str(path), "--blocks", "3-9", "--yes", RPC_URL=chain.url)
    assert done.returncode == 0, done.stderr
    assert (
        "blocks 3 to 9" in done.stdout and "On a private chain all this is private" in done.stdout
    )
    assert path.stat().st_mode & 0o077 == 0
    with tempfile.TemporaryDirectory(prefix="scan-run-") as folder:
        Path(folder).chmod(0o755)
        command = (sys.executable, "-m", "scan")
        with scan_run(command, Path(folder), "--recording", str(path)) as running:
            running.wait_for_block(9)
            assert running.ready()["problem"] is None


NESTED = (
    b'{"method":"eth_getBlockByNumber","params":["0x1",true],"result":'
    b'{"number":"0x1","hash":"0x1","transactions":[]}}',
    b'{"method":"eth_getBalance","params":["0x1",'
    + b'{"blockNumber":' * 1000
    + b"1"
    + b"}" * 1000
    + b'],"result":"0x1"}',
)


NO_RECORDINGS = [
    (b"plain", "cannot be read"),
    (gzip.compress(b'{"method": "eth_chainId", "params": []}', mtime=0), "no request"),
    (
        gzip.compress(b'{"method": "eth_chainId", "params": [], "result": "0x1"}', mtime=0),
        "no block",
    ),
    (gzip.compress(b"[" * 100, mtime=0), "EOF|unexpected"),
    (gzip.compress(b"[0," * 5_000_001, mtime=0), "10,000,002 values"),
    (gzip.compress(b"\n".join(NESTED), mtime=0), "malformed.*Recursion"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("content", "reason"), NO_RECORDINGS)
def test_what_is_no_recording_is_not_run(tmp_path, content, reason):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(SettingError, match=f"--recording.*({reason})"):
        run(indexing.settings_for("", ""), Namespace(recording=path, chains=None))
    with pytest.raises(SettingError, match="a database of its own"):
        database = "postgresql://127.0.0.1/scan"
        run(indexing.settings_for(database, ""), Namespace(recording=path, chains=None))
