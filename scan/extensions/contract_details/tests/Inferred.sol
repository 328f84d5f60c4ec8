pragma solidity ^0.8.0;
contract Ledger {
    mapping(address => uint256) public balanceOf;
    function pay(address payee, uint256 amount) external { balanceOf[payee] += amount; }
    function refill() external payable { balanceOf[msg.sender] += msg.value; }
    function total(uint256[] calldata amounts) external view returns (uint256 sum) {
        for (uint256 i; i < amounts.length; ++i) sum += amounts[i] + block.number;
    }
}
