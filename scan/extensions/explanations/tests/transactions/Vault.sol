pragma solidity ^0.8.19;

type Wad is uint128;
using {addWads as +} for Wad global;
error WadOverflow(); error Failed(uint256 code); error NotOwner(address who);
function addWads(Wad a, Wad b) pure returns (Wad) {
    if (Wad.unwrap(a) > 99) revert WadOverflow(); // at: operator
    return Wad.wrap(Wad.unwrap(a) + Wad.unwrap(b));
}
function least(uint256 a) pure returns (uint256) {
    require(a > 3, "too little"); // at: free
    return a;
}
library Casts {
    error OutOfRange(uint8 bits, uint256 value);
    function to8(uint256 v) internal pure returns (uint8) {
        if (v > 255) revert OutOfRange(8, v); // at: cast8
        return uint8(v);
    }
    function to16(uint256 v) internal pure returns (uint16) {
        if (v > 65535) revert OutOfRange(16, v); // at: cast16
        return uint16(v);
    }
}
library Addresses {
    error FailedCall();
    function invoke(address to, bytes memory data) internal returns (bytes memory) {
        (bool ok, bytes memory back) = to.call(data);
        if (!ok) {
            if (back.length == 0) revert FailedCall(); // at: failedCall
            assembly { revert(add(back, 32), mload(back)) } // at: bubbled
        }
        return back;
    }
}
abstract contract Owned {
    address owner = msg.sender; bool locked;
    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender); // at: owner
        _;
    }
    modifier nonReentrant() {
        require(!locked, "locked"); // at: locked
        locked = true;
        _;
        locked = false;
    }
    modifier atLeast(uint256 n, uint256 floor) {
        require(n >= floor, "too little"); // at: floor
        _;
    }
    function _before(uint256 n) internal virtual { if (n == 1) revert Failed(1); } // at: base
    function hook(uint256 n) public virtual { _before(n); }
}
contract Child {
    uint256 immutable kind;
    constructor(uint256 n) { require(n != 2, "no child"); kind = n; }
    function act(uint256 n) external pure returns (uint256) {
        if (n == 1) revert("no");
        if (n == 2) { uint256[] memory a = new uint256[](1); return a[n]; }
        if (n == 3) assembly { revert(0, 0) }
        return n;
    }
}
contract Vault is Owned {
    using Casts for uint256; using Addresses for address;
    struct Item { uint128 a; uint64[] parts; }
    enum Kind { A, B, C }
    Child child = new Child(0);
    uint256 total; uint256[] list; Item[] items; mapping(uint256 => Item) kept; Kind kind; bytes data; int256 signed;
    function(uint256) internal returns (uint256) pointer;
    function _before(uint256 n) internal override {
        super._before(n);
        if (n == 2) revert Failed(2); // at: override
    }
    function operator_(uint256) external returns (uint256) { total = Wad.unwrap(Wad.wrap(100) + Wad.wrap(1)); return total; }
    function free_(uint256) external { total = least(2) + least(7); }
    function cast8_(uint256) external { total = uint256(300).to8() + uint256(3).to16(); }
    function cast16_(uint256 n) external { total = (n + 3).to8() + (n + 70000).to16(); }
    function failedCall_(uint256 n) external { address(child).invoke(abi.encodeCall(Child.act, (n + 3))); }
    function owner_(uint256 n) external nonReentrant onlyOwner { total = n; }
    function locked_(uint256 n) external nonReentrant { total = n; this.locked_(n); }
    function floor_(uint256 n) external atLeast(n, 1) atLeast(n + 5, 4) { total = n; }
    function base_(uint256 n) external { hook(n + 1); }
    function override_(uint256 n) external { hook(n + 2); }
    function childMade_(uint256 n) external { new Child(n + 2); } // at: childMade
    function childAct_(uint256 n) external { total = child.act(n + 1); } // at: childAct
    function childPanic_(uint256 n) external { total = child.act(n + 2); } // at: childPanic
    function childEmpty_(uint256 n) external { total = child.act(n + 3); } // at: childEmpty
    function pop_(uint256) external { list.pop(); } // at: pop
    function element_(uint256 n) external { total = list[n]; } // at: element
    function member_(uint256 n) external { total = kept[n].parts[3]; } // at: member
    function memory_(uint256 n) external { uint64[3] memory a; total = a[n + 3]; } // at: memory
    function slice_(bytes calldata b) external { data = b[5:]; } // at: slice
    function byte_(uint256 n) external { total = uint8(data[n]); } // at: byte
    function enum_(uint256 n) external { kind = Kind(n + 3); } // at: enum
    function modulo_(uint256 n) external { total = 7 % n; } // at: modulo
    function addmod_(uint256 n) external { total = addmod(1, 2, n); } // at: addmod
    function sub_(uint256 n) external { total = n - 1; } // at: sub
    function mul_(uint256 n) external { total = (n + 2) * type(uint256).max; } // at: mul
    function power_(uint256 n) external { total = (n + 2) ** 300; } // at: power
    function negate_(uint256 n) external { signed = -(type(int256).min + int256(n)); } // at: negate
    function divide_(uint256 n) external { signed = type(int256).min / (int256(n) - 1); } // at: divide
    function increment_(uint256 n) external { uint8 a = 255 - uint8(n); a++; total = a; } // at: increment
    function pointer_(uint256 n) external { total = pointer(n); } // at: pointer
    function decode_(uint256 n) external { total = abi.decode(abi.encode(n + 2) , (bool)) ? 1 : 2; } // at: decode
    function allocate_(uint256 n) external { total = new uint256[](type(uint256).max - n).length; } // at: allocate
    function loop_(uint256 n) external { for (uint256 i = n; i < 9; i++) {
        require(i != 4, "four"); // at: loop
        total += i; } }
    function lines_(uint256 n) external {
        require( // at: lines
            n > 0 && n < 100,
            "out of bounds"
        ); total = n; }
    function ternary_(uint256 n) external { if (n < 3) revert Failed(n > 1 ? 5 : 6); total = n; } // at: ternary
    function firstOfTwo_(uint256 n) external {
        if (n == 0) revert Failed(10); // at: firstOfTwo
        if (n == 1) revert Failed(11); total = n; }
    function unchecked_(uint256 n) external { unchecked { total = n - 1; } assert(total == 0); } // at: unchecked
    function caught_(uint256 n) external {
        try child.act(n + 1) returns (uint256 v) { total = v; }
        catch Error(string memory why) { require(bytes(why).length > 5, why); } // at: caught
    }
    function rethrown_(uint256 n) external {
        try child.act(n + 2) returns (uint256 v) { total = v; }
        catch Panic(uint256 code) { revert Failed(code); } // at: rethrown
    }
    function noCode_(uint256 n) external { total = Child(address(uint160(n + 77777))).act(9); } // at: noCode
    function words_(uint256 n) external { if (n == 0) { revert(string.concat("n", "o")); } total = n; } // at: words
    function inner_(uint256 n) external { total = _inner(n) + 1; }
    function _inner(uint256 n) private pure returns (uint256) {
        require(n != 0, "inner"); // at: inner
        return n * 3;
    }
    function bubbled_(uint256 n) external { address(child).invoke(abi.encodeCall(Child.act, (n + 1))); }
    function send_(uint256 n) external { payable(address(child)).transfer(n); } // at: send
}
