"""Well-known designs of proxies, as their compilers made them: each has its implementation, also
beside a slot of EIP-1967 that its code does not read."""

import pytest

from scan.contracts.known_proxies import BEACON_SLOT, IMPLEMENTATION_SLOT
from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import VERSION
from tests.support.proxies import FALLBACK, SLOTS, expect, word

pytestmark = pytest.mark.thorough

FORWARD = """assembly {
            let at := mload(0x40)
            calldatacopy(at, 0, calldatasize)
            let done := delegatecall(gas, to, at, calldatasize, 0, 0)
            let size := returndatasize
            returndatacopy(at, 0, size)
            switch done case 0 { revert(at, size) } default { return(at, size) }
        }"""
FORWARD_NOW = FORWARD.replace("calldatasize", "calldatasize()").replace("returndatasize", "returndatasize()").replace("(gas,", "(gas(),")  # fmt: skip # noqa: E501
SLOT = IMPLEMENTATION_SLOT
TRANSPARENT = f"""pragma solidity >=0.5.0;
contract P {{
    constructor(address to) public payable {{
        assembly {{ sstore({SLOT}, to) sstore(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103, 0xad) }}
    }}
    modifier ifAdmin() {{ if (msg.sender == _admin()) {{ _; }} else {{ _fallback(); }} }}
    function admin() external payable ifAdmin returns (address) {{ return _admin(); }}
    function implementation() external payable ifAdmin returns (address) {{ return _to(); }}
    function upgradeTo(address to) external payable ifAdmin {{ assembly {{ sstore({SLOT}, to) }} }}
    function upgradeToAndCall(address to, bytes calldata data) external payable ifAdmin {{
        assembly {{ sstore({SLOT}, to) }}
        (bool done,) = to.delegatecall(data);
        require(done);
    }}
    function _admin() internal view returns (address a) {{
        assembly {{ a := sload(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103) }}
    }}
    function _to() internal view returns (address a) {{ assembly {{ a := sload({SLOT}) }} }}
    function _fallback() internal {{
        require(msg.sender != _admin(), "Cannot call fallback function from the proxy admin");
        address to = _to();
        FORWARD
    }}
    FALLBACK {{ _fallback(); }}
}}"""  # noqa: E501
OWNED = f"""pragma solidity ^0.4.24;
contract P {{
    address owner; address public implementation;
    constructor(address to) public {{ owner = 0xad; implementation = to; }}
    function proxyType() public pure returns (uint256) {{ return 2; }}
    function upgradeTo(address to) public {{ require(msg.sender == owner); implementation = to; }}
    function () public payable {{
        address to = implementation; require(to != address(0)); {FORWARD}
    }}
}}"""
ZEPPELINOS = f"""pragma solidity ^0.4.24;
library AddressUtils {{
    function isContract(address a) internal view returns (bool) {{
        uint256 size; assembly {{ size := extcodesize(a) }} return size > 0;
    }}
}}
contract P {{
    constructor(address to) public {{ set(to); }}
    function set(address to) internal {{
        require(AddressUtils.isContract(to), "Cannot set a proxy implementation to a non-contract");
        assembly {{ sstore({SLOTS["openzeppelin"]}, to) }}
    }}
    modifier ifAdmin() {{ if (msg.sender == address(0xad)) {{ _; }} else {{ _fallback(); }} }}
    function admin() external view returns (address) {{ return 0xad; }}
    function upgradeTo(address to) external ifAdmin {{ set(to); }}
    function upgradeToAndCall(address to, bytes data) external payable ifAdmin {{
        set(to); require(address(this).call.value(msg.value)(data));
    }}
    function _fallback() internal {{
        require(msg.sender != address(0xad)); address to;
        assembly {{ to := sload({SLOTS["openzeppelin"]}) }} {FORWARD}
    }}
    function () external payable {{ _fallback(); }}
}}"""
# Aragon's proxy of an application: its kernel, a proxy too, says the application's code.
ARAGON = """pragma solidity ^0.4.24;
contract IsContract {
    function isContract(address a) internal view returns (bool) {
        if (a == address(0)) { return false; }
        uint256 size; assembly { size := extcodesize(a) } return size > 0;
    }
}
contract Delegate is IsContract {
    uint256 internal constant FWD_GAS_LIMIT = 10000;
    function delegatedFwd(address _dst, bytes memory _calldata) internal {
        require(isContract(_dst));
        uint256 fwdGasLimit = FWD_GAS_LIMIT;
        assembly {
            let result := delegatecall(sub(gas, fwdGasLimit), _dst, add(_calldata, 0x20), mload(_calldata), 0, 0)
            let size := returndatasize
            let ptr := mload(0x40)
            returndatacopy(ptr, 0, size)
            switch result case 0 { revert(ptr, size) } default { return(ptr, size) }
        }
    }
}
contract Kernel {
    mapping (bytes32 => mapping (bytes32 => address)) public apps;
    address unused;
    function setApp(bytes32 space, bytes32 id, address to) public { apps[space][id] = to; }
    function getApp(bytes32 space, bytes32 id) public view returns (address) { return apps[space][id]; }
}
contract KernelProxy is Delegate {
    mapping (bytes32 => mapping (bytes32 => address)) public apps;
    address to;
    constructor(address to_) public { to = to_; }
    function () external payable { delegatedFwd(to, msg.data); }
}
contract P is Delegate {
    Kernel kernel; bytes32 id = keccak256("vault");
    event ProxyDeposit(address sender, uint256 value);
    constructor(address to, address kernel_) public {
        kernel = Kernel(kernel_); kernel.setApp(keccak256("base"), id, to);
    }
    function () external payable {
        if (gasleft() < FWD_GAS_LIMIT) {
            require(msg.value > 0 && msg.data.length == 0);
            emit ProxyDeposit(msg.sender, msg.value);
        } else {
            delegatedFwd(kernel.getApp(keccak256("base"), id), msg.data);
        }
    }
}"""  # noqa: E501
DELEGATOR = """pragma solidity ^0.5.16;
contract P {
    address admin; address public implementation;
    constructor(address to) public { admin = address(0xad); implementation = to; }
    function _setImplementation(address to) public { require(msg.sender == admin); implementation = to; }
    function mint(uint256 amount) external returns (uint256) {
        bytes memory data = delegateToImplementation(abi.encodeWithSignature("mint(uint256)", amount));
        return abi.decode(data, (uint256));
    }
    function delegateTo(address callee, bytes memory data) internal returns (bytes memory) {
        (bool success, bytes memory returnData) = callee.delegatecall(data);
        assembly { if eq(success, 0) { revert(add(returnData, 0x20), returndatasize) } }
        return returnData;
    }
    function delegateToImplementation(bytes memory data) public returns (bytes memory) {
        return delegateTo(implementation, data);
    }
    function () external payable {
        require(msg.value == 0, "cannot send value to fallback");
        (bool success, ) = implementation.delegatecall(msg.data);
        assembly {
            let free_mem_ptr := mload(0x40)
            returndatacopy(free_mem_ptr, 0, returndatasize)
            switch success case 0 { revert(free_mem_ptr, returndatasize) } default { return(free_mem_ptr, returndatasize) }
        }
    }
}"""  # noqa: E501
DHARMA = """pragma solidity ^0.5.16;
contract UpgradeBeacon {
    address private implementation;
    constructor(address to) public { implementation = to; }
    function () external {
        if (msg.sender != address(0xad)) {
            assembly { mstore(0, sload(0)) return(0, 32) }
        } else { assembly { sstore(0, calldataload(0)) } }
    }
}
contract P {
    address internal beacon;
    constructor(address to, address beacon_) public { beacon = beacon_; }
    function () external payable { _delegate(_implementation()); }
    function _implementation() private view returns (address implementation) {
        (bool ok, bytes memory returnData) = beacon.staticcall("");
        require(ok, string(returnData));
        implementation = abi.decode(returnData, (address));
    }
    function _delegate(address to) private { FORWARD }
}""".replace("FORWARD", FORWARD)
ARGENT = f"""pragma solidity ^0.6.12;
contract P {{
    address implementation;
    event Received(uint indexed value, address indexed sender, bytes data);
    constructor(address to) public {{ implementation = to; }}
    fallback() external payable {{ address to = implementation; {FORWARD_NOW} }}
    receive() external payable {{ emit Received(msg.value, msg.sender, ""); }}
}}"""
RETURNING = """pragma solidity ^0.8.20;
contract P {
    address immutable implementation; bool paused; address self = address(this);
    constructor(address to) { implementation = to; }
    fallback(bytes calldata input) external payable returns (bytes memory) {
        require(!paused && self == address(this) && gasleft() > 5000 && block.timestamp > 1000);
        (bool done, bytes memory data) = implementation.delegatecall(input);
        if (!done) { assembly { revert(add(data, 32), mload(data)) } }
        return data;
    }
}"""
POLYGON = """pragma solidity ^0.6.12;
contract P {
    bytes32 constant IMPLEMENTATION_SLOT = keccak256("matic.network.proxy.implementation");
    bytes32 constant OWNER_SLOT = keccak256("matic.network.proxy.owner");
    constructor(address to) public {
        bytes32 at = IMPLEMENTATION_SLOT; bytes32 owned = OWNER_SLOT;
        assembly { sstore(at, to) sstore(owned, 0xad) }
    }
    fallback() external payable { delegatedFwd(loadImplementation(), msg.data); }
    receive() external payable { delegatedFwd(loadImplementation(), msg.data); }
    function loadImplementation() internal view returns (address a) {
        bytes32 at = IMPLEMENTATION_SLOT; assembly { a := sload(at) }
    }
    function updateImplementation(address to) external {
        bytes32 owned = OWNER_SLOT; address owner; assembly { owner := sload(owned) }
        require(msg.sender == owner); bytes32 at = IMPLEMENTATION_SLOT; assembly { sstore(at, to) }
    }
    function delegatedFwd(address _dst, bytes memory _calldata) internal {
        assembly {
            let result := delegatecall(sub(gas(), 10000), _dst, add(_calldata, 0x20), mload(_calldata), 0, 0)
            let size := returndatasize()
            let ptr := mload(0x40)
            returndatacopy(ptr, 0, size)
            switch result case 0 { revert(ptr, size) } default { return(ptr, size) }
        }
    }
}"""  # noqa: E501


