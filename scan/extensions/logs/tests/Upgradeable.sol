pragma solidity ^0.8.20;
contract Upgradeable {
    event Upgraded(address indexed implementation);
    constructor(address to) { upgradeTo(to); }
    function upgradeTo(address to) public {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, to) }
        emit Upgraded(to);
    }
    function target(bytes4) internal view returns (address to) {
        assembly { to := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc) }
    }
    fallback() external payable {
        address to = target(msg.sig);
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if done { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
