pragma solidity ^0.8.4;
error Loose(uint256 n);
function freely(uint256 n, uint256 own) pure {
    if (n == own) revert Loose(n); // free
}
library Checks {
    function check(uint256 n, uint256 own) internal pure {
        require(n != own, "no"); // library
    }
}
contract Child {
    constructor(uint256 n, uint256 own) {
        require(n != own, "not now");
    }
    function ping() external {}
}
abstract contract Base {
    uint256 kept;
    function hooked(uint256 n, uint256 own) internal virtual {
        require(n != own, "no"); // base
        kept = own;
    }
}
contract Drawn is Base {
    using Checks for uint256;
    struct Inner { uint256 a; }
    struct Pair { Inner inner; uint256 b; }
    enum Kind { A, B }
    Pair[] pairs;
    uint256[] list;
    error Zero();
    error Other();
    error Odd(uint256 n);
    modifier sane(uint256 n) {
        require(n != 50, "no"); // 50
        _;
        if (n == 51) revert Zero(); // 51
    }
    function _shared(uint256 n, uint256 own) internal {
        require(n != own, "not now"); // shared
        kept = own;
    }
    function hooked(uint256 n, uint256 own) internal override {
        super.hooked(n, own);
        if (n > 1000) kept = n;
    }
    modifier guarded(uint256 n, uint256 own) {
        require(n != own, "not now"); // guard
        _;
    }
    function _guarded(uint256 n, uint256 own) internal guarded(n, own) { kept = own; }
    function boom() external { if (kept + 1 > 0) revert Other(); kept = 3; } // boom
    function _computed(uint256 n) internal view returns (uint256) {
        if (n + kept + 1 > 0) revert Zero(); // computed
        return n;
    }
    function _allow(uint256 n) internal { kept = n; }
    function _refuse(uint256 n) internal { kept = n; revert Odd(n); } // pointed
    function _pointed(function(uint256) internal run, uint256 n) internal { run(n); }
}
