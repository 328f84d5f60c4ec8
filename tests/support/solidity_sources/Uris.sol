// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An honest collection whose tokenURI returns any bytes at all, or fails in one of three ways.
contract Talkative is ERC721 {
    bytes public answered;
    uint256 public failing;

    constructor() ERC721("Talkative", "TALK") {}

    function mint(address to, uint256 tokenId) external {
        _mint(to, tokenId);
    }

    function answer(bytes calldata raw) external {
        answered = raw;
    }

    function fail(uint256 mode) external {
        failing = mode;
    }

    function tokenURI(uint256) public view override returns (string memory) {
        if (failing == 1) revert("no URI today");
        if (failing == 2) {
            while (true) {}
        }
        if (failing == 3) {
            assembly {
                return(0, 1000000)
            }
        }
        bytes memory raw = answered;
        assembly {
            return(add(raw, 32), mload(raw))
        }
    }
}
