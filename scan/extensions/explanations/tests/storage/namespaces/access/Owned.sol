// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
abstract contract Owned {
    /// @custom:storage-location erc7201:example.storage.Owned
    struct OwnedStorage { address owner; uint64 since; bool isPaused; }
    bytes32 private constant LOCATION =
        keccak256(abi.encode(uint256(keccak256("example.storage.Owned")) - 1))
            & ~bytes32(uint256(0xff));
    function owned() internal pure returns (OwnedStorage storage $) {
        bytes32 location = LOCATION;
        assembly { $.slot := location }
    }
    function own(address who) external { owned().owner = who; owned().since = 7; }
}
abstract contract Unrelated {
    /// @custom:storage-location erc7201:example.storage.Unrelated
    struct Other { uint256 a; }
}
