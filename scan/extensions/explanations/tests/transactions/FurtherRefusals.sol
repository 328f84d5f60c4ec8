// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

type Fixed is uint256;

error Free(uint256 code);
error Overflow(Fixed a, Fixed b);
using {plus as +, minus as -, same as ==} for Fixed global;

function plus(Fixed a, Fixed b) pure returns (Fixed) {
    if (Fixed.unwrap(b) == 1) revert Overflow(a, b); // at: operatorPlus
    return Fixed.wrap(Fixed.unwrap(a) + Fixed.unwrap(b)); // at: operatorSum
}

function minus(Fixed a, Fixed b) pure returns (Fixed) {
    if (Fixed.unwrap(b) == 2) revert Overflow(a, b); // at: operatorMinus
    return Fixed.wrap(Fixed.unwrap(a) - Fixed.unwrap(b)); // at: operatorDifference
}

function same(Fixed a, Fixed b) pure returns (bool) {
    require(Fixed.unwrap(b) != 3, "same"); // at: operatorSame
    return Fixed.unwrap(a) == Fixed.unwrap(b);
}

function freely(uint256 n) pure {
    if (n == 0) revert Free(1); // at: freeFirst
    if (n == 1) revert Free(n); // at: freeSecond
}

library Math {
    error Odd(uint256 n, string why);
    error Even(uint256 n, string why);

    function half(uint256 n) internal pure returns (uint256) {
        if (n == 1) revert Odd(n, "odd"); // at: libraryOdd
        if (n == 2) revert Even(n, "even"); // at: libraryEven
        if (n == 4) revert Odd(n, "other"); // at: libraryOther
        return n / 2;
    }

    function unsafeSum(uint256 a, uint256 b) internal pure returns (uint256 sum) {
        unchecked {
            sum = a + b;
            if (sum < a) revert Free(3); // at: uncheckedSum
        }
    }

    function sub(uint256 a, uint256 b) internal pure returns (uint256) {
        unchecked {
            require(b <= a, "SafeMath: subtraction overflow"); // at: safeSub
            return a - b;
        }
    }
}

library Stored {
    struct Data { uint256 n; }

    error Stale(uint256 n);

    function put(Data storage self, uint256 n) external {
        if (n == 0) revert Stale(n); // at: delegatedStale
        require(n != 1, "stored"); // at: delegatedText
        self.n = 10 - n; // at: delegatedUnderflow
    }
}

abstract contract Owned {
    address owner;
    bool transient locked;
    error NotOwner(address who);
    error Locked();

    constructor(uint256 kind) {
        require(kind != 1001, "kind"); // at: inheritedConstructor
        if (kind == 1002) revert NotOwner(msg.sender); // at: inheritedConstructorError
        owner = msg.sender;
    }

    modifier guarded() {
        if (locked) revert Locked(); // at: lockedTwice
        locked = true;
        _;
        locked = false;
    }

    modifier between(uint256 n) {
        require(n != 0, "before"); // at: modifierBefore
        _;
        require(n != 1, "after"); // at: modifierAfter
        if (n == 2) revert NotOwner(address(this)); // at: modifierAfterError
    }

    modifier outer(uint256 n) {
        require(n < 100, "limit"); // at: outerLimit
        _;
        require(n > 3, "limit"); // at: outerAfter
    }
}

contract Middle is Owned {
    constructor(uint256 kind) Owned(kind + 1) {
        require(kind != 2000, "kind"); // at: middleConstructor
    }
}

contract Twin {
    uint256 kept;

    function check(uint256 n) external {
        require(n != 0, "twin"); // at: twinOther
        require(n != 1, "same text"); // at: twinSameOther
        kept = n;
    }
}

