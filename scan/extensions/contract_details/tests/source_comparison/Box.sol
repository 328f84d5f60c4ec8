pragma solidity ^0.8.0;
import "./Base.sol";

contract Box is Base {
    uint256 public value;

    function set(uint256 to) external {
        value = to;
    }
}
