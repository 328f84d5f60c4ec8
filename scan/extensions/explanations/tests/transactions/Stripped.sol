pragma solidity ^0.8.20;
contract Small {
    uint256 kept;
    function f(uint256 n) external {
        require(n != 0, "zero");
        kept = n;
        require(n != 1);
    }
}
