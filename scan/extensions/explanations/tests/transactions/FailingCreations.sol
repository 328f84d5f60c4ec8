// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

library Maths {
    function half(uint256 n) external pure returns (uint256) {
        require(n % 2 == 0, "it is odd"); // fails: library
        return n / 2;
    }
}

abstract contract Parent {
    error TooLarge(uint256 given);
    uint256 public kept;
    constructor(uint256 n) {
        if (n > 1000) revert TooLarge(n); // fails: parent
        kept = n;
    }
}

contract Created is Parent {
    uint256 public immutable most;
    address public constant OWNER = 0x00000000000000000000000000000000000000AA;
    uint256[] public list;
    constructor(uint256 n, string memory text) Parent(n) {
        require(n != 1, text); // fails: text
        most = 100 / (n - 2); // fails: divided
        checkNot(n, 3);
        if (n == 4) this.later(); // fails: no code
        if (n == 5) assembly { mstore(0, 0xef) return(31, 1) }
    }
    function checkNot(uint256 n, uint256 other) internal pure {
        require(n != other); // fails: function
    }
    function later() external { kept = OWNER.balance; }
}

contract Child {
    uint256 public half;
    constructor(uint256 n) {
        half = Maths.half(n); // calls: library
        assert(n != 6); // fails: child
    }
}

contract Factory {
    function create(uint256 n) external returns (address) {
        return address(new Child(n)); // calls: child
    }
    function tryIt(uint256 n) external returns (bool) {
        try new Child(n) returns (Child) { return true; } catch { return false; }
    }
}
