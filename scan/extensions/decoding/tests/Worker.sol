// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Worker {
    struct Step { uint256 amount; string note; }
    event Worked(address indexed who, string indexed note, Step[] steps);
    event Quiet(uint256 indexed number, bytes32 word) anonymous;
    function work(Step[] calldata steps, string calldata note) external {
        emit Worked(msg.sender, note, steps);
        emit Quiet(7, bytes32(uint256(9)));
    }
    function fail(uint256 code) external pure { require(code == 0, "no"); }
    function shout(uint256 times) external {
        for (uint256 n = 0; n < times; n++) { assembly { log0(0, 0) } }
    }
    receive() external payable {}
}
