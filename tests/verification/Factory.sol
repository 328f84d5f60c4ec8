pragma solidity >=0.8.0;
contract Child {
    uint256 public value; address public immutable maker = msg.sender;
    constructor(uint256 first, string memory) { value = first * NUMBER; }
}
contract Factory {
    event Made(Child child);
    function make(uint256 first) public { emit Made(new Child(first, "made")); }
}
