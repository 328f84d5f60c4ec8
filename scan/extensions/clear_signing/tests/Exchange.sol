
pragma solidity ^0.8.20;

contract Exchange {
    struct Leg { address token; uint256 amount; uint8 mode; }
    event Transfer(address indexed from, address indexed to, uint256 value);
    string public name = "Betting";
    string public symbol = "BET";
    uint8 public constant decimals = 6;
    uint256 public constant totalSupply = 1000000;
    mapping(address => uint256) public balanceOf;

    constructor() {
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function transfer(address, uint256) external pure returns (bool) { return true; }

    function trade(Leg[] calldata, address, uint64, uint32, bytes calldata, int16, string calldata)
        external payable {}
}
