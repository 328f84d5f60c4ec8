pragma solidity >=0.6.5;
contract Other { uint256 public nothing; }
contract Fixed {
    uint256 public immutable start;
    address public immutable maker;
    constructor(uint256 first) { start = first; maker = msg.sender; }
    function both() public view returns (uint256, address) { return (start, maker); }
}
