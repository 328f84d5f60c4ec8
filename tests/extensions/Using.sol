library Of {
    event Made(uint256 n);
    enum Kind { One }
    function f(uint256 n) public { emit Made(n); }
}
contract Using { Of.Kind public kind; function make() public { Of.f(4712); } }
