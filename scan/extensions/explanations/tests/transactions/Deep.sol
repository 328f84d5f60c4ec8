// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Deep {
    function down(uint256 depth) external {
        if (depth == 0) {
            require(depth == 5, "bottom");
        } else {
            this.down(depth - 1);
        }
    }
    function many(uint256 count) external {
        for (uint256 i; i < count; i++) {
            try this.down(0) {} catch {}
        }
        require(count == 0, "many");
    }
}
