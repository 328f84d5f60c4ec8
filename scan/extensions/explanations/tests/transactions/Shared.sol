// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

error Free(uint256 n);
string constant WORDS = "by a constant";

function freely(uint256 n) pure {
    if (n < 7) revert Free(n); // at: free
}

library Inside {
    function check(uint256 n) internal pure {
        require(n > 5, "inside of a library"); // at: internalLibrary
    }
}

library Outside {
    function check(uint256 n) external pure {
        require(n > 5, "outside"); // at: externalLibrary
    }
}

abstract contract Base {
    bool public paused;
    uint256 public value;
    error Owner(address who, uint256 n);

    modifier live() {
        require(!paused, "paused");
        _;
    }

    modifier sane(uint256 n) {
        require(n > 4, "not sane"); // at: inModifier, inModifierToo
        _;
    }

    modifier after_() {
        _;
        require(value != 77, "after"); // at: afterBody
    }

    function inherited(uint256 n) public virtual {
        require(n > 5, "inherited"); // at: inherited, overridden
        value = n;
    }

    function overridden(uint256 n) public virtual {
        inherited(n);
    }

    function hook(uint256 n) internal virtual {
        require(n > 50, "the base's hook");
        value = n;
    }

    function hooked(uint256 n) public {
        hook(n);
    }
}
