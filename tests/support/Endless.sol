pragma experimental SMTChecker;
contract A {
    function fermat(uint x, uint y, uint z) public pure {
        require(x > 2 && y > 2 && z > 2 && x < 1000000 && y < 1000000 && z < 1000000);
        assert(x * x * x + y * y * y != z * z * z);
    }
}
