pragma solidity ^0.8.20;
contract Small {
    bool public paused;
    error Zero();
    error One(uint256 n);
    modifier live() { require(!paused, "paused"); _; }
    function f(uint256 n) external live {
        require(n != 0, "zero"); // f0
        require(n != 1, "one"); // f1
        paused = n == 5;
    }
    function g(uint256 n) external live {
        if (n == 0) revert Zero(); // g0
        if (n == 1) revert One(n); // g1
        paused = n == 6;
    }
}
