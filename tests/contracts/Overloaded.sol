// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Overloading {
    bytes32 constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
    constructor(address target) { assembly { sstore(SLOT, target) } }
    function count(uint256 more) external pure returns (uint256) { return more; }
    function admin() external returns (address) { _pass(); }
    fallback() external payable { _pass(); }
    function _pass() private {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(SLOT), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

contract Counting {
    function count() external pure returns (uint256) { return 17; }
    function admin() external view returns (address) { return address(this); }
}
