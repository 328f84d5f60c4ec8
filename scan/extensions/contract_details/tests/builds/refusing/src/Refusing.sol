// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "./Parent.sol";
contract Refusing is Parent {
    uint256 public immutable kept;
    constructor(uint256 n) Parent(n) {
        require(n > 1, "it is too small");
        kept = n;
    }
}
