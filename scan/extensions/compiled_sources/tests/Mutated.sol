pragma solidity ^0.8.4;
library Lib {
    struct Data { uint256 n; mapping(address => uint256[2]) at; }
    error Bad(uint256 n, string why);
    event Put(uint256 n);
    function put(Data storage self, uint256 n) external {
        if (n == 1) revert Bad(n, "no");
        self.n = n;
    }
    function half(uint256 n) internal pure returns (uint256) { return n / 2; }
}
abstract contract Base {
    uint256 internal constant ONE = 1;
    enum Kind { One, Two }
    error Zero(uint256 n);
    modifier sane(uint256 n) { require(n != ONE, "one"); _; }
    constructor(uint256 n) { assert(n != 7); }
    function hook(uint256 n) internal virtual;
}
contract Child { constructor(uint256 n) { require(n > 1, "child"); } }
contract Mutated is Base(3) {
    using Lib for Lib.Data;
    /// @custom:storage-location erc7201:a.b
    struct Kept { uint256 n; Kind kind; }
    Lib.Data data;
    uint256[] list;
    function(uint256) internal run;
    function hook(uint256 n) internal override { if (n == 2) revert Zero(2); list.push(n); }
    function f(uint256 n, Kind kind) external payable sane(n) {
        data.put(n); hook(n); run(n); list[n] -= 1; new Child(n);
        unchecked { n++; }
        assembly { if eq(n, 3) { mstore(0, 0x1234) revert(0, 4) } }
        payable(msg.sender).transfer(Lib.half(n));
    }
    function g(bytes calldata text) external returns (Kind) {
        list.pop();
        return Kind(text.length);
    }
    receive() external payable { revert(); }
}
