// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

interface INames {
    function resolver(bytes32 node) external view returns (address);
    function name(bytes32 node) external view returns (string memory);
    function addr(bytes32 node) external view returns (address);
}

struct Lookup {
    address sender;
    string[] urls;
    bytes data;
}

interface IBatch {
    function query(Lookup[] calldata lookups)
        external
        view
        returns (bool[] memory failures, bytes[] memory responses);
}

/// A universal resolver by the text of ENSIP-23, over a registry: no package has ENS's own one.
/// What other hosts keep it lets the client look up as a batch (ENSIP-21).
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
        result = _read(resolver, data, this.resolveCallback.selector, "");
    }

    function resolveCallback(bytes calldata response, bytes calldata extra)
        external
        view
        returns (bytes memory result, address resolver)
    {
        (result, resolver,) = _continued(response, extra, this.resolveCallback.selector);
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
        bytes memory named =
            _read(reverseResolver, abi.encodeCall(INames.name, (node)), bytes4(0), "");
        primary = abi.decode(named, (string));
        if (bytes(primary).length == 0) return ("", address(0), reverseResolver);
        node = _dotted(bytes(primary));
        resolver = registry.resolver(node);
        if (resolver == address(0)) revert ResolverNotFound(bytes(primary));
        bytes memory found = _read(
            resolver,
            abi.encodeCall(INames.addr, (node)),
            this.reverseCallback.selector,
            abi.encode(primary, address(bytes20(lookupAddress)))
        );
        _compare(found, primary, address(bytes20(lookupAddress)));
    }

    function reverseCallback(bytes calldata response, bytes calldata extra)
        external
        view
        returns (string memory primary, address resolver, address reverseResolver)
    {
        (bytes memory found, address of_, bytes memory kept) =
            _continued(response, extra, this.reverseCallback.selector);
        address owner;
        (primary, owner) = abi.decode(kept, (string, address));
        _compare(found, primary, owner);
        return (primary, of_, of_);
    }

    function _compare(bytes memory found, string memory primary, address owner) private pure {
        address target = abi.decode(found, (address));
        if (target != owner) revert ReverseAddressMismatch(primary, abi.encodePacked(target));
    }

    function _read(address resolver, bytes memory data, bytes4 callback, bytes memory kept)
        private
        view
        returns (bytes memory)
    {
        (bool success, bytes memory result) = resolver.staticcall(data);
        if (success) return result;
        if (bytes4(result) == Offchain.OffchainLookup.selector && callback != 0) {
            _look(resolver, result, callback, kept);
        }
        revert ResolverError(result);
    }

    /// The client looks up what a resolver asks for, and calls back.
    function _look(address resolver, bytes memory reverted, bytes4 callback, bytes memory kept)
        private
        view
    {
        bytes memory body = new bytes(reverted.length - 4);
        for (uint256 i = 0; i < body.length; i++) body[i] = reverted[i + 4];
        (address sender, string[] memory urls, bytes memory data, bytes4 inner, bytes memory extra) =
            abi.decode(body, (address, string[], bytes, bytes4, bytes));
        Lookup[] memory lookups = new Lookup[](1);
        lookups[0] = Lookup(sender, urls, data);
        string[] memory local = new string[](1);
        local[0] = "x-batch-gateway:true";
        revert Offchain.OffchainLookup(
            address(this),
            local,
            abi.encodeCall(IBatch.query, (lookups)),
            callback,
            abi.encode(resolver, inner, extra, kept)
        );
    }

    function _continued(bytes calldata response, bytes calldata extra, bytes4 callback)
        private
        view
        returns (bytes memory result, address resolver, bytes memory kept)
    {
        (bool[] memory failures, bytes[] memory responses) =
            abi.decode(response, (bool[], bytes[]));
        bytes4 inner;
        bytes memory passed;
        (resolver, inner, passed, kept) = abi.decode(extra, (address, bytes4, bytes, bytes));
        if (failures[0]) revert ResolverError(responses[0]);
        result = _read(
            resolver, abi.encodeWithSelector(inner, responses[0], passed), callback, kept
        );
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

/// A resolver whose names other hosts keep (EIP-3668). `depth` lookups are made, one after another.
contract Offchain {
    error OffchainLookup(
        address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData
    );

    string[] urls;
    address sender;
    uint256 depth;

    constructor(string[] memory urls_, address sender_, uint256 depth_) {
        urls = urls_;
        sender = sender_ == address(0) ? address(this) : sender_;
        depth = depth_;
    }

    fallback() external {
        revert OffchainLookup(sender, urls, msg.data, this.callback.selector, abi.encode(1));
    }

    /// Returns what the host answered, as if it were stored here.
    function callback(bytes calldata response, bytes calldata extra) external view {
        uint256 made = abi.decode(extra, (uint256));
        if (made < depth) {
            revert OffchainLookup(
                sender, urls, response, this.callback.selector, abi.encode(made + 1)
            );
        }
        bytes memory said = response;
        assembly {
            return(add(said, 32), mload(said))
        }
    }
}

/// A resolver of all names below its own (ENSIP-10): every one leads to an address, which has the
/// name that it is asked for; other hosts keep those of labels that begin with "x".
contract Wildcard {
    address target;
    string primary;
    bool isExtended;

    constructor(address target_, string memory primary_, bool isExtended_) {
        target = target_;
        primary = primary_;
        isExtended = isExtended_;
    }

    function supportsInterface(bytes4 id) external view returns (bool) {
        return isExtended && id == this.resolve.selector;
    }

    function resolve(bytes calldata name, bytes calldata data)
        external
        view
        returns (bytes memory)
    {
        if (name[1] == "x") {
            revert Offchain.OffchainLookup(address(this), new string[](1), data, 0, "");
        }
        require(_node(name, 0) == bytes32(data[4:36]));
        if (bytes4(data) == INames.name.selector) return abi.encode(primary);
        require(bytes4(data) == INames.addr.selector);
        return abi.encode(target);
    }

    function _node(bytes calldata name, uint256 at) private pure returns (bytes32) {
        uint256 size = uint8(name[at]);
        if (size == 0) return 0;
        bytes32 parent = _node(name, at + 1 + size);
        return keccak256(abi.encodePacked(parent, keccak256(name[at + 1:at + 1 + size])));
    }
}

/// The reverse registrar of an L2 (ENSIP-19), by its interface.
contract ReverseRegistrarOfL2 {
    mapping(address => string) public nameForAddr;

    function setName(string calldata name) external {
        nameForAddr[msg.sender] = name;
    }
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
