
event Moved(address indexed from, address to, uint256 indexed id);
library One { function move() public { emit Moved(address(1), address(2), 3); } }
library Two {
    event Moved(address from, address indexed to, uint256 indexed id);
    function move() public { emit Two.Moved(address(1), address(2), 3); }
}
contract User { function run() external { Two.move(); } function other() external { One.move(); } }
contract Logic {
    event Moved(address from, address indexed to, uint256 indexed id);
    function run() external { emit Moved(address(1), address(2), 3); }
}
contract Proxy {
    event Moved(address indexed from, address to, uint256 indexed id);
    constructor(address logic) {
        assembly {
            sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, logic)
        }
    }
    fallback() external {
        assembly {
            let logic := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc)
            calldatacopy(0, 0, calldatasize())
            if iszero(delegatecall(gas(), logic, 0, calldatasize(), 0, 0)) { revert(0, 0) }
        }
    }
}
