pragma solidity ^0.8.20;
contract Proxy {
    constructor(address to, bytes32 slot) { assembly { sstore(slot, to) } }
    function admin() external pure returns (string memory) { return "own"; }
    fallback() external payable {
        bytes32 slot = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if done { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
contract Beacon { address public implementation; constructor(address to) { implementation = to; } }