def transparent(
    fallback="receive() external payable { _fallback(); } fallback() external payable",
    forward=FORWARD_NOW,
):
    return TRANSPARENT.replace("FALLBACK", fallback).replace("FORWARD", forward)


# Name: kind, compiler, source, contracts to deploy in their order; each gets the address of the
# implementation, and that of the one before.
DESIGNS = {
    "transparent, 0.8": ("eip1967", "0.8.28", transparent(), "P"),
    "transparent, 0.6": ("eip1967", "0.6.12", transparent(), "P"),
    "transparent, 0.5": (
        *("eip1967", "0.5.16", transparent("function () external payable", FORWARD), "P"),
    ),
    "EIP-897": ("eip897", "0.4.24", OWNED, "P"),
    "ZeppelinOS": ("openzeppelin", "0.4.24", ZEPPELINOS, "P"),
    "Aragon, a kernel": ("other", "0.4.24", ARAGON, "Kernel P"),
    "Aragon, a kernel's proxy": ("other", "0.4.24", ARAGON, "Kernel KernelProxy P"),
    "a delegator": ("other", "0.5.16", DELEGATOR, "P"),
    "a beacon without functions": ("other", "0.5.16", DHARMA, "UpgradeBeacon P"),
    "a wallet": ("other", "0.6.12", ARGENT, "P"),
    "returned by the compiler": ("other", "0.8.28", RETURNING, "P"),
    "forwarded from memory": ("other", "0.6.12", POLYGON, "P"),
}


