// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "./console.sol";
library Rates {
    function rate(uint256 x) internal pure returns (uint256) {
        console.log("rate of %d", x);
        return x;
    }
}
contract Vault {
    constructor() { console.log("made by", msg.sender); }
    function take(uint256 x) external pure {
        console.log("taking", Rates.rate(x), true);
        require(x < 5, "too much");
    }
}
