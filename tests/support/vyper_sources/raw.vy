# As deployed: raw calls, events and hashes.
event Sent:
    hash: bytes32

@external
@payable
def forward(to: address, data: Bytes[1000]) -> Bytes[100]:
    log Sent(keccak256(data))
    return raw_call(to, data, max_outsize=100, value=msg.value)

@external
@pure
def thousand() -> uint256:
    return 1000
