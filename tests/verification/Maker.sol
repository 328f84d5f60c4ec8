pragma solidity >=0.4.22;
library Maths {
    function twice(uint256 x) public pure returns (uint256) { return x + x; }
}
contract Inner { uint256 public age = 3; }
contract Maker {
    uint256 public number;
    Inner public inner;
    constructor(uint256 first) public { number = Maths.twice(first); inner = new Inner(); }
}
