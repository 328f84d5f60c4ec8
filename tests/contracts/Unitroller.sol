pragma solidity ^0.8.20;
contract Unitroller {
    address public admin = msg.sender;
    address public comptrollerImplementation;
    constructor(address to) { comptrollerImplementation = to; }
    function target(bytes4) internal view returns (address) { return comptrollerImplementation; }
    FALLBACK
}
