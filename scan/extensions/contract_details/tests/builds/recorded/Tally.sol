// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Tally {
    uint256 public immutable step;
    uint256 public count;
    event Counted(uint256 count);
    constructor(uint256 by) { step = by; }
    function increase() external { count += step; emit Counted(count); }
}
