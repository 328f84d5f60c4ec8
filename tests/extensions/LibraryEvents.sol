library L {
    event Moved(address indexed from, address to, uint256 indexed id);
    function move() internal { Inner.move(); }
}
library Inner {
    event Moved(address indexed from, address to, uint256 indexed id);
    function move() public { emit Moved(address(1), address(2), 3); }
}
library Unused {
    event Moved(address indexed from, address indexed to, uint256 id);
    function three() internal pure returns (uint256) { return 3; }
    function move() internal { emit Moved(address(1), address(2), three()); }
    function moveElsewhere() public { move(); }
}
contract Alone {
    using Unused for *;
    event Moved(address from, address indexed to, uint256 indexed id);
    function two() public { emit Moved(address(1), address(2), Unused.three()); }
}
contract Base { function one() public { L.move(); } }
contract User is Base {
    event Moved(address from, address indexed to, uint256 indexed id);
    function two() public { emit Moved(address(1), address(2), Unused.three()); }
}
