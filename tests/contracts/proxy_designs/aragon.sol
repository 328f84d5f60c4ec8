pragma solidity ^0.4.24;
contract IsContract {
    function isContract(address a) internal view returns (bool) {
        if (a == address(0)) { return false; }
        uint256 size; assembly { size := extcodesize(a) } return size > 0;
    }
}
contract Delegate is IsContract {
    uint256 internal constant FWD_GAS_LIMIT = 10000;
    function delegatedFwd(address _dst, bytes memory _calldata) internal {
        require(isContract(_dst));
        uint256 fwdGasLimit = FWD_GAS_LIMIT;
        assembly {
            let result := delegatecall(sub(gas, fwdGasLimit), _dst, add(_calldata, 0x20), mload(_calldata), 0, 0)
            let size := returndatasize
            let ptr := mload(0x40)
            returndatacopy(ptr, 0, size)
            switch result case 0 { revert(ptr, size) } default { return(ptr, size) }
        }
    }
}
contract Kernel {
    mapping (bytes32 => mapping (bytes32 => address)) public apps;
    address unused;
    function setApp(bytes32 space, bytes32 id, address to) public { apps[space][id] = to; }
    function getApp(bytes32 space, bytes32 id) public view returns (address) { return apps[space][id]; }
}
contract KernelProxy is Delegate {
    mapping (bytes32 => mapping (bytes32 => address)) public apps;
    address to;
    constructor(address to_) public { to = to_; }
    function () external payable { delegatedFwd(to, msg.data); }
}
contract P is Delegate {
    Kernel kernel; bytes32 id = keccak256("vault");
    event ProxyDeposit(address sender, uint256 value);
    constructor(address to, address kernel_) public {
        kernel = Kernel(kernel_); kernel.setApp(keccak256("base"), id, to);
    }
    function () external payable {
        if (gasleft() < FWD_GAS_LIMIT) {
            require(msg.value > 0 && msg.data.length == 0);
            emit ProxyDeposit(msg.sender, msg.value);
        } else {
            delegatedFwd(kernel.getApp(keccak256("base"), id), msg.data);
        }
    }
}
