pragma solidity ^0.8.0;
contract Grandchild { uint256 public constant number = NUMBER; }
contract Child {
    uint256 public immutable kept;
    string public name;
    Grandchild public made;
    constructor(uint256 first, string memory text) { kept = first; name = text; }
    function make() external { made = new Grandchild(); }
}
contract Inner { uint256 public age = NUMBER + 1; }
contract Factory {
    address public last;
    Inner public inner = new Inner();
    function make(uint256 first) external { last = address(new Child(first, "made")); }
    function create(bytes memory code) external {
        address made;
        assembly { made := create(0, add(code, 32), mload(code)) }
        require(made != address(0));
        last = made;
    }
}
