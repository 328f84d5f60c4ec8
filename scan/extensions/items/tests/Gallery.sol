// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Gallery {
    string public name = "Gallery";
    string public symbol = "ART";
    mapping(uint256 => string) uris;
    string common;
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    function hang(uint256 id, string calldata uri) external {
        uris[id] = uri;
        emit Transfer(address(0), address(this), id);
    }
    function fill(uint256 first, uint256 count, string calldata uri) external {
        common = uri;
        for (uint256 id = first; id < first + count; id++) {
            emit Transfer(address(0), address(this), id);
        }
    }
    function tokenURI(uint256 id) external view returns (string memory) {
        if (id == 666) { while (true) {} }
        if (id == 667) assembly { return(0, 1000000) }
        return bytes(uris[id]).length > 0 ? uris[id] : common;
    }
}
