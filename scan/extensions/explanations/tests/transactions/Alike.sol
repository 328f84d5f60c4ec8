pragma solidity ^0.8.28;

error Zero(); error Code(uint256 n);
contract Other {
    error Zero();
    function say(uint256 n) external pure {
        require(n != 1, "no");
        if (n == 2) revert Zero();
        if (n == 3) revert();
        if (n == 4) assert(false);
    }
    fallback() external { assembly { calldatacopy(0, 0, calldatasize()) revert(0, calldatasize()) } }
}
library Lib {
    function check(uint256 n) internal pure { require(n != 0, Zero()); } // at: lib, both
    function checkToo(uint256 n) external pure { require(n != 0, "no"); } // at: libToo
}
contract Alike {
    Other other = new Other(); uint256 x; bytes kept; uint256[] list;
    modifier good(uint256 n) { require(n != 8, "no"); _; require(x != 9, "no"); } // at: before, after
    function required_(uint256 n) external { require(n != 0, Zero()); x = n; } // at: required
    function requiredToo_(uint256 n) external { x = n + 1; require(n != 0, Zero()); x = n; } // at: requiredToo
    function ifZero_(uint256 n) external { if (n == 0) revert Zero(); x = n; } // at: ifZero, delegated
    function text_(uint256 n) external { require(n != 0, "no"); x = n; } // at: text, selfCalled
    function textToo_(uint256 n) external good(n) { require(n != 0, "no"); x = n; } // at: textToo
    function before_(uint256 n) external good(n + 8) { x = n; }
    function after_(uint256 n) external good(n) { x = n + 9; }
    function code_(uint256 n) external { require(n != 0, Code(n)); x = n; } // at: code
    function codeOfTwo_(uint256 n) external {
        if (n == 1) revert Code(0);
        if (n == 0) revert Code(n); // at: codeOfTwo
    }
    function lib_(uint256 n) external { x = 7; Lib.check(n); x = n; }
    function both_(uint256 n) external {
        if (x == 77) revert Zero();
        Lib.check(n);
        if (x == 78) revert Zero();
    }
    function otherSay_(uint256 n) external { require(x != 99, "no"); other.say(n + 1); } // at: otherSay
    function otherZero_(uint256 n) external { if (x == 99) revert Zero(); other.say(n + 2); } // at: otherZero
    function otherEmpty_(uint256 n) external { if (x == 99) revert(); other.say(n + 3); } // at: otherEmpty
    function otherAssert_(uint256 n) external { assert(x != 99); other.say(n + 4); } // at: otherAssert
    function ignored_(uint256 n) external {
        try other.say(1) {} catch {}
        require(n != 0, "no"); // at: ignored
    }
    function raw_(uint256 n) external {
        (bool ok, bytes memory why) = address(other).call(abi.encodeCall(Other.say, (n + 1)));
        require(x != 99, "no");
        if (!ok) assembly { revert(add(why, 32), mload(why)) } // at: raw
    }
    function made_(uint256 n) external {
        require(x != 99, "no");
        bytes memory why = abi.encodeWithSignature("Error(string)", "no");
        if (n == 0) assembly { revert(add(why, 32), mload(why)) } // at: made
    }
    function echoed_(uint256 n) external {
        require(x != 99, "no");
        (bool ok, bytes memory why) = address(other).call(abi.encodeWithSignature("Error(string)", "no"));
        if (!ok && n == 0) assembly { revert(add(why, 32), mload(why)) } // at: echoed
    }
    function panicMade_(uint256 n) external {
        list[0] = list.length == 0 ? 0 : n; // at: panicMade
    }
    function panicByHand_(uint256 n) external {
        if (x == 99) list[n] = 1;
        assembly { mstore(0, shl(224, 0x4e487b71)) mstore(4, 0x32) revert(0, 36) } // at: panicByHand
    }
    function selfCalled_(uint256 n) external { this.text_(n); }
    function recursive_(uint256 n) external { if (n < 3) this.recursive_(n + 1); else revert Code(n); } // at: recursive
    function short_(uint256 n) external { require(n > 5 || x > 3, "no"); x = 1; } // at: short
    function nested_(uint256 n) external { _a(n); x = 4; }
    function nestedToo_(uint256 n) external { x = 3; _b(n); }
    function _a(uint256 n) private { x = 1; _b(n); }
    function _b(uint256 n) private { require(n != 0, "no"); x = n; } // at: nested, nestedToo
    function stored_(uint256 n) external { kept = "no"; require(n != 0, string(kept)); } // at: stored
    function computed_(uint256 n) external { if (x == 9) revert("no"); require(n != 0, n == 0 ? "no" : "yes"); } // at: computed
    function division_(uint256 n) external { x = 1 / n + 2 / (n + x); } // at: division
    function divisionTwice_(uint256 n) external {
        x = 5 / (n + 1);
        x = 5 / n; // at: divisionTwice
    }
    function sum_(uint256 n) external { x = type(uint256).max; x = x + n + 1; } // at: sum
    function difference_(uint256 n) external {
        x = (n + 3) - 2;
        x = n - 2; // at: difference
    }
    function loopTwice_(uint256 n) external {
        for (uint256 i; i < 3; i++) require(i != 2 || n > 9, "no"); // at: loopTwice
        for (uint256 i; i < 3; i++) require(i != 2 || n > 9, "no");
    }
    function delegated_(uint256 n) external {
        (bool ok, bytes memory why) = address(this).delegatecall(abi.encodeCall(this.ifZero_, (n)));
        if (!ok) assembly { revert(add(why, 32), mload(why)) }
    }
    function value_(uint256 n) external { payable(address(other)).transfer(n + 1); } // at: value
    function gone_(uint256 n) external { Other(address(uint160(n + 4242))).say(n); } // at: gone
}
