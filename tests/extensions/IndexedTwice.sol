contract A {
    event Changed(address indexed a, uint256 b);
    function emit_(uint256 v) external { emit Changed(msg.sender, v); }
}
contract B {
    event Changed(address indexed a, uint256 indexed b);
    function emit_(uint256 v) external { emit Changed(msg.sender, v); }
}
contract C {
    bytes32 constant T = keccak256("Changed(address,uint256)");
    function emit_(uint256) external { bytes32 t = T; assembly { log1(0, 64, t) } }
}
contract Any {
    fallback() external {
        (address to, bytes memory data) = abi.decode(msg.data, (address, bytes));
        (bool ok,) = to.delegatecall(data);
        require(ok);
    }
}
