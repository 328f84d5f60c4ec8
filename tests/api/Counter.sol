
pragma solidity ^0.8.0;
contract Counter {
    uint public count;
    function add(uint n) external { count += n; }
    function fail() external view returns (uint) { require(count > 5, "too few"); return count; }
}
