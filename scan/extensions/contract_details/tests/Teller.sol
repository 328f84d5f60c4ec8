// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Cash {
    string public name = "Cash";
    string public symbol = "CASH";
    uint8 public decimals = 6;
    uint256 public totalSupply = 1000;
    event Transfer(address indexed from, address indexed to, uint256 value);
    constructor() { emit Transfer(address(0), msg.sender, 1000); }
    function balanceOf(address) external pure returns (uint256) { return 1000; }
}
contract Teller {
    address public immutable asset;
    constructor(address asset_) { asset = asset_; }
    function half(uint256 amount) external pure returns (uint256) { return amount / 2; }
    function pay(uint256 amount) external payable {}
}