contract Further is Middle {
    using Stored for Stored.Data;

    uint256 kept;
    uint256[3] fixedList;
    Stored.Data data;
    mapping(address => uint256) balances;
    Twin twin;

    error Insufficient(uint256 wanted, uint256 had);
    error Reason(bytes why);

    constructor(uint256 kind, Twin given) Middle(kind) {
        assert(kind != 3000); // at: ownConstructor
        twin = given;
    }

    function operators(uint256 n) public {
        Fixed a = Fixed.wrap(n > 7 ? type(uint256).max : 0);
        Fixed b = Fixed.wrap(n);
        if (n == 1 || n > 7) kept = Fixed.unwrap(a + b);
        if (n == 2 || n == 5) kept = Fixed.unwrap(a - b);
        if (a == b) kept = 3;
    }

    function free(uint256 n) public {
        freely(n);
        kept = n;
        if (n == 2) revert Free(n); // at: freeOwn
    }

    function halved(uint256 n) public {
        kept = Math.half(n);
    }

    function summed(uint256 n) public {
        kept = Math.unsafeSum(n, type(uint256).max);
    }

    function subtracted(uint256 n) public {
        kept = Math.sub(5, n);
        require(kept != 5, "SafeMath: subtraction overflow"); // at: safeSubOwn
    }

    function stored(uint256 n) public {
        data.put(n);
    }

    function inside(uint256 n) public guarded {
        if (n == 1) this.inside(2);
        kept = n;
    }

    function middle(uint256 n) public between(n) {
        kept = n + 1;
    }

    function both(uint256 n) public outer(n) between(n) {
        kept = n + 2;
        require(n != 4, "limit"); // at: bothOwn
    }

    function rethrowing(uint256 n) public {
        try twin.check(n) {
            kept = n;
        } catch Error(string memory why) {
            if (n == 0) revert(why); // at: rethrownText
            revert(string.concat("twin: ", why)); // at: rethrownPrefix
        }
    }

    function wrapping(uint256 n) public {
        (bool ok, bytes memory why) = address(twin).call(abi.encodeCall(Twin.check, (n)));
        if (!ok) revert Reason(why); // at: wrapped
    }

    function bubbling(uint256 n) public {
        (bool ok, bytes memory why) = address(twin).call(abi.encodeCall(Twin.check, (n)));
        if (!ok) {
            assembly {
                revert(add(why, 32), mload(why)) // at: bubbled
            }
        }
    }

    function twins(uint256 n) public {
        require(n != 0, "twin"); // at: twinOwn
        twin.check(n);
        require(n != 2, "same text"); // at: twinSameOwn
        kept = n;
    }

    function assembled(uint256 n) public {
        assembly {
            if eq(n, 0) {
                mstore(0x00, 0xcf479181) // Insufficient(uint256,uint256)
                mstore(0x20, n)
                mstore(0x40, 7)
                revert(0x1c, 0x44) // at: assembledError
            }
            if eq(n, 1) {
                revert(0, 0) // at: assembledEmpty
            }
        }
        if (n == 2) revert Insufficient(n, 7); // at: insufficient
        if (n == 3) revert Insufficient(7, n); // at: insufficientOther
        kept = n;
    }

    function inlined(uint256 n) public {
        require(n > 5 ? n < 10 : n != 1, n > 5 ? "large" : "small"); // at: inlineSmall, inlineLarge
        kept = n != 2 ? n : _never(n);
    }

    function _never(uint256 n) private pure returns (uint256) {
        require(n != 2, "never"); // at: inlineNever
        return n;
    }

    function short(uint256 n) public {
        if (n == 0 || _check(n)) kept = n;
        require(n != 1 && n != 2, "checked"); // at: shortOwn
    }

    function _check(uint256 n) private pure returns (bool) {
        require(n != 3, "checked"); // at: shortInside
        return n == 4;
    }

    function placed(uint256 n) public {
        if (n < 10) fixedList[n] = 1; // at: fixedIndex
        else fixedList[n - 7] = 2; // at: fixedIndexOther
    }

    function spent(uint256 n) public {
        balances[msg.sender] -= n; // at: spentBalance
        balances[address(this)] += n;
    }

    function moved(uint256 n) public {
        uint256 had = balances[msg.sender];
        if (had < n) revert Insufficient(n, had); // at: movedBalance
        balances[msg.sender] = had - n;
    }

    function looped(uint256 n) public {
        for (uint256 i = 0; ; i++) {
            if (i == n) break;
            require(i < 3, "loop"); // at: loopedText
            kept += i;
        }
        require(n != 3, "loop"); // at: loopedAfter
    }

    function viaInternal(uint256 n) public {
        _a(n);
        _b(n);
    }

    function _a(uint256 n) internal {
        if (n == 0) revert Locked(); // at: internalA
        kept = n;
    }

    function _b(uint256 n) internal {
        if (n == 1) revert Locked(); // at: internalB
        kept = n + 1;
    }

    function sliced(bytes calldata given, uint256 n) public {
        kept = uint8(given[n]); // at: slicedIndex
        kept = uint256(bytes32(given[n:n + 1]));
    }

    function sent(uint256 n) public {
        payable(msg.sender).transfer(n); // at: sentCoin
    }

    function signed(uint256 n) public {
        int256 a = type(int256).min;
        if (n == 0) kept = uint256(-a); // at: negated
        if (n == 1) kept = uint256(a / -int256(n)); // at: dividedByMinusOne
        kept = uint8(n);
        kept = 2 ** n; // at: raised
        kept = n * type(uint256).max; // at: multiplied
    }

    function caughtBefore(uint256 n) public {
        try twin.check(n) {
            kept = n;
        } catch {
            kept = 5;
        }
        require(n != 0, "twin"); // at: caughtBefore
        if (kept == 5) _refuse(abi.encodeWithSignature("Error(string)", "same text"));
        kept = n;
    }

    function encoded(uint256 n) public {
        if (n == 0) _refuse(abi.encodeWithSelector(Locked.selector));
        if (n == 1) _refuse(abi.encodeWithSelector(Insufficient.selector, n, 7));
        if (n == 2) revert Insufficient(1, 7); // at: encodedOwn
        if (n == 3) revert Locked(); // at: encodedLocked
        kept = n;
    }

    function _refuse(bytes memory why) private pure {
        assembly {
            revert(add(why, 32), mload(why)) // at: refusedText, encodedFirst, encodedSecond
        }
    }

    receive() external payable {
        require(msg.value != 1, "receive"); // at: receiveText
        if (msg.value == 2) revert Free(msg.value); // at: receiveError
    }

    fallback() external payable {
        require(msg.data.length > 100, "fallback"); // at: fallbackText
        revert Free(100); // at: fallbackError
    }
}
