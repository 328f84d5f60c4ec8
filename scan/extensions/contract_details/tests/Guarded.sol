pragma solidity ^0.8.0;
import "./Roles.sol";
contract Guarded is Roles {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER");
    function mint(uint256 amount) external override by(MINTER_ROLE)
        quick { total += amount; }
    function free() external { total = 0; }
}
