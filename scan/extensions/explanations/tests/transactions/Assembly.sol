pragma solidity ^0.8.20;
contract Small {
    error Bad();
    function f(uint256 n) external pure {
        assembly { if iszero(n) { mstore(0, 0xe143a034) revert(28, 4) } }
        if (n == 1) revert Bad();
    }
    function g(uint256 n) external pure {
        assembly {
            if iszero(n) { mstore(0, 0xe143a034) revert(28, 4) } // g0
        }
    }
}
