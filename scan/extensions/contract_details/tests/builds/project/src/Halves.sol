// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
library Halves {
    function half(uint256 whole) external pure returns (uint256) { return whole / 2; }
}
