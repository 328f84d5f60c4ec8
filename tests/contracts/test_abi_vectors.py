"""ethers' own published ABI test vectors, all of them, through our coercion and coding."""

import gzip
import json

import pytest

from scan.contracts.abi import decode, encode, parse_types, selector, signature
from scan.contracts.abi_json import coerce_all, render
from tests.support.solidity import NODE

pytestmark = pytest.mark.check


def vectors(name):
    folder = NODE / "node_modules/@ethersproject/testcases/testcases"
    return json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))


def entry(abi, name):
    [match] = [item for item in json.loads(abi) if item.get("name") == name]
    return dict(match)


def plain(value):
    """A vector's typed value as what a client would send: numbers stay decimal strings."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return plain(value["value"]) if isinstance(value["value"], list) else value["value"]


def untyped(value):
    """Without the names of members, which the vectors do not have, and without checksums."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [untyped(item) for item in value]
    return value.lower() if isinstance(value, str) and value.startswith("0x") else value


@pytest.mark.parametrize("name", ["contract-interface", "contract-interface-abi2"])
def test_values_encode_and_decode_as_ethers_does(name):
    for vector in vectors(name):
        types = parse_types(entry(vector["interface"], "test")["outputs"])
        given = plain(json.loads(vector.get("normalizedValues", vector["values"])))
        encoded = encode(types, coerce_all(types, given))
        assert "0x" + encoded.hex() == vector["result"], vector["name"]
        decoded = zip(types, decode(types, bytes.fromhex(vector["result"][2:])), strict=True)
        assert untyped([render(*pair) for pair in decoded]) == untyped(given), vector["name"]


def test_signatures_and_selectors_are_those_of_ethers():
    for vector in vectors("contract-signatures"):
        text = signature("testSig", parse_types(entry(vector["abi"], "testSig")["inputs"]))
        assert text == vector["signature"]
        assert "0x" + selector(text).hex() == vector["sigHash"]
