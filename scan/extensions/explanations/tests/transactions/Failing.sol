// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// Words of other files are no code: function wrong() { }
library Checks {
    error TooLarge(uint256 given, uint256 most);
    function atMost(uint256 given, uint256 most) internal pure {
        if (given > most) {
            revert TooLarge(given, most); // fails: library
        }
    }
}

contract Inner {
    uint256 public immutable most;
    constructor(uint256 given) { most = given; }
    function refuse(uint256 given) external view {
        require(given <= most, "more than the most"); // fails: inner
    }
    function write() external returns (uint256) {
        assembly { sstore(0, 1) } // fails: static
        return 1;
    }
    function consume() external pure {
        while (true) { } // fails: innerGas
    }
}

interface Unknown { function unknown() external; function number() external returns (uint256); }

contract Failing {
    enum Kind { One, Two }
    uint256[] public list;
    mapping(uint256 => uint256) public map;
    address public owner;
    Inner public inner;
    bytes public blob;
    error Plain();
    error Named(address who, string why);
    event Happened(uint256 indexed what);

    constructor(Inner given) { inner = given; owner = address(this); }

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner"); // fails: modifier
        _;
    }

    function text(uint256 n) external pure {
        require(n == 1, unicode"ä is not 1"); // fails: text
    }
    function bare(uint256 n) external pure {
        /* a comment { */ require(n == 1); // fails: bare
    }
    function plainRevert(uint256 n) external pure {
        if (n != 1) {
            revert(); // fails: plainRevert
        }
    }
    function revertText(uint256 n) external pure {
        if (n != 1) revert("no { braces"); // fails: revertText
    }
    function custom(uint256 n) external pure {
        if (n != 1) revert Plain(); // fails: custom
    }
    function named(uint256 n) external view {
        string memory why = "because";
        if (n != 1) revert Named(msg.sender, why); // fails: named
    }
    function asserted(uint256 n) external pure {
        assert(n == 1); // fails: asserted
    }
    function add(uint256 n) external pure returns (uint256) {
        uint256 most = type(uint256).max;
        return most + n + 1; // fails: add
    }
    function subtract(uint256 n) external pure returns (uint256) {
        uint256 small = 0;
        return small - n - 1; // fails: subtract
    }
    function multiply(uint256 n) external pure returns (uint256) {
        return (n + 2) * type(uint256).max; // fails: multiply
    }
    function power(uint256 n) external pure returns (uint256) {
        return (n + 2) ** 256; // fails: power
    }
    function divide(uint256 n) external pure returns (uint256) {
        return 5 / n; // fails: divide
    }
    function modulo(uint256 n) external pure returns (uint256) {
        return 5 % n; // fails: modulo
    }
    function negate(uint256 n) external pure returns (int256) {
        int256 least = type(int256).min + int256(n);
        return -least; // fails: negate
    }
    function small(uint256 n) external pure returns (uint8) {
        uint8 a = uint8(n) + 250;
        return a + 10; // fails: small
    }
    function element(uint256 n) external view returns (uint256) {
        return list[n]; // fails: element
    }
    function memoryElement(uint256 n) external pure returns (uint256) {
        uint256[] memory own = new uint256[](n);
        return own[n]; // fails: memoryElement
    }
    function fixedElement(uint256 n) external pure returns (uint256) {
        uint256[3] memory own = [uint256(1), 2, 3];
        return own[n + 3]; // fails: fixedElement
    }
    function byteAt(uint256 n) external view returns (bytes1) {
        return blob[n]; // fails: byteAt
    }
    function pop(uint256) external {
        list.pop(); // fails: pop
    }
    function convert(uint256 n) external pure returns (Kind) {
        return Kind(n + 2); // fails: convert
    }
    function allocate(uint256 n) external pure returns (uint256) {
        uint256[] memory large = new uint256[](n + 2 ** 65); // fails: allocate
        return large.length;
    }
    function pointer(uint256 n) external pure returns (uint256) {
        function(uint256) internal pure returns (uint256) unset;
        return unset(n); // fails: pointer
    }
    function absent(uint256) external {
        Unknown(address(0xdead)).unknown(); // fails: absent
    }
    function notThere(uint256) external {
        Unknown(address(inner)).unknown(); // fails: notThere
    }
    function passOn(uint256 n) external view {
        inner.refuse(n + 1000); // fails: passOn
    }
    function caught(uint256 n) external {
        try inner.refuse(n + 1000) { } catch { }
        emit Happened(n);
        require(n == 1, "after the caught one"); // fails: caught
    }
    function lowLevel(uint256) external {
        (bool ok,) = address(inner).call(abi.encodeCall(Inner.refuse, (1000)));
        require(ok, "the call failed"); // fails: lowLevel
    }
    function transferred(uint256) external {
        payable(address(inner)).transfer(1); // fails: transferred
    }
    function inModifier(uint256) external onlyOwner { }
    function inLibrary(uint256 n) external pure {
        Checks.atMost(n + 10, 5);
    }
    function inPrivate(uint256 n) external pure {
        _one(n);
    }
    function _one(uint256 n) private pure { _two(n); }
    function _two(uint256 n) private pure {
        require(n == 1, "private"); // fails: inPrivate
    }
    function decoded(uint256) external pure returns (address) {
        bytes memory wrong = hex"00ff";
        return abi.decode(wrong, (address)); // fails: decoded
    }
    function sliced(uint256 n) external pure returns (bytes memory) {
        return msg.data[n + 1000:]; // fails: sliced
    }
    function created(uint256) external {
        new Refusing(false); // fails: created
    }
    function assembled(uint256) external pure {
        assembly {
            mstore(0, 7)
            revert(0, 32) // fails: assembled
        }
    }
    function invalid(uint256) external pure {
        assembly {
            invalid() // fails: invalid
        }
    }
    function gas(uint256) external pure returns (uint256 sum) {
        for (uint256 i = 0; ; i++) {
            sum += i; // fails: gas
        }
    }
    function delegated(uint256) external {
        (bool ok, bytes memory returned) = address(inner).delegatecall(hex"deadbeef");
        if (!ok) {
            assembly { revert(add(returned, 32), mload(returned)) } // fails: delegated
        }
    }
    function reentered(uint256 n) external view {
        this.text(n); // fails: reentered
    }
    function wrongType(bool given) external pure returns (bool) { // fails: wrongType
        return given;
    }
    function notPayable(uint256) external pure returns (uint256) { // fails: notPayable
        return 1;
    }
}

contract Refusing {
    constructor(bool accepts) { require(accepts, "refused"); }
}
