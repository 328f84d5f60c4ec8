pragma solidity ^0.6.12;
contract P {
    address implementation;
    event Received(uint indexed value, address indexed sender, bytes data);
    constructor(address to) public { implementation = to; }
    fallback() external payable { address to = implementation; assembly {
            let at := mload(0x40)
            calldatacopy(at, 0, calldatasize())
            let done := delegatecall(gas(), to, at, calldatasize(), 0, 0)
            let size := returndatasize()
            returndatacopy(at, 0, size)
            switch done case 0 { revert(at, size) } default { return(at, size) }
        } }
    receive() external payable { emit Received(msg.value, msg.sender, ""); }
}
