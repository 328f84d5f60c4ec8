pragma solidity ^0.4.24;
library AddressUtils {
    function isContract(address a) internal view returns (bool) {
        uint256 size; assembly { size := extcodesize(a) } return size > 0;
    }
}
contract P {
    constructor(address to) public { set(to); }
    function set(address to) internal {
        require(AddressUtils.isContract(to), "Cannot set a proxy implementation to a non-contract");
        assembly { sstore(0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3, to) }
    }
    modifier ifAdmin() { if (msg.sender == address(0xad)) { _; } else { _fallback(); } }
    function admin() external view returns (address) { return 0xad; }
    function upgradeTo(address to) external ifAdmin { set(to); }
    function upgradeToAndCall(address to, bytes data) external payable ifAdmin {
        set(to); require(address(this).call.value(msg.value)(data));
    }
    function _fallback() internal {
        require(msg.sender != address(0xad)); address to;
        assembly { to := sload(0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3) } assembly {
            let at := mload(0x40)
            calldatacopy(at, 0, calldatasize)
            let done := delegatecall(gas, to, at, calldatasize, 0, 0)
            let size := returndatasize
            returndatacopy(at, 0, size)
            switch done case 0 { revert(at, size) } default { return(at, size) }
        }
    }
    function () external payable { _fallback(); }
}
