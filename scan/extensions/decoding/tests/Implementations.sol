// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Older {
    event Did(address indexed who, uint256 amount);
    function act(uint256 amount) external { emit Did(msg.sender, amount); }
    function price() external pure returns (int256) { return -5; }
}

contract Newer {
    event Did(address who, uint256 indexed units);
    function act(uint256 units) external { emit Did(msg.sender, units); }
    function price() external pure returns (uint256) { return 5; }
}
