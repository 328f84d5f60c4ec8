pragma solidity ^0.4.24;
contract P {
    address owner; address public implementation;
    constructor(address to) public { owner = 0xad; implementation = to; }
    function proxyType() public pure returns (uint256) { return 2; }
    function upgradeTo(address to) public { require(msg.sender == owner); implementation = to; }
    function () public payable {
        address to = implementation; require(to != address(0)); assembly {
            let at := mload(0x40)
            calldatacopy(at, 0, calldatasize)
            let done := delegatecall(gas, to, at, calldatasize, 0, 0)
            let size := returndatasize
            returndatacopy(at, 0, size)
            switch done case 0 { revert(at, size) } default { return(at, size) }
        }
    }
}
