// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

library Sums {
    function sum(uint256[] storage all) external view returns (uint256 n) {
        for (uint256 i = 0; i < all.length; i++) n += all[i]; // library
    }
}

contract Child {
    uint256 public kept;
    constructor(uint256 n) {
        kept = n; // child
        require(n != 13); // refuses
    }
}

contract Costly {
    uint256 public kept = 1;
    uint256[] public all;

    constructor() { all.push(3); } // pushes

    function write(uint256 n) external {
        kept = n; // writes
    }
    function loop(uint256 n) external pure returns (uint256 sum) {
        for (uint256 i = 0; i < n; i++) sum += i; // loops
    }
    function delegate(uint256) external returns (uint256) {
        return Sums.sum(all); // delegates
    }
    function itself(uint256 n) external {
        this.write(n); // calls
        this.loop(20);
    }
    function waste(uint256) external {
        try this.burn{gas: 20_000}() { } catch { kept = 5; }
    }
    function burn() external pure {
        while (true) { } // burns
    }
    function create(uint256 n) external {
        try new Child(n) { } catch { }
    }
    function hash(uint256 n) external pure returns (bytes32) {
        return sha256(abi.encode(n));
    }
    function pay(uint256 n) external payable {
        payable(address(uint160(n))).transfer(1);
    }
    function large(uint256 n) external pure {
        assembly { return(0, n) }
    }
    function refuse(uint256 n) external {
        kept = n;
        assembly { revert(0, 100000) }
    }
    function invalid(uint256) external pure {
        assembly { invalid() }
    }
}
