
pragma solidity ^0.8.20;

contract Proxy {
    constructor(address to) {
        assembly {
            sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, to)
        }
    }
    fallback() external payable {
        assembly {
            let to := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc)
            calldatacopy(0, 0, calldatasize())
            let result := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if result { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
