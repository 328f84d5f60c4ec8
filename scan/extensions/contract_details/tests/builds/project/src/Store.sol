// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "./Halves.sol";
contract Store {
    uint256 public immutable start;
    uint256 public kept;
    event Kept(uint256 indexed before, uint256 amount);
    error TooLarge(uint256 given);
    constructor(uint256 first) { start = first; }
    function keep(uint256 amount) external {
        if (amount > 100) revert TooLarge(amount);
        emit Kept(kept, amount);
        kept = Halves.half(amount);
    }
}
contract Factory {
    Store public last;
    function make(uint256 first) external { last = new Store{salt: 0}(first); }
}
