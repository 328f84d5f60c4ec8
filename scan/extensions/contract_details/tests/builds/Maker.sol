
pragma solidity ^0.8.20;
contract Maker {
    function make(address blueprint, uint256 step) external returns (address made) {
        bytes memory code = abi.encodePacked(_after_preamble(blueprint), step);
        assembly { made := create(0, add(code, 32), mload(code)) }
        require(made != address(0));
    }
    function _after_preamble(address blueprint) private view returns (bytes memory code) {
        uint256 size = blueprint.code.length - 3;
        code = new bytes(size);
        assembly { extcodecopy(blueprint, add(code, 32), 3, size) }
    }
}
