"""The search for a metadata file with the deployed hash."""

import pytest

from scan.verification import bytecode_comparison, metadata_request
from scan.verification.bytecode_metadata import bzzr0, bzzr1, ipfs, read_metadata

pytestmark = pytest.mark.check


def test_variants_of_metadata_are_tried_until_the_hash_is_right():
    """Path, runs and EVM version at once; a hit cannot be a coincidence."""
    text = (
        '{"settings":{"compilationTarget":{"contract.sol":"A"},"evmVersion":"cancun",'
        '"optimizer":{"enabled":true,"runs":200},"remappings":[]},'
        '"sources":{"contract.sol":{"keccak256":"0x00"}}}'
    )
    true = text.replace("contract.sol", "src/A.sol").replace('"runs":200', '"runs":1000000')
    cbor = b"\xa1dipfsX\x22" + ipfs(true.encode())
    tail = read_metadata(b"\0" + cbor + len(cbor).to_bytes(2, "big"))
    assert metadata_request.find_variant(tail, text, "contract.sol", ["A"]) == true
    assert metadata_request.find_variant(tail, text, "contract.sol", []) is None
    assert metadata_request.find_variant(None, text, "contract.sol", []) is None
    assert not bytecode_comparison.uses_push0(cbor)


def test_file_hashes_are_the_published_ones():
    """IPFS: `ipfs add` of "hello world\\n" is QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o."""
    expected = "122046d44814b9c5af141c3aaab7c05dc5e844ead5f91f12858b021eba45768b4c0e"
    assert ipfs(b"hello world\n").hex() == expected
    assert ipfs(bytes(300 * 1024)) == b""
    assert len(bzzr0(bytes(10_000))) == len(bzzr1(bytes(10_000))) == 32
