pragma solidity >=0.5.0;
contract Token {
    string public name;
    uint256 public totalSupply = 1000000;
    mapping(address => uint256) public balanceOf;
    constructor() public { name = "Test Dollar"; balanceOf[msg.sender] = totalSupply; }
}
