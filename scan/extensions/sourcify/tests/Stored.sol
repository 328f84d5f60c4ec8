// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
/// @title A value that stays
contract Stored {
    /// @notice The value
    uint256 public constant x = 4711;
}
