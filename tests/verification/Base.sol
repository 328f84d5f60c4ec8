// SPDX-License-Identifier: MIT
pragma solidity >=0.6.0;
contract Base {
    uint256 public kept;
}
