// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Vault {
    error Closed(uint256 wanted);

    uint256 public immutable opened;
    address public immutable owner;

    constructor(uint256 first) {
        opened = first;
        owner = msg.sender;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    function take(uint256 wanted) external onlyOwner returns (uint256) {
        if (wanted > opened) revert Closed(wanted);
        return opened - wanted;
    }
}
