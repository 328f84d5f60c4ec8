pragma solidity ^0.8.0;
import "hardhat/console.sol";
library Rates {
    function rate(uint256 x) internal pure returns (uint256) {
        console.log("rate of %d", x);
        return x;
    }
}
contract Vault {
    constructor() {
        console.log("made by", msg.sender);
    }
    function pass(address to, uint256 value, uint256 times, bytes calldata data) external payable {
        for (uint256 n = 0; n < times; n++) {
            (bool done, ) = to.call{value: value}(data);
            require(done);
        }
        require(value > 0, "enough");
    }
    function take(uint256 x) external pure {
        console.log("taking", Rates.rate(x), true);
        console.log("<b>\u0000", x);
        require(x < 5, "too much");
    }
}
