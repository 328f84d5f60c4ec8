# As deployed: values that follow the runtime code.
OWNER: immutable(address)
START: immutable(uint256)
MARK: immutable(bytes32)
NAME: immutable(String[40])

@deploy
def __init__(start: uint256, name: String[40]):
    OWNER = msg.sender
    START = start * 2
    MARK = keccak256(name)
    NAME = name

@external
@view
def owner() -> address:
    return OWNER

@external
@view
def name() -> String[40]:
    return NAME

@external
@view
def start() -> uint256:
    return START + 1000

@external
@view
def mark() -> bytes32:
    return MARK
