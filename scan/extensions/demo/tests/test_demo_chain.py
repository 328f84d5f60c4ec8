"""The demo chain as `scan run` serves it: its times end now, and blocks are added to it."""

import threading

import pytest
import rlp
from eth_utils import keccak

from scan.ethereum import block_hashing, block_validation
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.state_proofs import proven_value
from scan.extensions.demo import demo_chain, demo_node, replay
from scan.extensions.demo.demo_chain import INTERVAL_S, DemoChain
from tests.support.serving import wait_until

NOW = 1_800_000_000
AFTER_THE_LOOP = 12


def grown(blocks, **bound):
    chain = DemoChain(replay.read_lines(demo_node.RECORDING), NOW, **bound)
    for number in range(1, blocks + 1):
        chain.add(chain.next_block(NOW + number * INTERVAL_S))
    return chain


@pytest.fixture(scope="module")
def recorded():
    return replay.Recording(replay.read_lines(demo_node.RECORDING))


@pytest.fixture(scope="module")
def first(recorded):
    """The first block of the loop."""
    return int(ask(recorded, demo_chain.LOOP))


@pytest.fixture(scope="module")
def chain(recorded, first):
    """After the whole loop, and some blocks of the next one."""
    return grown(recorded.head + 1 - first + AFTER_THE_LOOP)


def ask(node, method, *params):
    return node.respond(method, list(params))["result"]


def test_it_ends_now_and_begins_weeks_ago(first):
    """And ends before it fills a disk."""
    chain = grown(0, max_added=2)
    blocks = [ask(chain, "eth_getBlockByNumber", n, False) for n in ("earliest", "latest")]
    begins, ends = (int(block["timestamp"], 16) for block in blocks)
    assert (chain.head, ends) == (first - 1, NOW)
    assert 20 * 86_400 < ends - begins < 25 * 86_400
    assert ask(chain, "eth_getBlockByNumber", hex(first), False) is None
    for is_full in (False, True):
        chain.add(chain.next_block(NOW + INTERVAL_S))
        assert chain.is_full == is_full


@pytest.mark.thorough
@pytest.mark.check
def test_every_block_follows_from_its_parts(chain):
    """By the indexer's own checks: the parent, the hash, the roots, and hashes of transactions."""
    parent = {"hash": "0x" + 64 * "0", "timestamp": "0x0"}
    for number in range(chain.head + 1):
        block = ask(chain, "eth_getBlockByNumber", hex(number), True)
        receipts = ask(chain, "eth_getBlockReceipts", hex(number))
        header = read_json(block, BlockJson, number)
        assert block["parentHash"] == parent["hash"] and block_hashing.has_its_hash(header), number
        assert not block_validation.check_body(
            header, read_json(receipts, ReceiptsJson, number)
        ).contradiction, number
        assert int(block["timestamp"], 16) > int(parent["timestamp"], 16)
        logs = [log for receipt in receipts for log in receipt["logs"]]
        for record in (*block["transactions"], *receipts, *logs):
            assert (record["blockHash"], record["blockNumber"]) == (block["hash"], hex(number))
            assert record.get("blockTimestamp", block["timestamp"]) == block["timestamp"]
        parent = block


def test_transactions_of_a_later_loop_have_receipts_traces_and_logs(chain):
    numbers = range(chain.head - AFTER_THE_LOOP + 1, chain.head + 1)
    blocks = [ask(chain, "eth_getBlockByNumber", hex(n), True) for n in numbers]
    transactions = [t for block in blocks for t in block["transactions"]]
    assert transactions
    for transaction in transactions:
        hash_ = transaction["hash"]
        assert ask(chain, "eth_getTransactionByHash", hash_) == transaction
        assert ask(chain, "eth_getTransactionReceipt", hash_)["transactionHash"] == hash_
        calls = {"tracer": "callTracer", "tracerConfig": {"withLog": True}}
        trace = ask(chain, "debug_traceTransaction", hash_, calls)
        assert (trace["from"], trace["input"]) == (transaction["from"], transaction["input"])
    of_block = ask(chain, "debug_traceBlockByHash", blocks[0]["hash"], {"tracer": "callTracer"})
    assert [row["txHash"] for row in of_block] == [t["hash"] for t in blocks[0]["transactions"]]
    logs = ask(chain, "eth_getLogs", {"fromBlock": hex(numbers[0]), "toBlock": "latest"})
    assert {log["transactionHash"] for log in logs} <= {t["hash"] for t in transactions}


def test_accounts_are_proven_after_a_later_loop(chain, first):
    """As they are reported; not after blocks of which the node has no trie."""
    block = ask(chain, "eth_getBlockByNumber", hex(chain.head), True)
    root = bytes.fromhex(block["stateRoot"][2:])
    for address in {t["from"] for t in block["transactions"]} | {block["miner"]}:
        proof = ask(chain, "eth_getProof", address, [], {"blockHash": block["hash"]})
        value = proven_value(
            root,
            keccak(bytes.fromhex(address[2:])),
            [bytes.fromhex(node[2:]) for node in proof["accountProof"]],
        )
        nonce, balance = (int.from_bytes(item) for item in rlp.decode(value)[:2])
        reported = ("eth_getTransactionCount", "eth_getBalance")
        assert [hex(nonce), hex(balance)] == [ask(chain, m, address, "latest") for m in reported]
        assert (proof["nonce"], proof["balance"]) == (hex(nonce), hex(balance))
    with pytest.raises(replay.RpcFault, match="historical state"):
        chain.respond("eth_getProof", [address, [], hex(first - 2)])


@pytest.fixture
def start():
    """Starts services, which add blocks until the test ends."""
    nodes = []

    def start(*given, **chosen):
        nodes.append(demo_chain.start(*given, interval_s=0.01, **chosen))
        return nodes[-1]

    yield start
    for node in nodes:
        node.stop()
        node.recording.max_added = 0
    for thread in threading.enumerate():
        if thread.name == "demo-chain":
            thread.join()


@pytest.mark.thorough
def test_a_restarted_service_goes_on_with_the_same_chain(start, tmp_path, first):
    """Also after a kill that cut the last line short."""
    before = start(tmp_path, now=lambda: NOW).recording
    wait_until(lambda: before.head >= first + 3)
    [path] = tmp_path.iterdir()
    kept = path.read_text().splitlines(keepends=True)[:4]
    killed = tmp_path / "killed"  # the service that was not goes on with its own file
    killed.mkdir()
    (killed / path.name).write_text("".join(kept) + "18000000")
    after = start(killed, now=lambda: NOW + 86_400).recording
    wait_until(lambda: after.head >= first + 3)
    for number in (0, first, first + 2):
        block, same = (ask(c, "eth_getBlockByNumber", hex(number), True) for c in (before, after))
        assert block == same
    newest = [ask(after, "eth_getBlockByNumber", hex(first + n), False) for n in (2, 3)]
    assert [int(block["timestamp"], 16) for block in newest] == [NOW + 3, NOW + 86_400]
