// contract Nothing { function nothing() {
pragma solidity ^0.8.0;
abstract contract A {
    string constant TEXT = "function fake() { ä";
    modifier only() { require(msg.sender == address(1)); _; }
    constructor(uint a) {
        if (a > 1) { revert(); }
    }
    function outer(uint a) external only returns (uint) {
        unchecked { a++; }
        return a + 1; /* } */ // }
    }
    function declared() external virtual;
    receive() external payable { revert("no"); }
    uint last;
}
