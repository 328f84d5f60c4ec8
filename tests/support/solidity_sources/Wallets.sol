// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

/// A contract wallet (ERC-1271) for which every one of its owners has to sign.
contract SharedWallet {
    address[] private owners;

    constructor(address[] memory owners_) {
        owners = owners_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signatures) external view returns (bytes4) {
        if (signatures.length != 65 * owners.length) return 0xffffffff;
        for (uint256 i = 0; i < owners.length; i++) {
            bytes calldata one = signatures[65 * i:65 * i + 65];
            address signer = ecrecover(hash, uint8(one[64]), bytes32(one[:32]), bytes32(one[32:64]));
            if (signer != owners[i]) return 0xffffffff;
        }
        return this.isValidSignature.selector;
    }
}

/// Answers true, as wallets did before ERC-1271 settled on its magic value.
contract TruthfulWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bool) {
        return true;
    }
}

/// Refuses by reverting.
contract RevertingWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        revert("no");
    }
}

/// Burns all gas it is given.
contract EndlessWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        while (true) {}
        return 0x1626ba7e;
    }
}

/// Answers with more than anybody asked for.
contract TalkativeWallet {
    function isValidSignature(bytes32, bytes calldata) external pure {
        assembly {
            return(0, 1000000)
        }
    }
}
