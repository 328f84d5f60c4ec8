pragma solidity ^0.8.20;
import {Maths} from "./Maths.sol";

contract User {
    function fourfold(uint256 value) external pure returns (uint256) {
        return Maths.twice(Maths.twice(value));
    }
}
