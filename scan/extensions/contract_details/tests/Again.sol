// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Again {
    function end() external { selfdestruct(payable(msg.sender)); }
}
contract Maker {
    event Made(Again again);
    Again public again;
    function make() public payable { emit Made(again = new Again{salt: 0}()); }
    function makeAndEnd() external payable { make(); again.end(); }
    function pay() external payable {
        for (uint256 n = 0; n < 1001; n++) payable(address(again)).call{value: 1}("");
    }
}
