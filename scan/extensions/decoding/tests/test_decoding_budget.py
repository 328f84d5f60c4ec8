"""What contracts, ABIs and logs can make decoding cost: it ends, and says that it did."""

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.contracts import abi, abi_decoding
from scan.contracts.abi import AbiType
from scan.extensions.decoding.decoding import decode_call, decode_log, decode_log_by

pytestmark = pytest.mark.check

TRANSFER = keccak(text="Transfer(address,address,uint256)")
PARTY = (1).to_bytes(32, "big")


@pytest.fixture
def attempts(monkeypatch):
    """The entries by which something was decoded, as far as their values."""
    made = []
    decode = abi_decoding.decoded_values

    def counted(types, data, *, strict):
        made.append(str(types))
        return decode(types, data, strict=strict)

    monkeypatch.setattr(abi_decoding, "decoded_values", counted)
    return made


def test_anonymous_events_are_tried_where_few_have_that_form(attempts):
    def events(count, *types):
        inputs = [{"type": type_, "name": f"a{n}"} for n, type_ in enumerate(types)]
        event = {"type": "event", "anonymous": True, "inputs": inputs}
        return abi_decoding.index_abi({**event, "name": f"E{n}"} for n in range(count))

    word = (7).to_bytes(32, "big")
    event = decode_log([], word, [events(1, "uint256")])
    assert event is not None and event.name == "E0"
    assert decode_log([], word, [events(2, "uint256")]) is None  # neither is known to be right
    attempts.clear()
    for data in (word, word * 2, word * 50, encode(["uint256[]"], [[1] * 1000])):
        for types in (["uint256"], ["uint256", "uint256"], ["uint256[]"], ["bytes"]):
            assert decode_log([], data, [events(1990, *types)]) is None
    assert not attempts


def test_entries_with_one_selector_are_tried_no_more_than_a_few(attempts):
    entry = {"type": "event", "name": "E", "inputs": [{"type": "bytes", "name": "a"}]}
    index = abi_decoding.index_abi([entry] * 2000)
    assert decode_log([keccak(text="E(bytes)")], b"\xff" * 64, [index]) is None
    assert len(attempts) <= 2 * (abi_decoding.MAX_ALTERNATIVES + 1)


@pytest.mark.parametrize(
    "inputs",
    [
        [{"type": "bool"}] * 90,
        [{"type": "bool" + "[1]" * 31}] * 15,
        [{"type": "tuple", "components": [{"type": "bool", "name": "a"}] * 90}],
    ],
)
def test_no_more_types_of_an_abi_are_read_than_a_bound(inputs, monkeypatch):
    """A stored ABI of 1 MiB held 140,000, which took 0.7 s beside the budget."""
    made = []
    monkeypatch.setattr(abi, "AbiType", lambda *a, **k: made.append(AbiType(*a, **k)) or made[-1])
    entries = [{"type": "function", "name": f"f{n}", "inputs": inputs} for n in range(2000)]
    assert abi_decoding.index_abi(entries).functions
    assert 0 < len(made) <= abi_decoding.MAX_TYPES


def test_a_budget_of_work_ends_decoding_and_is_known_to_have_ended():
    budget = abi_decoding.DecodingBudget(
        work=10 * (abi_decoding.ATTEMPT + 3), processor_s=60.0
    )  # three words each
    logs = [([TRANSFER, PARTY, PARTY], PARTY)] * 12
    results = [decode_log(topics, data, budget=budget) is not None for topics, data in logs]
    assert results == [True] * 10 + [False] * 2 and budget.is_exceeded
    call = keccak(text="transfer(address,uint256)")[:4] + PARTY * 2
    assert decode_call(call) is not None
    assert decode_call(call, budget=budget) is None
    assert (
        decode_log_by([TRANSFER], PARTY, ["Transfer(address,address,uint256)"], budget=budget)
        is None
    )


def test_a_budget_of_time_ends_decoding():
    budget = abi_decoding.DecodingBudget(processor_s=0.0)
    assert decode_log([TRANSFER, PARTY, PARTY], PARTY, budget=budget) is None and budget.is_exceeded
