// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Hostile {
    string public name = "NAME"; string public symbol = "SYMBOL"; uint8 public decimals = DECIMALS;
    uint256 public totalSupply = type(uint256).max;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id,
        uint256 value
    );
    function balanceOf(address) external pure returns (uint256) { return type(uint256).max; }
    function allowance(address, address) external pure returns (uint256) {
        return type(uint256).max - 7;
    }
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return IS_MULTI && (id == 0xd9b67a26 || id == 0x01ffc9a7);
    }
    function send(address to, uint256 value) external { emit Transfer(msg.sender, to, value); }
    function approve(address to, uint256 value) external {
        emit Approval(msg.sender, to, value);
    }
    function sendItem(address to, uint256 id, uint256 value) external {
        emit TransferSingle(msg.sender, msg.sender, to, id, value);
    }
}
