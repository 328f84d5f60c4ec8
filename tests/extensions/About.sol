// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract About {
    string public text;
    constructor(string memory words, uint256[] memory numbers) { text = words; numbers; }
}