@pytest.mark.parametrize("is_optimized", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("name", DESIGNS)
def test_designs(explorer, many, name, is_optimized):
    kind, version, source, contracts = DESIGNS[name]
    standard = standard_input({"P.sol": source}, optimizer={"enabled": is_optimized, "runs": 200})
    proxy = many
    for contract in contracts.split():
        creation = compiled(version, standard, "P.sol", contract).creation
        first = proxy if contract == "KernelProxy" else many
        proxy = explorer.deploy(creation, word(first)[2:] + word(proxy)[2:])
    expect(explorer, proxy, kind, many, "trace")


# What compilers make of a proxy, by the kind that it is of. Each gets two addresses, of which it
# passes calls on to the first, or to what that names; it does not read the slot of the second.
COMPILED = {
    "immutable": ("address immutable to;", "to = to_;", "return to;"),
    "beacon": ("Beacon immutable of_;", "of_ = Beacon(to_);", "return of_.implementation();"),
    "eip1967": (
        "address to;",
        f"assembly {{ sstore({BEACON_SLOT}, to_) }}",
        f"assembly {{ at := sload({BEACON_SLOT}) }} return Beacon(at).implementation();",
    ),
    "eip897": (
        "address public implementation;"
        "function proxyType() public pure returns (uint256) { return 2; }",
        "implementation = to_;",
        "return implementation;",
    ),
    "openzeppelin": (
        "",
        f"assembly {{ sstore({SLOTS['openzeppelin']}, to_) }}",
        f"assembly {{ at := sload({SLOTS['openzeppelin']}) }}",
    ),
    "other": (
        "bool paused; address to; address admin;",
        "to = to_; admin = address(0xad);",
        "require(!paused && msg.sender != admin); return to;",
    ),
    "other by itself": (
        "address to; function implementation() external view returns (address) { return to; }",
        "to = to_;",
        "return Beacon(address(this)).implementation();",
    ),
    "other by a registry": (
        "Registry of_;",
        "of_ = Registry(to_);",
        'return of_.app(keccak256("base"));',
    ),
}
# By the kind: the contract whose address a proxy gets, which names the implementation.
NAMED_BY = {"beacon": ["Beacon"], "eip1967": ["Beacon"], "other by a registry": ["Registry"]}
COMPILED_SOURCE = """pragma solidity ^0.8.20;
contract Beacon { address public implementation; constructor(address to) { implementation = to; } }
contract Registry is Beacon {
    constructor(address to) Beacon(to) {}
    function app(bytes32) external view returns (address) { return implementation; }
}
""" + "".join(
    f"""contract P{number} {{
        {fields}
        constructor(address to_, address unread) {{
            assembly {{ sstore({IMPLEMENTATION_SLOT}, unread) }}
            {setting}
        }}
        function target(bytes4) internal view returns (address at) {{ {reading} }}
        {FALLBACK}
    }}
    """
    for number, (fields, setting, reading) in enumerate(COMPILED.values())
)


def test_proxies_of_vyper(explorer, many, vyper):
    """In Vyper's own form, with the implementation in storage and in the code's data."""
    source = """
to: public(address)
@deploy
def __init__(to: address):
    self.to = to
@external
@payable
def __default__() -> Bytes[255]:
    return raw_call(self.to, msg.data, max_outsize=255, is_delegate_call=True)
"""
    in_code = source.replace("public(address)", "public(immutable(address))")
    # With so many functions, their places are in a table.
    many_functions = "".join(
        f"@external\ndef f{n}() -> uint256:\n    return {n}\n" for n in range(12)
    )
    for text in (source, in_code.replace("self.to", "to"), source + many_functions):
        text = text.replace("(to: address)", "(to_: address)").replace("= to\n", "= to_\n")
        proxy = explorer.deploy(vyper.creation_of("0.4.3", text), word(many)[2:])
        explorer.send(proxy, calldata("over(uint256)", 5))
        page = explorer.client.get(f"/address/{proxy}?tab=contract&view=read").text
        assert "is a proxy:" in page and f"/address/{many}" in page and "over(" in page


WARNING = "It says that its implementation is {}, and passed calls on to another one."


def proxy_contract(name):
    return f"P{[*COMPILED].index(name)}"


def deployed(explorer, contract, *addresses):
    code = compiled(VERSION, standard_input({"P.sol": COMPILED_SOURCE}), "P.sol", contract)
    return explorer.deploy(code.creation, "".join(word(address)[2:] for address in addresses))


@pytest.mark.parametrize("name", COMPILED)
def test_a_slot_that_the_code_does_not_read_is_not_believed(explorer, many, name):
    """A call decides, in the record and on the page, which warn of it; before, it is a claim, and
    not even one where the code does not have the slot's name."""
    unread, target, contract = explorer.place("6001600c"), many, proxy_contract(name)
    for named in NAMED_BY.get(name, ()):
        target = deployed(explorer, named, target)
    proxy = deployed(explorer, contract, target, unread)
    answer = explorer.verify(proxy, COMPILED_SOURCE, VERSION, contractName=contract)
    assert answer.status_code == 200, answer.json
    stated = explorer.contract(proxy).json["proxy"]
    assert stated is None or stated["evidence"] == "claim"
    explorer.send(proxy, calldata("over(uint256)", 5))
    record = explorer.contract(proxy).json["proxy"]
    assert (record["implementation"], record["evidence"]) == (many, "trace")
    page = explorer.client.get(f"/address/{proxy}?tab=contract").text
    is_named = stated is not None and stated["implementation"] == unread
    assert (record.get("warning") == WARNING.format(unread)) is is_named
    assert (WARNING.format(unread) in page) is is_named
    shown = explorer.client.get(f"/api/v2/smart-contracts/{proxy}").json["implementations"]
    assert [row["address_hash"].lower() for row in shown] == [many]
