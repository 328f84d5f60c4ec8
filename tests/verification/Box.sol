// SPDX-License-Identifier: MIT
pragma solidity >=0.4.22;

/// Holds a number that only grows.
contract Box {
    uint256 public number;
    address public owner;

    constructor(uint256 first) public {
        number = first;
        owner = msg.sender;
    }

    function add(uint256 more) public returns (uint256) {
        for (uint256 i = 0; i < more; i++) number += 1234567890123456789;
        return number;
    }
}
