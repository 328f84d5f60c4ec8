// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// Lanterns whose names, traits and pictures are on the chain; they are lent, and given back.
contract Lanterns is ERC721 {
    using Strings for uint256;

    error TooDark(uint256 tokenId, uint256 brightness, uint256 needed);
    error NotYours(address caller, address owner);

    event Lit(uint256 indexed tokenId, uint256 brightness);

    mapping(uint256 => uint256) public brightness;

    constructor() ERC721("Night Market Lanterns", "LANTERN") {}

    function mint(address to, uint256 tokenId) external {
        brightness[tokenId] = 20 + (tokenId * 37) % 80;
        _mint(to, tokenId);
    }

    function light(uint256 tokenId, uint256 needed) external returns (uint256 used) {
        address owner = ownerOf(tokenId);
        if (owner != msg.sender) revert NotYours(msg.sender, owner);
        if (brightness[tokenId] < needed) revert TooDark(tokenId, brightness[tokenId], needed);
        brightness[tokenId] -= needed;
        emit Lit(tokenId, brightness[tokenId]);
        return needed;
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        string memory hue = ((tokenId * 47) % 360).toString();
        string memory picture = string.concat(
            "data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'>",
            "<rect width='100' height='100' fill='hsl(", hue, ",30%25,15%25)'/>",
            "<ellipse cx='50' cy='55' rx='26' ry='32' fill='hsl(", hue, ",80%25,60%25)'/>",
            "<path d='M38 20h24v6H38zM38 86h24v6H38z' fill='hsl(", hue, ",30%25,40%25)'/></svg>"
        );
        return string.concat(
            'data:application/json;utf8,{"name":"Lantern ', tokenId.toString(),
            '","description":"A lantern of the night market.","image":"', picture,
            '","attributes":[{"trait_type":"Brightness","value":', brightness[tokenId].toString(),
            '},{"trait_type":"Hue","value":', hue, "}]}"
        );
    }
}

/// Lights several lanterns at once, or none.
contract Procession {
    error WentDark(uint256 step);

    Lanterns public immutable lanterns;

    constructor(Lanterns lanterns_) {
        lanterns = lanterns_;
    }

    function march(uint256[] calldata tokenIds, uint256 needed) external {
        for (uint256 n = 0; n < tokenIds.length; n++) lanterns.light(tokenIds[n], needed);
    }

    function marchOrSay(uint256[] calldata tokenIds, uint256 needed) external {
        for (uint256 n = 0; n < tokenIds.length; n++) {
            try lanterns.light(tokenIds[n], needed) {} catch {
                revert WentDark(n);
            }
        }
    }
}
