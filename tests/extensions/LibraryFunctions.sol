import "./types.sol";
import {Outer as Alias, IERC as I} from "./types.sol";
library L {
    enum E { a, b, c }
    struct S { uint256 a; address b; E e; }
    struct Nest { S[] s; mapping(uint256 => S) m; Outer.E md; }
    struct Mem { S[2] s; bytes b; Base.In[] p; Outer.color c; token[2][] t; }
    event Seen(uint256 value);
    struct A { uint256 price; uint256 amount; }
    struct B { address owner; uint256 id; }
    function add(A memory a) public pure returns (uint256) { return a.price; }
    function add(B memory b) public { emit Seen(b.id); }
    function f01(Outer.color c) public {}
    function f02(Outer.color[] memory c) public {}
    function f03(token t, token[3] memory u) public pure returns (token, Outer.color[] memory) {}
    function f04(mapping(uint256 => uint256) storage m, I t, Alias.E e) public {}
    function f05(mapping(address => mapping(bytes32 => S)) storage m, Base.E t) public {}
    function f06(S storage s, S memory t) public {}
    function f07(S[] storage s, Mem memory t, Outer.color x) public {}
    function f08(Nest storage s, Outer.E e, Outer.S memory os, Base.In[2][] memory b) public {}
    function f09(bytes storage s, string storage t, bytes memory z) public {}
    function f10(function(uint256) external view returns (bool) f, address payable p) public {}
    function f11(E e) public pure returns (E) { return e; }
    function f11(Outer.E e) public pure returns (Outer.E) { return e; }
    function f11(Base.E e) public {}
    function f12(S memory e) public {}
    function f12(Outer.S memory e) public pure {}
    function f12(Base.S memory e) public {}
    function f12(S storage e) public {}
    function f12(Outer.S storage e) public {}
    function f12(Base.S storage e) public view returns (address) { return e.b; }
    function f13(Alias.S[][2] memory e, I[][] memory q) public {}
    function f14(uint256[3][] storage a, S[2] storage s, address[] storage z) public {}
    function f15(function(uint256[] memory) external[2] memory f, Outer o, Outer[] memory p) public {}
    function hidden(S memory s) internal {}
}
library Other { struct A { bool flag; } function add(A memory a) public {} }
contract Use {
    mapping(uint256 => uint256) m;
    function go(uint256 id) public { L.add(L.B(msg.sender, id)); }
    function pull() public { L.f04(m, IERC(address(7)), Outer.E.y); }
}
