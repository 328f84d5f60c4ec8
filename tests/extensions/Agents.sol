contract Spell {
    event Ran(uint256 indexed n, string what);
    function act(uint256 n) external { require(n > 0, "none"); emit Ran(n, "cast"); }
}
contract Agent {
    function execute(address s, bytes calldata d) external {
        (bool ok,) = s.delegatecall(d);
        require(ok);
    }
}
contract Several {
    event Begun(uint256 count);
    function many(address[] calldata s, bytes[] calldata d) external {
        emit Begun(s.length);
        for (uint256 i; i < s.length; i++) {
            (bool ok,) = s[i].delegatecall(d[i]);
            require(ok);
        }
    }
}
contract Taker {
    event Took(uint256 value);
    fallback() external payable { emit Took(1); }
    receive() external payable { emit Took(msg.value); }
}
contract Older { fallback() external payable {} }
