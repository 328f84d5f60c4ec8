// SPDX-License-Identifier: MIT
pragma solidity >=0.6.0;
import "./Base.sol";
/// Keeps a name.
contract Kept is Base {
    string public name;
    constructor(string memory first) { name = first; }
}
