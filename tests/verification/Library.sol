pragma solidity >=0.4.22;
library Maths {
    function twice(uint256 x) public pure returns (uint256) { return x + x; }
}
contract Uses {
    function four(uint256 x) public pure returns (uint256) {
        return Maths.twice(Maths.twice(x));
    }
}
