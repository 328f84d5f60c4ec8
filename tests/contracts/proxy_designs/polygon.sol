pragma solidity ^0.6.12;
contract P {
    bytes32 constant IMPLEMENTATION_SLOT = keccak256("matic.network.proxy.implementation");
    bytes32 constant OWNER_SLOT = keccak256("matic.network.proxy.owner");
    constructor(address to) public {
        bytes32 at = IMPLEMENTATION_SLOT; bytes32 owned = OWNER_SLOT;
        assembly { sstore(at, to) sstore(owned, 0xad) }
    }
    fallback() external payable { delegatedFwd(loadImplementation(), msg.data); }
    receive() external payable { delegatedFwd(loadImplementation(), msg.data); }
    function loadImplementation() internal view returns (address a) {
        bytes32 at = IMPLEMENTATION_SLOT; assembly { a := sload(at) }
    }
    function updateImplementation(address to) external {
        bytes32 owned = OWNER_SLOT; address owner; assembly { owner := sload(owned) }
        require(msg.sender == owner); bytes32 at = IMPLEMENTATION_SLOT; assembly { sstore(at, to) }
    }
    function delegatedFwd(address _dst, bytes memory _calldata) internal {
        assembly {
            let result := delegatecall(sub(gas(), 10000), _dst, add(_calldata, 0x20), mload(_calldata), 0, 0)
            let size := returndatasize()
            let ptr := mload(0x40)
            returndatacopy(ptr, 0, size)
            switch result case 0 { revert(ptr, size) } default { return(ptr, size) }
        }
    }
}
