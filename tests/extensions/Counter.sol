// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Counter {
    event Increased(address indexed by, uint256 count);
    uint256 public count;

    function increase() external {
        count += STEP;
        emit Increased(msg.sender, count);
    }
}
