// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Twin {
    address public immutable owner;
    uint256 public immutable limit;
    constructor(address owner_, uint256 limit_) { owner = owner_; limit = limit_; }
    function twice() external view returns (uint256) { return limit + limit; }
}
contract Factory {
    event Made(Twin twin);
    function make(uint256 limit) external { emit Made(new Twin(msg.sender, limit)); }
}
