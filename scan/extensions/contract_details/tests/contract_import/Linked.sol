library Halves { function half(uint256 n) public pure returns (uint256) { return n / 2; } }
contract Linked {
    uint256 public number;
    constructor(uint256 n) { number = n; }
    function half() external view returns (uint256) { return Halves.half(number); }
}
