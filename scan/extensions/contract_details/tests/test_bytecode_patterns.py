"""Patterns in bytecode, compared within bounds."""

import json

import pytest

from scan.extensions.contract_details import bytecode

pytestmark = pytest.mark.check


def test_patterns_are_compared_within_a_bound_and_alike_ones_once(monkeypatch):
    """A hundred patterns of verified code of one length, each with hundreds of immutables."""
    code = bytes(range(256)) * 96
    compared = []

    def compare(code, variable):
        compared.append(variable)
        return b"\x01"

    class Reader:
        patterns = ()

        def row(self, *_, **__):
            return [json.dumps(self.patterns)]

    monkeypatch.setattr(bytecode, "masked_hash", compare)
    reader = Reader()
    last = {"address": "0x02", "maskedHash": "0x01", "variable": "[]"}
    alike = {"address": "0x01", "maskedHash": "0x00", "variable": "[]"}
    reader.patterns = [alike] * 99 + [last]
    assert (bytecode.similar_to(reader, code), compared) == (b"\x02", ["[]"])
    compared.clear()
    large = [{**alike, "variable": f"[{n}]" + " " * 10_000} for n in range(98)]
    reader.patterns = [alike, *large, last]
    assert bytecode.similar_to(reader, code) == b"\x02"
    assert sum(map(len, compared)) <= bytecode.MAX_PATTERN_BYTES
