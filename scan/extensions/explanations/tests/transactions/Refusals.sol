// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Base, Inside, Outside, Free, freely, WORDS} from "./Shared.sol";

interface Absent {
    function absent(uint256 n) external returns (uint256);
}

contract Inner {
    function refuse(uint256 n) external pure returns (uint256) {
        require(n > 9, "refused"); // at: passedOn, rethrown, lowLevel, ownWords, twoCalls
        return n;
    }

    function odd(uint256 n) external pure returns (bool) {
        require(n > 9, "odd");
        assembly {
            mstore(0, n)
            return(0, 32)
        }
    }
}

contract Child {
    uint256 public kept;

    constructor(uint256 n) {
        require(n > 3, "no child");
        kept = n + 1;
    }
}

contract Refusals is Base {
    enum Kind {
        One,
        Two
    }

    Inner inner;
    uint256[] public list;
    mapping(uint256 => uint256) public map;
    bytes public blob;

    constructor(Inner given) {
        inner = given;
    }

    error Zero();
    error One(uint256 n);
    error Two(uint256 a, string why);

    function zero(uint256 n) public live {
        require(n != 0, "zero"); // at: zero
        require(n != 1, "one"); // at: one
        value = n;
    }

    function customZero(uint256 n) public live {
        if (n == 0) revert Zero(); // at: customZero
        if (n == 1) revert One(n); // at: customOne
        value = n;
    }

    function required(uint256 n) public live {
        require(n != 0, Zero()); // at: required
        require(n != 1, One(7)); // at: requiredOne
        value = n;
    }

    function literals(uint256 n) public live {
        if (n == 0) revert One(1); // at: literal
        if (n == 1) revert One(2); // at: literalTwo
        if (n == 2) revert Two(n, "two"); // at: twoArguments
        value = n;
    }

    function twice(uint256 n) public {
        require(n != 0, "twice"); // at: twice
        value = n;
        require(n != 1, "twice"); // at: twiceSecond
    }

    function twiceCustom(uint256 n) public {
        if (n == 0) revert Zero(); // at: twiceCustom
        value = n;
        if (n == 1) revert Zero(); // at: twiceCustomSecond
    }

    function inModifier(uint256 n) public sane(n) {
        value = n;
    }

    function inModifierToo(uint256 n) public sane(n) {
        value = n + 1;
    }

    function afterBody(uint256 n) public after_ {
        value = 77;
        list.push(n);
    }

    function overridden(uint256 n) public override {
        super.overridden(n);
        value = n;
    }

    function hook(uint256 n) internal override {
        require(n > 5, "the own hook"); // at: hooked
        value = n;
    }

    function internalLibrary(uint256 n) public {
        Inside.check(n);
        value = n;
    }

    function externalLibrary(uint256 n) public {
        Outside.check(n);
        value = n;
    }

    function free(uint256 n) public {
        freely(n);
        value = n;
    }

    function constantText(uint256 n) public live {
        require(n > 8, WORDS); // at: constantText
        value = n;
    }

    function looped(uint256 n) public live {
        for (uint256 i = 0; i < 5; i++) {
            require(i != n + 3, "in the loop"); // at: looped
            value += i;
        }
        require(n > 100, "behind the loop");
    }

    function ternary(uint256 n) public live {
        require(n > 9 ? paused : n == 3, "ternary"); // at: ternary
        value = n;
    }

    function oneOfTwo(uint256 n) public live {
        n > 9 ? first(n) : second(n);
        value = n;
    }

    function first(uint256 n) private view {
        require(n != value, "one of two");
    }

    function second(uint256 n) private view {
        require(n > value + 8, "one of two"); // at: oneOfTwo
    }

    function computed(uint256 n) public live {
        string memory why = string(abi.encodePacked("com", "puted"));
        require(n > 8, why); // at: computed
        value = n;
    }

    function computedLikeOther(uint256 n) public live {
        require(n != 6, "computed like another");
        string memory why = string(abi.encodePacked("computed like", " another"));
        require(n > 8, why); // at: computedLikeOther
        value = n;
    }

    function bare(uint256 n) public live {
        require(n > 8); // at: bare
        value = n;
    }

    function bareRevert(uint256 n) public {
        if (n < 8) {
            revert(); // at: bareRevert
        }
        value = n;
    }

    function bareTwice(uint256 n) public {
        require(n != 0); // at: bareTwice
        value = n;
        require(n != 1);
    }

    function bareNarrow(uint8 n) public {
        require(n > 8); // at: bareNarrow
        value = n;
    }

    function assembled(uint256 n) public live {
        assembly {
            if lt(n, 9) {
                mstore(0, 0x08c379a000000000000000000000000000000000000000000000000000000000)
                mstore(4, 32)
                mstore(36, 9)
                mstore(68, "assembled")
                revert(0, 100) // at: assembled
            }
        }
        value = n;
    }

    function emptyAssembly(uint256 n) public live {
        if (n < 9) {
            assembly {
                revert(0, 0) // at: emptyAssembly
            }
        }
        value = n;
    }

    function added(uint256 n) public {
        value = n;
        value = type(uint256).max + n + 1; // at: added
    }

    function addedTwice(uint256 n) public {
        value = n + 1;
        value = type(uint256).max - value + 9; // at: addedTwice
    }

    function uncheckedFirst(uint256 n) public {
        unchecked {
            value = n - 1;
        }
        value = 5 - (n + 7); // at: uncheckedFirst
    }

    function divided(uint256 n) public {
        uint256 a = value + 1;
        value = a / n; // at: divided
    }

    function element(uint256 n) public {
        uint256 a = map[n] + 1;
        value = a + list[n + 1000]; // at: element
    }

    function asserted(uint256 n) public live {
        assert(n > 8); // at: asserted
        value = n;
    }

    function converted(uint256 n) public live {
        Kind kind = Kind(n + 2); // at: converted
        value = uint256(kind);
    }

    function popped(uint256) public live {
        delete list;
        list.pop(); // at: popped
    }

    function allocated(uint256 n) public {
        uint256[] memory large = new uint256[](n + 2 ** 65); // at: allocated
        value = large.length;
    }

    function pointer(uint256 n) public {
        function(uint256) internal pure returns (uint256) unset;
        value = unset(n); // at: pointer
    }

    function passedOn(uint256 n) public {
        value = inner.refuse(n); // at: passedOn outer
    }

    function twoCalls(uint256 n) public {
        value = inner.refuse(n + 30);
        value = inner.refuse(n); // at: twoCalls outer
    }

    function ownWords(uint256 n) public {
        require(n < 30, "refused");
        value = inner.refuse(n); // at: ownWords outer
    }

    function rethrown(uint256 n) public {
        try inner.refuse(n) returns (uint256 a) {
            value = a;
        } catch Error(string memory why) {
            revert(why); // at: rethrown outer
        }
    }

    function lowLevel(uint256 n) public {
        (bool ok, bytes memory data) = address(inner).call(abi.encodeWithSelector(Inner.refuse.selector, n));
        if (!ok) {
            assembly {
                revert(add(data, 32), mload(data)) // at: lowLevel outer
            }
        }
        value = n;
    }

    function caught(uint256 n) public {
        try inner.refuse(n) returns (uint256 a) {
            value = a;
        } catch {}
        require(n > 30, "after the caught one"); // at: caught
    }

    function child(uint256 n) public {
        value = new Child(n).kept(); // at: child, child outer
    }

    function noCode(uint256 n) public {
        require(n < 30);
        value = Absent(address(0xdead)).absent(n); // at: noCode
    }

    function notThere(uint256 n) public {
        value = Absent(address(inner)).absent(n); // at: notThere
    }

    function wrongResult(uint256 n) public {
        value = inner.odd(n + 20) ? 1 : 2; // at: wrongResult
    }

    function decoded(uint256) public {
        bytes memory wrong = hex"00ff";
        value = abi.decode(wrong, (uint256)); // at: decoded
    }

    function transferred(uint256) public {
        payable(address(inner)).transfer(1); // at: transferred
    }

    function notPayable(uint256 n) public { // at: notPayable
        value = n;
    }

    function narrow(uint8 n) public { // at: narrow
        value = n;
    }

    receive() external payable {
        require(msg.value > 1 ether, "too little"); // at: received
    }

    fallback(bytes calldata input) external returns (bytes memory) {
        require(input.length > 100, "no such function"); // at: fallen
        return input;
    }
}

contract Caller {
    Refusals public target;

    constructor(Refusals given) {
        target = given;
    }

    function run(uint256 n) external {
        (n);
        target.zero(n);
    }

    fallback() external payable {
        (bool ok, bytes memory data) = address(target).call{value: msg.value}(msg.data);
        if (ok) return;
        assembly {
            revert(add(data, 32), mload(data)) // at: caller
        }
    }
}

contract Forwarder {
    bool paused; // as in Refusals
    uint256 value;
    Inner inner;
    uint256[50] gap;
    address target;

    constructor(address given, Inner innerGiven) {
        target = given;
        inner = innerGiven;
    }

    fallback() external payable {
        address to = target;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 {
                revert(0, returndatasize()) // at: forwarder
            }
            default {
                return(0, returndatasize())
            }
        }
    }
}
