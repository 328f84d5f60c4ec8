pragma solidity ^0.8.20;
interface IBeacon { function implementation() external view returns (address); }
contract Proxy {
    constructor(bytes32 slot, address target) payable { assembly { sstore(slot, target) } }
    fallback() external payable {
        address target;
        assembly { target := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc) }
        if (target == address(0)) {
            assembly { target := sload(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50) }
            target = IBeacon(target).implementation();
        }
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
contract First {
    uint256 public first;
    function upgrade(address target) external {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, target) }
    }
}
contract Second {
    uint256 public second;
    event Put(uint256 amount);
    error TooMuch(uint256 amount);
    function put(uint256 amount) external returns (uint256 before) {
        if (amount > 100) revert TooMuch(amount);
        emit Put(amount);
        before = second;
        second = amount;
    }
}
contract Beacon {
    address public implementation;
    constructor(address target) { implementation = target; }
    function change(address target) external { implementation = target; }
}
