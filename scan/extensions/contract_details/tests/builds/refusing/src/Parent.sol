// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
abstract contract Parent {
    constructor(uint256 n) {
        require(n != 2, "it is two");
    }
}
