pragma solidity ^0.8.20;
contract Small {
    function(uint256) internal view run;
    uint256 kept;
    constructor() { run = _other; }
    function _other(uint256 n) private view { require(n > kept + 5, "no"); }
    function f(uint256 n) external { run(n); require(n != 9, "no"); kept = n; }
}
