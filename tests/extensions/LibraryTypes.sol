interface IERC { function q() external; }
interface token { function t() external; }
contract Outer { enum color { red, green } enum E { x, y } struct S { uint256 a; E e; } }
contract Base { enum E { p, q } struct In { uint256 z; } struct S { address b; } }
