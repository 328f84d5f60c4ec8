// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
library Lib { function f(uint256 a) external pure returns (uint256) { return a + 1; } }
contract Child { uint256 public c = 1; }
contract Whole {
    event Happened(uint256 indexed a);
    error Wrong(uint256 a);
    uint256 public immutable first;
    address public immutable second;
    constructor(uint256 a) { first = a; second = msg.sender; }
    function g(uint256 a) external view returns (uint256) { return Lib.f(a) + first; }
}
contract Maker {
    Child public made;
    constructor() { made = new Child(); }
    function make() external { made = new Child(); }
}
