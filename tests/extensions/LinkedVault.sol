// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
library Rates {
    function rate(uint256 x) external pure returns (uint256) { return x * 2; }
}
contract Vault {
    uint256 public limit;
    constructor(uint256 l) { limit = l; }
    function take(uint256 x) external view returns (uint256) {
        require(x < limit, "too much");
        return Rates.rate(x);
    }
    function setLimit(uint256 l) external { limit = l; }
}
