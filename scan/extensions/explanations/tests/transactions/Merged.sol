// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
type Amount is uint256;
using { plus as + } for Amount global;
function plus(Amount a, Amount b) pure returns (Amount) {
    require(Amount.unwrap(b) < 9, "no"); // plus
    return Amount.wrap(Amount.unwrap(a) + Amount.unwrap(b));
}
library Checks {
    function small(uint256 n) internal pure {
        require(n < 9, "no"); // library
    }
}
interface ISelf { function open(uint256 n) external; }
abstract contract Base {
    mapping(address => uint256) internal m;
    modifier sane(uint256 n) {
        require(n < 9, "no"); // modifier
        _;
    }
    function put(address a) external {
        require(m[a] == 1, "no"); // inherited
        m[a] = 2;
    }
    function hook(uint256 n) internal virtual {
        require(n < 9, "no"); // hook
    }
    function hooked(uint256 n) external {
        hook(n); // hooked
    }
}
contract Merged is Base, ISelf {
    using Checks for uint256;
    uint256 public x;
    uint256 public y;

    function hook(uint256 n) internal override {
        super.hook(n); // override
        require(n != 3, "no");
    }
    function put(uint256 n) public {
        require(n < 9, "no"); // put
        x = n;
    }
    function put(uint256 n, uint256 k) external {
        x = n;
        require(k < 9, "no"); // put two
    }
    function put(uint256 n, bytes32 b) external {
        x += n;
        if (uint256(b) > 8) revert("no"); // put bytes
    }
    function checked(uint256 n) external {
        x = 4;
        n.small(); // checked
    }
    function guarded(uint256 n) external sane(n) {
        x = n; // guarded
    }
    function open(uint256 n) external {
        require(n < 9, "no"); // open
        x = n;
    }
    function itself(uint256 n) external {
        x = 4;
        ISelf(this).open(n); // itself
    }
    function add(uint256 n) external {
        Amount sum = Amount.wrap(x) + Amount.wrap(n); // add
        x = Amount.unwrap(sum);
    }
    function increment(uint256 n) public {
        x += n; // increment
    }
    function decrement(uint256 n) public {
        y += n; // decrement
    }
    function both(uint256 n) external {
        this.increment(n); // both
        this.decrement(n);
    }
    fallback() external {
        require(msg.data.length < 3, "no"); // fallback
    }
    receive() external payable {
        require(msg.value > 5, "no"); // receive
    }
}
