"""A contract with something of everything, and proxies of it."""

from tests.support.explorer import compiled, standard_input

VERSION = "0.8.28"
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

MANY = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Many {
    struct Pair { uint256 left; address right; }
    struct Deep { string name; Pair[] pairs; }
    error Poor(uint256 asked, uint256 left);
    uint256 public stored = 2**256 - 1;
    mapping(address => mapping(uint256 => bool)) public flags;
    bytes public blob = hex"00ff";
    function nothing() external pure {}
    function echo(int8 a, bytes4 b, bool c, string calldata d) external pure
        returns (int8, bytes4, bool, string memory) { return (a, b, c, d); }
    function deep(Deep calldata d) external pure returns (Deep memory) { return d; }
    function list(uint256[] calldata a) external pure returns (uint256[] memory) { return a; }
    function over(uint256 a) external pure returns (string memory) { return "number"; }
    function over(address a) external pure returns (string memory) { return "address"; }
    function require_(uint256 a) external pure { require(a > 5, "too small"); }
    function divide(uint256 a) external pure returns (uint256) { return 1 / a; }
    function poor() external pure { revert Poor(5, 3); }
    function silent() external pure { revert(); }
    function limit() external pure { revert("rate limit exceeded"); }
    function burn() external pure { while (true) {} }
    function broken() external pure returns (string memory) {
        assembly { mstore(0, 32) mstore(32, 2) mstore(64, shl(240, 0x41ff)) return(0, 96) }
    }
    function short() external pure returns (string memory) { assembly { return(0, 31) } }
    function bomb() external pure returns (uint256[][][][][][][] memory) {
        assembly {
            mstore(0, 32)
            let at := 32
            for { let depth := 0 } lt(depth, 7) { depth := add(depth, 1) } {
                mstore(at, 9)
                for { let n := 1 } lt(n, 10) { n := add(n, 1) } { mstore(add(at, mul(n, 32)), 288) }
                at := add(at, 320)
            }
            return(0, at)
        }
    }
    function huge() external pure returns (bytes memory) {
        assembly { mstore(0, 32) mstore(32, 1200000) return(0, 1200064) }
    }
    function write() external { stored = 1; }
}
"""
PROXY = """pragma solidity ^0.8.20;
contract Proxy {
    constructor(address to, bytes32 slot) { assembly { sstore(slot, to) } }
    function admin() external pure returns (string memory) { return "own"; }
    fallback() external payable {
        bytes32 slot = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if done { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
contract Beacon { address public implementation; constructor(address to) { implementation = to; } }
"""
SLOT = "360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"


def deploy(explorer, source, name, arguments=""):
    found = compiled(VERSION, standard_input({f"{name}.sol": source}), f"{name}.sol", name)
    return explorer.deploy(found.creation, arguments)


def verified(explorer, source, name, arguments=""):
    address = deploy(explorer, source, name, arguments)
    answer = explorer.verify(address, source, VERSION, contractName=name, optimizationUsed=0)
    assert answer.status_code == 200, answer.json
    return address
