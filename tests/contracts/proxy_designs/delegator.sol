pragma solidity ^0.5.16;
contract P {
    address admin; address public implementation;
    constructor(address to) public { admin = address(0xad); implementation = to; }
    function _setImplementation(address to) public { require(msg.sender == admin); implementation = to; }
    function mint(uint256 amount) external returns (uint256) {
        bytes memory data = delegateToImplementation(abi.encodeWithSignature("mint(uint256)", amount));
        return abi.decode(data, (uint256));
    }
    function delegateTo(address callee, bytes memory data) internal returns (bytes memory) {
        (bool success, bytes memory returnData) = callee.delegatecall(data);
        assembly { if eq(success, 0) { revert(add(returnData, 0x20), returndatasize) } }
        return returnData;
    }
    function delegateToImplementation(bytes memory data) public returns (bytes memory) {
        return delegateTo(implementation, data);
    }
    function () external payable {
        require(msg.value == 0, "cannot send value to fallback");
        (bool success, ) = implementation.delegatecall(msg.data);
        assembly {
            let free_mem_ptr := mload(0x40)
            returndatacopy(free_mem_ptr, 0, returndatasize)
            switch success case 0 { revert(free_mem_ptr, returndatasize) } default { return(free_mem_ptr, returndatasize) }
        }
    }
}
