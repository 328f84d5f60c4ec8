// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

contract First {
    event Paid(uint256 indexed amount, uint256 fee);
    error Refused(uint256 amount);
    function pay(uint256 amount, uint256 fee) external {
        if (amount * fee == 0) revert Refused(amount);
        emit Paid(amount, fee);
    }
    function price(uint256 amount) external pure returns (int256) {
        if (amount == 0) revert Refused(amount);
        return -5;
    }
    function end() external { selfdestruct(payable(msg.sender)); }
}
