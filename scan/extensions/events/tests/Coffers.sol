// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Versions of a contract behind a proxy: the second tells of a fee, too, the third has other names.
contract Replaceable {
    function replace(address target) external { // without an event
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, target) }
    }
}

contract First is Replaceable {
    event Deposited(address indexed owner, uint256 amount);
    event Upgraded(address indexed implementation);

    function deposit(uint256 amount) external {
        emit Deposited(msg.sender, amount);
    }

    function upgrade(address target) external {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, target) }
        emit Upgraded(target);
    }
}

contract Second is Replaceable {
    event Deposited(address indexed owner, uint256 amount, uint256 fee);
    event Upgraded(address indexed implementation);

    function deposit(uint256 amount) external {
        emit Deposited(msg.sender, amount, amount / 10);
    }
}

contract Third is Replaceable {
    event Deposited(address indexed amount, uint256 owner);

    function deposit(uint256 amount) external {
        emit Deposited(msg.sender, amount);
    }
}

contract Coffer {
    constructor(address target) {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, target) }
    }

    fallback() external payable {
        assembly {
            let target := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc)
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
