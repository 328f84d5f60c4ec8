
library L1 { event Moved(address indexed from, address to, uint256 indexed id); }
library L2 { event Moved(address from, address indexed to, uint256 indexed id); }
library L3 { event Moved(address from, address to, uint256 id); }
contract Mixed {
    event Pay(address indexed who, uint256 value);
    function one() external { emit L1.Moved(address(1), address(2), 3); }
    function two() external { emit L2.Moved(address(1), address(2), 3); }
    function three() external { emit L3.Moved(address(1), address(2), 3); }
    function pay() external { emit L.Pay(address(1), 2**200); emit Text.E("a", "b"); }
}
library L { event Pay(address who, uint256 indexed value); }
library Text { event E(bytes a, bytes indexed b); }
contract Own is Mixed { event E(bytes indexed a, bytes b); }
