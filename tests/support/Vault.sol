// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Vault {
    error NotEnough(address who, uint256 available);
    event Deposited(address indexed from, uint256 value, string note);
    struct Part { uint256 amount; address to; }
    uint256 public total;
    address public owner;
    string public note = "<b>none</b>";
    Part[] public parts;
    constructor(address owner_, string memory note_) { owner = owner_; note = note_; }
    function reserves() external view returns (uint256 coins, uint32 count) {
        return (address(this).balance, uint32(parts.length));
    }
    function deposit(string calldata note_, Part[] calldata parts_) external payable {
        total += msg.value;
        note = note_;
        for (uint256 i; i < parts_.length; i++) parts.push(parts_[i]);
        emit Deposited(msg.sender, msg.value, note_);
    }
    function withdraw(uint256 amount) external {
        if (amount > total) revert NotEnough(msg.sender, total);
        total -= amount;
        payable(msg.sender).transfer(amount);
    }
    function burn() external view returns (uint256 n) { while (true) n++; }
    function megabytes() external pure returns (bytes memory) {
        assembly { mstore(0, 32) mstore(32, 400000) return(0, 400064) }
    }
    function refuse() external view returns (uint256) { revert NotEnough(owner, total); }
}
