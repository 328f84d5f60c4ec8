// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Versions of a contract behind a proxy: the second tells of a fee, too, the third has other names,
/// the fourth another indexed argument.
contract Replaceable {
    event Upgraded(address indexed implementation);

    function replace(address target) external { // without an event
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, target) }
    }

    function upgrade(address target) public {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, target) }
        emit Upgraded(target);
    }

    function upgradeAndDeposit(address target, uint256 amount) external {
        upgrade(target);
        (bool done,) = target.delegatecall(abi.encodeCall(First.deposit, (amount)));
        require(done);
    }
}

contract First is Replaceable {
    event Deposited(address indexed owner, uint256 amount);

    function deposit(uint256 amount) external {
        emit Deposited(msg.sender, amount);
    }
}

contract Second is Replaceable {
    event Deposited(address indexed owner, uint256 amount, uint256 fee);

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

contract Fourth is Replaceable {
    event Deposited(address owner, uint256 indexed amount);

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
