// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Facet { uint256 value; uint256[2] more; }
contract Diamond {
    uint256 private value;
    address[] private facets;
    mapping(bytes4 => address) private ofFunctions;
    function set(address[] calldata given) external { facets = given; }
    function facetAddresses() external view returns (address[] memory) { return facets; }
    function write() external { value += 1; }
    fallback() external { ofFunctions[msg.sig].delegatecall(msg.data); }
}
