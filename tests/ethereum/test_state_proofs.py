"""Proofs of accounts and slots: what they prove, and everything that proves nothing.

The tries are built here, by another program than the one that reads them.
"""

import random

import pytest
import rlp
from eth_utils import keccak

from scan.ethereum import rlp_and_tries, served_chain, state_proofs
from scan.hex import to_hex
from tests.support.value_names import shown

pytestmark = pytest.mark.check

EMPTY_ROOT = keccak(rlp.encode(b""))
ALICE, BOB, NOBODY = (bytes([number]) * 20 for number in (1, 2, 3))


def read_proof(address, block, header, answer, slot=None):
    return state_proofs.read_account(
        address,
        block,
        state_proofs.proven_header(block, header),
        answer,
        () if slot is None else (slot,),
    )


class Trie:
    """A Merkle Patricia trie of keys of one length; `proof` has the nodes on the way to a key."""

    def __init__(self, values):
        self.by_hash = {}
        self.node = self._node({key.hex(): value for key, value in values.items()}, 0)
        self.root = keccak(rlp.encode(self.node))

    def _node(self, values, depth):
        if not values:
            return b""
        first, *others = sorted(values)
        if not others:
            return [compact(first[depth:], 2), values[first]]
        end = depth
        while all(key[end] == first[end] for key in others):
            end += 1
        if end > depth:
            return [compact(first[depth:end], 0), self._named(self._node(values, end))]
        branches = [
            {key: value for key, value in values.items() if int(key[depth], 16) == nibble}
            for nibble in range(16)
        ]
        return [*(self._named(self._node(some, depth + 1)) for some in branches), b""]

    def _named(self, node):
        encoded = rlp.encode(node)
        if len(encoded) < 32:
            return node
        self.by_hash[keccak(encoded)] = node
        return keccak(encoded)

    def proof(self, key):
        """The encoded nodes that the walk from the root to a key passes."""
        nodes, node, path = [rlp.encode(self.node)], self.node, key.hex()
        while node and path:
            if len(node) == 17:
                node, path = node[int(path[0], 16)], path[1:]
            else:
                flag, rest = int(node[0].hex()[0]), node[0].hex()[1:]
                shared = rest if flag % 2 else rest[1:]
                if flag >= 2 or not path.startswith(shared):
                    break
                node, path = node[1], path[len(shared) :]
            if isinstance(node, bytes) and node:
                node = self.by_hash[node]
                nodes.append(rlp.encode(node))
        return nodes


def compact(nibbles, flag):
    is_odd = len(nibbles) % 2
    return bytes.fromhex(f"{flag + is_odd}{'' if is_odd else '0'}{nibbles}")


def tries():
    """Of one key, of many, of long shared beginnings, and of nodes within nodes."""
    chance = random.Random(5)
    keys = [chance.randbytes(32) for _ in range(40)]
    near = [b"\x07" * 30 + bytes([high, low]) for high in (1, 2) for low in (1, 2, 0x21)]
    return [
        {keys[0]: b"\x80"},
        {key: chance.randbytes(chance.randint(1, 80)) for key in keys},
        {key: rlp.encode(chance.randbytes(32)) for key in (*near, *keys[:3])},
        dict.fromkeys(near, b"\x05"),
    ]


TRIES = pytest.mark.parametrize("values", tries(), ids=["one", "many", "near", "embedded"])


@TRIES
def test_values_and_absent_keys_are_proven(values):
    trie, chance = Trie(values), random.Random(6)
    for key, value in values.items():
        assert state_proofs.proven_value(trie.root, key, trie.proof(key)) == value
        near = key[:-1] + bytes([key[-1] ^ 1])
        for absent in (chance.randbytes(32), near):
            proof = trie.proof(absent)
            assert state_proofs.proven_value(trie.root, absent, proof) == values.get(absent, b"")


@TRIES
def test_a_map_has_the_root_and_the_proofs_of_its_trie(values):
    trie = Trie({keccak(key): value for key, value in values.items()})
    map_trie = rlp_and_tries.MapTrie(values)
    assert map_trie.root == trie.root
    for key in (*values, b"x" * 20):
        assert map_trie.proof(key) == trie.proof(keccak(key))


@TRIES
def test_altered_proofs_prove_nothing(values):
    """However they are altered, no other value comes out."""
    trie, chance = Trie(values), random.Random(7)
    for key in [*values][:20]:
        proof = trie.proof(key)
        other = chance.choice([*values])
        altered = [proof[:-1], proof[1:], [*proof, proof[-1]], [proof[0], *proof], proof[:1] * 60]
        for index, node in enumerate(proof):
            offset = chance.randrange(len(node))
            flipped = node[:offset] + bytes([node[offset] ^ 4]) + node[offset + 1 :]
            altered += [[*proof[:index], n, *proof[index + 1 :]] for n in (flipped, node[1:], b"")]
        altered += {tuple(trie.proof(other))} - {tuple(proof)}
        for nodes in altered:
            with pytest.raises(state_proofs.ImproperProof):
                state_proofs.proven_value(trie.root, key, nodes)
        with pytest.raises(state_proofs.ImproperProof):
            state_proofs.proven_value(keccak(trie.root), key, proof)


def test_an_empty_trie_has_no_values():
    assert rlp_and_tries.MapTrie({}).root == EMPTY_ROOT
    assert state_proofs.proven_value(EMPTY_ROOT, keccak(b"x"), []) == b""
    assert state_proofs.proven_value(EMPTY_ROOT, keccak(b"x"), [b"\x80"]) == b""
    with pytest.raises(state_proofs.ImproperProof):
        state_proofs.proven_value(EMPTY_ROOT, keccak(b"x"), [b"\x80", b"\x80"])


