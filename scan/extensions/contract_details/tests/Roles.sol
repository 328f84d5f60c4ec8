pragma solidity ^0.8.0;
contract Roles {
    uint256 total;
    modifier by(bytes32) { _; }
    modifier quick() { _; }
    modifier slow() { _; }
    function mint(uint256) external virtual slow {}
    function stop() external slow { total = 1; }
    function getRoleAdmin(bytes32 role) external pure returns (bytes32) { return ~role; }
}
