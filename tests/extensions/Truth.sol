// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Truth {
    uint256 public total = 1000;
    address public owner = msg.sender;
    string public note = "what is stored";
    uint256[] public amounts;

    event Moved(address indexed from, address indexed to, uint256 value);
    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    function move(uint256 value) external {
        emit Moved(msg.sender, address(this), value);
        amounts.push(value);
    }

    function mint() external {
        emit Transfer(address(0), msg.sender, 1);
    }

    function balanceOf(address) external pure returns (uint256) {
        return 1;
    }

    function ownerOf(uint256) external view returns (address) {
        return owner;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x80ac58cd || id == 0x01ffc9a7;
    }

    function tokenURI(uint256) external pure returns (string memory) {
        return 'data:application/json,{"name":"true"}';
    }
}
