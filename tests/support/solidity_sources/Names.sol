// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

interface INames {
    function resolver(bytes32 node) external view returns (address);
    function name(bytes32 node) external view returns (string memory);
    function addr(bytes32 node) external view returns (address);
}

/// A universal resolver by the text of ENSIP-23, over a registry: no package has ENS's own one.
contract UniversalResolver {
    error ResolverNotFound(bytes name);
    error ResolverError(bytes errorData);
    error ReverseAddressMismatch(string primary, bytes primaryAddress);

    INames immutable registry;

    constructor(INames registry_) {
        registry = registry_;
    }

    function resolve(bytes calldata name, bytes calldata data)
        external
        view
        returns (bytes memory result, address resolver)
    {
        resolver = registry.resolver(_node(name, 0));
        if (resolver == address(0)) revert ResolverNotFound(name);
        result = _read(resolver, data);
    }

    function reverse(bytes calldata lookupAddress, uint256 coinType)
        external
        view
        returns (string memory primary, address resolver, address reverseResolver)
    {
        require(coinType == 60 && lookupAddress.length == 20);
        bytes32 node = keccak256(abi.encodePacked(_zone(), keccak256(_hex(lookupAddress))));
        reverseResolver = registry.resolver(node);
        if (reverseResolver == address(0)) return ("", address(0), address(0));
        primary = abi.decode(_read(reverseResolver, abi.encodeCall(INames.name, (node))), (string));
        if (bytes(primary).length == 0) return ("", address(0), reverseResolver);
        node = _dotted(bytes(primary));
        resolver = registry.resolver(node);
        if (resolver == address(0)) revert ResolverNotFound(bytes(primary));
        bytes memory found = _read(resolver, abi.encodeCall(INames.addr, (node)));
        address target = abi.decode(found, (address));
        if (target != address(bytes20(lookupAddress))) {
            revert ReverseAddressMismatch(primary, abi.encodePacked(target));
        }
    }

    function _read(address resolver, bytes memory data) private view returns (bytes memory) {
        (bool success, bytes memory result) = resolver.staticcall(data);
        if (success) return result;
        if (bytes4(result) == Offchain.OffchainLookup.selector) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
        revert ResolverError(result);
    }

    /// Of a name as DNS encodes it.
    function _node(bytes calldata name, uint256 at) private pure returns (bytes32) {
        uint256 size = uint8(name[at]);
        if (size == 0) return 0;
        bytes32 parent = _node(name, at + 1 + size);
        return keccak256(abi.encodePacked(parent, keccak256(name[at + 1:at + 1 + size])));
    }

    function _dotted(bytes memory name) private pure returns (bytes32 node) {
        uint256 end = name.length;
        for (uint256 at = name.length; at > 0; at--) {
            if (at == 1 || name[at - 2] == ".") {
                bytes memory label = new bytes(end - at + 1);
                for (uint256 i = 0; i < label.length; i++) label[i] = name[at - 1 + i];
                node = keccak256(abi.encodePacked(node, keccak256(label)));
                end = at < 2 ? 0 : at - 2;
            }
        }
    }

    function _zone() private pure returns (bytes32) {
        bytes32 reverse_ = keccak256(abi.encodePacked(bytes32(0), keccak256("reverse")));
        return keccak256(abi.encodePacked(reverse_, keccak256("addr")));
    }

    function _hex(bytes calldata value) private pure returns (bytes memory text) {
        text = new bytes(40);
        bytes16 digits = "0123456789abcdef";
        for (uint256 i = 0; i < 20; i++) {
            text[2 * i] = digits[uint8(value[i]) >> 4];
            text[2 * i + 1] = digits[uint8(value[i]) & 15];
        }
    }
}

/// A resolver whose names other hosts keep (EIP-3668).
contract Offchain {
    error OffchainLookup(
        address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData
    );

    fallback() external {
        string[] memory urls = new string[](1);
        urls[0] = "https://names.example/{sender}/{data}.json";
        revert OffchainLookup(address(this), urls, msg.data, this.callback.selector, "");
    }

    function callback(bytes calldata, bytes calldata) external {}
}

/// A resolver that answers anything with the same bytes.
contract Parrot {
    bytes answer;

    function say(bytes calldata answer_) external {
        answer = answer_;
    }

    fallback() external {
        bytes memory said = answer;
        assembly {
            return(add(said, 32), mload(said))
        }
    }
}
