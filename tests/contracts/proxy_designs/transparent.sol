pragma solidity >=0.5.0;
contract P {
    constructor(address to) public payable {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, to) sstore(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103, 0xad) }
    }
    modifier ifAdmin() { if (msg.sender == _admin()) { _; } else { _fallback(); } }
    function admin() external payable ifAdmin returns (address) { return _admin(); }
    function implementation() external payable ifAdmin returns (address) { return _to(); }
    function upgradeTo(address to) external payable ifAdmin { assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, to) } }
    function upgradeToAndCall(address to, bytes calldata data) external payable ifAdmin {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, to) }
        (bool done,) = to.delegatecall(data);
        require(done);
    }
    function _admin() internal view returns (address a) {
        assembly { a := sload(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103) }
    }
    function _to() internal view returns (address a) { assembly { a := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc) } }
    function _fallback() internal {
        require(msg.sender != _admin(), "Cannot call fallback function from the proxy admin");
        address to = _to();
        assembly {
            let at := mload(0x40)
            calldatacopy(at, 0, calldatasize())
            let done := delegatecall(gas(), to, at, calldatasize(), 0, 0)
            let size := returndatasize()
            returndatacopy(at, 0, size)
            switch done case 0 { revert(at, size) } default { return(at, size) }
        }
    }
    receive() external payable { _fallback(); } fallback() external payable { _fallback(); }
}