class State:
    """A state of two accounts, one with storage, in a block of its own."""

    def __init__(self):
        self.slots = {keccak(n.to_bytes(32)): rlp.encode(n * 7) for n in range(1, 40)}
        self.storage = Trie(self.slots)
        self.accounts = {
            keccak(ALICE): rlp.encode([5, 10**24, self.storage.root, keccak(b"code")]),
            keccak(BOB): rlp.encode([0, 1, EMPTY_ROOT, state_proofs.EMPTY_CODE_HASH]),
        }
        self.trie = Trie(self.accounts)
        word, number = "0x" + 64 * "1", "0x0"
        self.header = {
            **{"parentHash": word, "sha3Uncles": word, "miner": to_hex(BOB)},
            **{"stateRoot": to_hex(self.trie.root), "transactionsRoot": word, "receiptsRoot": word},
            **{"logsBloom": "0x" + 512 * "0", "difficulty": number, "number": number},
            **{"gasLimit": "0x1c9c380", "gasUsed": number, "timestamp": "0x5", "extraData": "0x"},
            **{"mixHash": word, "nonce": "0x" + 16 * "0"},
        }
        self.encoded = rlp.encode([item(name, value) for name, value in self.header.items()])
        self.block = served_chain.BlockId(0, keccak(self.encoded))
        self.header["hash"] = to_hex(self.block.hash)

    def answer(self, address, slot=None):
        proof = self.trie.proof(keccak(address))
        answer = {"accountProof": [*map(to_hex, proof)], "storageProof": []}
        if slot is not None:
            nodes = self.storage.proof(keccak(slot.to_bytes(32)))
            answer["storageProof"] = [{"key": hex(slot), "proof": [*map(to_hex, nodes)]}]
        return answer

    def read(self, address, answer, slot=None):
        return read_proof(address, self.block, self.header, answer, slot)


def item(name, value):
    if name in ("difficulty", "number", "gasLimit", "gasUsed", "timestamp"):
        number = int(value, 16)
        return number.to_bytes((number.bit_length() + 7) // 8)
    return bytes.fromhex(value[2:])


def test_accounts_and_slots_are_read_from_the_proof():
    state = State()
    alice = state.read(ALICE, state.answer(ALICE, 9), 9)
    assert (alice.balance, alice.nonce, alice.exists) == (10**24, 5, True)
    assert (alice.code_hash, alice.storage_root) == (keccak(b"code"), state.storage.root)
    assert (alice.header, alice.state_root) == (state.encoded, state.trie.root)
    assert alice.slot.value == 63
    assert state.read(ALICE, state.answer(ALICE, 2**256 - 1), 2**256 - 1).slot.value == 0
    nobody = state.read(NOBODY, state.answer(NOBODY))
    assert (nobody.balance, nobody.nonce, nobody.exists) == (0, 0, False)
    assert (nobody.code_hash, nobody.storage_root) == (state_proofs.EMPTY_CODE_HASH, EMPTY_ROOT)


def test_other_values_than_the_proof_has_are_not_read():
    """Where a node names another balance beside an honest proof, the proof decides."""
    state = State()
    answer = {**state.answer(ALICE), "balance": "0xffffffffffff", "nonce": "0x0", "codeHash": "0x"}
    assert state.read(ALICE, answer).balance == 10**24


def test_another_header_is_refused():
    state, other = State(), to_hex(keccak(b"other"))
    changes = ({"stateRoot": other}, {"hash": other}, {"stateRoot": None}, {"gasUsed": 5})
    for header in (None, [], {}, *({**state.header, **change} for change in changes)):
        with pytest.raises(state_proofs.ImproperProof, match="header"):
            read_proof(ALICE, state.block, header, state.answer(ALICE))


def test_answers_of_other_types_are_refused():
    state = State()
    answer = state.answer(ALICE, 9)
    wrong = [None, "0x", [], {}, ["0x"], [5], ["zz"], ["0x" + 64 * "c"], ["0xf8"], ["0xc0"]]
    for value in wrong:
        for name in ("accountProof", "storageProof"):
            with pytest.raises(state_proofs.ImproperProof):
                state.read(ALICE, {**answer, name: value}, 9)
        with pytest.raises(state_proofs.ImproperProof):
            state.read(ALICE, value, 9)
        with pytest.raises(state_proofs.ImproperProof):
            state.read(ALICE, {**answer, "storageProof": [{"proof": value}]}, 9)


@pytest.mark.parametrize(
    ("size", "count"), [(32, state_proofs.MOST_NODES + 1), (state_proofs.MOST_NODE_BYTES + 1, 1)]
)
def test_long_and_large_proofs_are_refused_before_they_are_decoded(size, count):
    with pytest.raises(state_proofs.ImproperProof, match=r"more than"):
        State().read(ALICE, {"accountProof": ["0x" + "zz" * size] * count})


@pytest.mark.parametrize("value", [b"\x05", rlp.encode([1, 2]), b"\xf8"], ids=shown)
def test_hashed_nodes_of_no_account_are_refused(value):
    """A trie may have a root that the block names, and still hold no accounts."""
    state = State()
    trie = Trie({keccak(ALICE): value})
    state.header["stateRoot"] = to_hex(trie.root)
    block = served_chain.BlockId(0, keccak(state.encoded.replace(state.trie.root, trie.root)))
    answer = {"accountProof": [to_hex(rlp.encode(trie.node))]}
    with pytest.raises(state_proofs.ImproperProof):
        read_proof(ALICE, block, {**state.header, "hash": to_hex(block.hash)}, answer)
