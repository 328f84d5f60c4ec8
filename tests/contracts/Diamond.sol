pragma solidity ^0.8.20;
struct Facets { address[] all; mapping(bytes4 => address) of_; }
library Stored {
    bytes32 constant AT = keccak256("diamond.standard.diamond.storage");
    function facets() internal pure returns (Facets storage f) {
        bytes32 at = AT; assembly { f.slot := at }
    }
}
contract Loupe {
    function facetAddresses() external view returns (address[] memory) {
        return Stored.facets().all;
    }
}
contract Other {
    event Grown(uint256 size);
    function grown(uint256 by) external pure returns (uint256) { return by + 1; }
    function grow(uint256 by) external { emit Grown(by); }
}
contract Diamond {
    constructor(address loupe, address other, address many) {
        Facets storage f = Stored.facets();
        f.all = [loupe, other, many];
        f.of_[Loupe.facetAddresses.selector] = loupe;
        f.of_[Other.grown.selector] = f.of_[Other.grow.selector] = other;
        f.of_[bytes4(keccak256("over(uint256)"))] = many;
    }
    function target(bytes4 selector) internal view returns (address) {
        return Stored.facets().of_[selector];
    }
    FALLBACK
}
