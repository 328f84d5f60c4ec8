type Price is uint128; type tag is bytes4; enum color { red, green } struct point { Price p; }
library Newer {
    function g1(Price p, tag t, tag[] memory u) external {}
    function g2(color[] memory c, point[2] calldata p) external {}
    function g3(mapping(Price => mapping(string name => bytes[])) storage m, color c) external {}
}
