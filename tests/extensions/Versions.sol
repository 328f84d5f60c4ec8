// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract V1 {
    uint256 public n; event Done(uint256 oldNumber);
    function act(uint256 first) external { n = first; emit Done(first); }
}
contract V2 {
    uint256 public n; event Done(uint256 newNumber);
    function act(uint256 second) external { n = second; emit Done(second); }
}
contract Both {
    function run(P proxy, address other, address first) external {
        V1(address(proxy)).act(1); proxy.upgradeTo(other);
        V1(address(proxy)).act(2); proxy.upgradeTo(first);
    }
    function upgrade(P proxy, address to) external { proxy.upgradeTo(to); }
}
contract P {
    constructor(address i) { upgradeTo(i); }
    function upgradeTo(address i) public { assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, i) } }
    fallback() external { assembly {
        calldatacopy(0, 0, calldatasize())
        let r := delegatecall(gas(), sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc), 0, calldatasize(), 0, 0)
        returndatacopy(0, 0, returndatasize())
        if iszero(r) { revert(0, returndatasize()) }
        return(0, returndatasize())
    } }
}
