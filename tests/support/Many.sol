// SPDX-License-Identifier: MIT
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
