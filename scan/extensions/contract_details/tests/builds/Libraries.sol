pragma solidity ^0.4.11;
library One { function one(uint256 x) public pure returns (uint256) { return x + 1; } }
library Two { function two(uint256 x) public pure returns (uint256) { return x + 2; } }
contract Both {
    function both(uint256 x) public pure returns (uint256) { return Two.two(One.one(Two.two(x))); }
}
