pragma solidity ^0.5.16;
contract UpgradeBeacon {
    address private implementation;
    constructor(address to) public { implementation = to; }
    function () external {
        if (msg.sender != address(0xad)) {
            assembly { mstore(0, sload(0)) return(0, 32) }
        } else { assembly { sstore(0, calldataload(0)) } }
    }
}
contract P {
    address internal beacon;
    constructor(address to, address beacon_) public { beacon = beacon_; }
    function () external payable { _delegate(_implementation()); }
    function _implementation() private view returns (address implementation) {
        (bool ok, bytes memory returnData) = beacon.staticcall("");
        require(ok, string(returnData));
        implementation = abi.decode(returnData, (address));
    }
    function _delegate(address to) private { assembly {
            let at := mload(0x40)
            calldatacopy(at, 0, calldatasize)
            let done := delegatecall(gas, to, at, calldatasize, 0, 0)
            let size := returndatasize
            returndatacopy(at, 0, size)
            switch done case 0 { revert(at, size) } default { return(at, size) }
        } }
}
