pragma solidity >=0.4.0 <0.9.0;
contract Old {
    uint64 small;
    address owner;
    mapping(address => mapping(uint => int64)) amounts;
    string text;
    function set(address who, uint n) public {
        small = 5;
        owner = who;
        amounts[who][n] = -3;
        text = "short";
    }
}
