// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
library Former {
    /// @custom:storage-location erc7201:example.storage.Owned
    struct OwnedStorage { uint256 former; }
}
