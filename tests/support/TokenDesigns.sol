// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Well-known designs of tokens: OpenZeppelin's own, and small ones in the manner of others.

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {ERC20FlashMint} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20FlashMint.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC20Votes} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Votes.sol";
import {ERC20Wrapper} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Wrapper.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {ERC721Consecutive} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Consecutive.sol";
import {ERC721Enumerable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Enumerable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Supply} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Supply.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";

contract Plain is ERC20("Plain", "PLN"), ERC20Burnable {
    function mint(address to, uint256 value) external { _mint(to, value); }
}

contract Votes is ERC20("Votes", "VOT"), ERC20Permit("Votes"), ERC20Votes {
    function mint(address to, uint256 value) external { _mint(to, value); }
    function _update(address f, address t, uint256 v) internal override(ERC20, ERC20Votes) { super._update(f, t, v); }
    function nonces(address o) public view override(ERC20Permit, Nonces) returns (uint256) { return super.nonces(o); }
}

contract Flash is ERC20("Flash", "FLA"), ERC20FlashMint {
    function mint(address to, uint256 value) external { _mint(to, value); }
}

contract Wrapped is ERC20("Wrapped", "WRP"), ERC20Wrapper {
    constructor(IERC20 coin) ERC20Wrapper(coin) {}
    function decimals() public view override(ERC20, ERC20Wrapper) returns (uint8) { return super.decimals(); }
}

contract Shares is ERC20("Shares", "SHR"), ERC4626 {
    constructor(IERC20 coin) ERC4626(coin) {}
    function decimals() public view override(ERC20, ERC4626) returns (uint8) { return super.decimals(); }
}

contract Counted is ERC721("Counted", "CNT"), ERC721Burnable {
    uint256 public totalSupply; // ever minted
    function mint(address to) external { _mint(to, ++totalSupply); }
}

contract Enumerated is ERC721("Enumerated", "ENU"), ERC721Enumerable {
    function mint(address to, uint256 id) external { _mint(to, id); }
    function _update(address t, uint256 i, address a) internal override(ERC721, ERC721Enumerable) returns (address) { return super._update(t, i, a); }
    function _increaseBalance(address a, uint128 n) internal override(ERC721, ERC721Enumerable) { super._increaseBalance(a, n); }
    function supportsInterface(bytes4 i) public view override(ERC721, ERC721Enumerable) returns (bool) { return super.supportsInterface(i); }
}

contract Batches is ERC721("Batches", "BAT"), ERC721Consecutive {
    constructor() { _mintConsecutive(msg.sender, 40); }
    function _update(address t, uint256 i, address a) internal override(ERC721, ERC721Consecutive) returns (address) { return super._update(t, i, a); }
    function _ownerOf(uint256 i) internal view override(ERC721, ERC721Consecutive) returns (address) { return super._ownerOf(i); }
}

contract Editions is ERC1155(""), ERC1155Supply {
    function mint(address to, uint256 id, uint256 n) external { _mint(to, id, n, ""); }
    function _update(address f, address t, uint256[] memory i, uint256[] memory v) internal override(ERC1155, ERC1155Supply) { super._update(f, t, i, v); }
}

abstract contract Fungible {
    uint8 public constant decimals = 18;
    mapping(address => mapping(address => uint256)) public allowance;
    event Transfer(address indexed from, address indexed to, uint256 value);
}

/// Solmate's, and with its slots computed Solady's: unchecked sums, no zero-address checks.
contract Solmate is Fungible {
    string public name = "Solmate"; string public symbol = "SOL";
    uint256 public totalSupply; mapping(address => uint256) public balanceOf;
    function mint(address to, uint256 v) external { totalSupply += v; unchecked { balanceOf[to] += v; } emit Transfer(address(0), to, v); }
    function burn(uint256 v) external { balanceOf[msg.sender] -= v; unchecked { totalSupply -= v; } emit Transfer(msg.sender, address(0), v); }
    function transfer(address to, uint256 v) external returns (bool) { balanceOf[msg.sender] -= v; unchecked { balanceOf[to] += v; } emit Transfer(msg.sender, to, v); return true; }
}

contract Solady is Fungible {
    string public name = "Solady"; string public symbol = "SDY";
    uint256 public totalSupply;
    function _slot(address a) private pure returns (uint256 s) { assembly { mstore(0x0c, 0x87a211a2) mstore(0x00, a) s := keccak256(0x0c, 0x20) } }
    function balanceOf(address a) public view returns (uint256 b) { uint256 s = _slot(a); assembly { b := sload(s) } }
    function _add(address a, uint256 v) private { uint256 s = _slot(a); assembly { sstore(s, add(sload(s), v)) } }
    function mint(address to, uint256 v) external { totalSupply += v; _add(to, v); emit Transfer(address(0), to, v); }
    function transfer(address to, uint256 v) external returns (bool) { require(balanceOf(msg.sender) >= v); unchecked { _add(msg.sender, 0 - v); } _add(to, v); emit Transfer(msg.sender, to, v); return true; }
}

/// Lido's: balances are shares of a pool, rounded down, and change with the pool without Transfers.
contract Steth is Fungible {
    string public name = "Liquid staked"; string public symbol = "stETX";
    mapping(address => uint256) public sharesOf; uint256 public totalShares; uint256 public pooled;
    event TransferShares(address indexed from, address indexed to, uint256 shares);
    function totalSupply() external view returns (uint256) { return pooled; }
    function balanceOf(address a) public view returns (uint256) { return totalShares == 0 ? 0 : sharesOf[a] * pooled / totalShares; }
    function mint(address to, uint256 v) external { uint256 s = totalShares == 0 ? v : v * totalShares / pooled; pooled += v; totalShares += s; sharesOf[to] += s; emit Transfer(address(0), to, v); emit TransferShares(address(0), to, s); }
    function transfer(address to, uint256 v) external returns (bool) { uint256 s = v * totalShares / pooled; sharesOf[msg.sender] -= s; sharesOf[to] += s; emit Transfer(msg.sender, to, v); emit TransferShares(msg.sender, to, s); return true; }
    function report(uint256 more) external { pooled += more; }
}

/// Aave's: balances grow by an index; each mint and transfer says the interest since, too.
contract AToken is Fungible {
    string public name = "Interest bearing"; string public symbol = "aTKN";
    mapping(address => uint256) scaled; mapping(address => uint256) at; uint256 all; uint256 public index = 1e18;
    event Mint(address indexed caller, address indexed onBehalfOf, uint256 value, uint256 balanceIncrease, uint256 index);
    function balanceOf(address a) public view returns (uint256) { return scaled[a] * index / 1e18; }
    function totalSupply() external view returns (uint256) { return all * index / 1e18; }
    function _accrue(address a) private { uint256 more = scaled[a] * index / 1e18 - scaled[a] * at[a] / 1e18; at[a] = index; if (more > 0) { emit Transfer(address(0), a, more); emit Mint(a, a, more, more, index); } }
    function mint(address to, uint256 v) external { _accrue(to); scaled[to] += v * 1e18 / index; all += v * 1e18 / index; emit Transfer(address(0), to, v); }
    function transfer(address to, uint256 v) external returns (bool) { _accrue(msg.sender); _accrue(to); scaled[msg.sender] -= v * 1e18 / index; scaled[to] += v * 1e18 / index; emit Transfer(msg.sender, to, v); return true; }
    function accrue(uint256 i) external { index = i; }
}

/// Ampleforth's: a rebase is an event of its own.
contract Ample is Fungible {
    string public name = "Elastic"; string public symbol = "AMPX"; uint256 public totalSupply = 1e12; uint256 constant GONS = 1e30;
    mapping(address => uint256) gons;
    event LogRebase(uint256 indexed epoch, uint256 totalSupply);
    constructor() { gons[msg.sender] = GONS; emit Transfer(address(0), msg.sender, totalSupply); }
    function balanceOf(address a) public view returns (uint256) { return gons[a] / (GONS / totalSupply); }
    function transfer(address to, uint256 v) external returns (bool) { uint256 g = v * (GONS / totalSupply); gons[msg.sender] -= g; gons[to] += g; emit Transfer(msg.sender, to, v); return true; }
    function rebase(uint256 supply) external { totalSupply = supply; emit LogRebase(1, supply); }
}

/// A fee of transfers, as its events say.
contract Fees is Fungible {
    string public name = "Fees"; string public symbol = "FEE"; uint256 public totalSupply; mapping(address => uint256) public balanceOf;
    function mint(address to, uint256 v) external { totalSupply += v; balanceOf[to] += v; emit Transfer(address(0), to, v); }
    function transfer(address to, uint256 v) external returns (bool) { uint256 fee = v / 20; balanceOf[msg.sender] -= v; balanceOf[to] += v - fee; balanceOf[address(this)] += fee; emit Transfer(msg.sender, to, v - fee); emit Transfer(msg.sender, address(this), fee); return true; }
}

/// Of which totalSupply() leaves dead coins out, of those that were sent to itself, and of whole coins.
abstract contract Supplied is Fungible {
    string public name = "Supplied"; string public symbol = "SUP"; uint256 internal all; mapping(address => uint256) public balanceOf;
    function mint(address to, uint256 v) external { all += v; balanceOf[to] += v; emit Transfer(address(0), to, v); }
    function transfer(address to, uint256 v) external returns (bool) { balanceOf[msg.sender] -= v; balanceOf[to] += v; emit Transfer(msg.sender, to, v); return true; }
}
contract Circulating is Supplied { function totalSupply() external view returns (uint256) { return all - balanceOf[address(0xdEaD)]; } }
contract Treasury is Supplied { function totalSupply() external view returns (uint256) { return all - balanceOf[address(this)]; } }
contract Whole is Supplied { function totalSupply() external view returns (uint256) { return all / 1e18; } }

/// Wrapped Ether of 2017.
contract Weth9 is Fungible {
    string public name = "Wrapped Ether"; string public symbol = "WETH"; mapping(address => uint256) public balanceOf;
    event Deposit(address indexed dst, uint256 wad); event Withdrawal(address indexed src, uint256 wad);
    function deposit() external payable { balanceOf[msg.sender] += msg.value; emit Deposit(msg.sender, msg.value); }
    function withdraw(uint256 v) external { balanceOf[msg.sender] -= v; payable(msg.sender).transfer(v); emit Withdrawal(msg.sender, v); }
    function totalSupply() external view returns (uint256) { return address(this).balance; }
    function transfer(address to, uint256 v) external returns (bool) { balanceOf[msg.sender] -= v; balanceOf[to] += v; emit Transfer(msg.sender, to, v); return true; }
}

abstract contract Nft {
    mapping(uint256 => address) public ownerOf; mapping(address => uint256) public balanceOf;
    event Transfer(address indexed from, address indexed to, uint256 indexed id);
    function supportsInterface(bytes4 i) external pure virtual returns (bool) { return i == 0x01ffc9a7 || i == 0x80ac58cd; }
    function _move(address from, address to, uint256 id) internal { if (from != address(0)) balanceOf[from]--; if (to != address(0)) balanceOf[to]++; ownerOf[id] = to; emit Transfer(from, to, id); }
    function mint(address to, uint256 id) external virtual { _move(address(0), to, id); }
    function transferFrom(address from, address to, uint256 id) external { require(ownerOf[id] == from); _move(from, to, id); }
}
contract Sized is Nft { string public name = "Sized"; string public symbol = "SIZ"; function totalSupply() external pure returns (uint256) { return 10000; } }
/// Votes are locked: its supply is what they weigh now.
contract VeNft is Nft {
    string public name = "Locked"; string public symbol = "veNFT"; uint256 immutable start = block.timestamp;
    function totalSupply() external view returns (uint256) { return 1e24 - (block.timestamp - start); }
    function balanceOfNFT(uint256) external pure returns (uint256) { return 5e17; }
}
/// Azuki's: a batch is many Transfers, and one owner slot.
contract Erc721A {
    string public name = "Batch"; string public symbol = "AZU"; uint256 public totalSupply; mapping(uint256 => address) owners; mapping(address => uint256) public balanceOf;
    event Transfer(address indexed from, address indexed to, uint256 indexed id);
    function supportsInterface(bytes4 i) external pure returns (bool) { return i == 0x01ffc9a7 || i == 0x80ac58cd; }
    function ownerOf(uint256 id) public view returns (address o) { require(id < totalSupply); while ((o = owners[id]) == address(0)) id--; }
    function mint(address to, uint256 n) external { owners[totalSupply] = to; balanceOf[to] += n; for (uint256 i; i < n; i++) emit Transfer(address(0), to, totalSupply++); }
    function transferFrom(address from, address to, uint256 id) external { require(ownerOf(id) == from); if (id + 1 < totalSupply && owners[id + 1] == address(0)) owners[id + 1] = from; owners[id] = to; balanceOf[from]--; balanceOf[to]++; emit Transfer(from, to, id); }
}
/// A value beside each id; its Transfers are an NFT's.
contract Erc3525 is Nft {
    string public name = "Slots"; string public symbol = "SFT"; uint8 public constant valueDecimals = 18; mapping(uint256 => uint256) public valueOf; uint256 public totalSupply;
    event TransferValue(uint256 indexed from, uint256 indexed to, uint256 value);
    function mint(address to, uint256 id) external override { totalSupply++; _move(address(0), to, id); valueOf[id] = 100; emit TransferValue(0, id, 100); }
    function split(uint256 from, uint256 to, uint256 v) external { valueOf[from] -= v; valueOf[to] += v; emit TransferValue(from, to, v); }
}
/// Vectorized's: coins whose whole ones are NFTs of a mirror.
contract Dn404 is Fungible {
    string public name = "Mirrored"; string public symbol = "DN4"; uint256 public totalSupply; mapping(address => uint256) public balanceOf;
    Mirror public immutable mirrorERC721 = new Mirror(); uint256 next; mapping(address => uint256[]) owned;
    function _sync(address a) private { while (owned[a].length < balanceOf[a] / 1e18) { owned[a].push(++next); mirrorERC721.log(address(0), a, next); } while (owned[a].length > balanceOf[a] / 1e18) { mirrorERC721.log(a, address(0), owned[a][owned[a].length - 1]); owned[a].pop(); } }
    function mint(address to, uint256 v) external { totalSupply += v; balanceOf[to] += v; emit Transfer(address(0), to, v); _sync(to); }
    function transfer(address to, uint256 v) external returns (bool) { balanceOf[msg.sender] -= v; balanceOf[to] += v; emit Transfer(msg.sender, to, v); _sync(msg.sender); _sync(to); return true; }
}
contract Mirror is Nft {
    string public name = "Mirrored"; string public symbol = "DN4";
    function log(address from, address to, uint256 id) external { _move(from, to, id); }
}
/// As many ids as its supply says.
contract Ids {
    mapping(address => mapping(uint256 => uint256)) public balanceOf; uint256 public totalSupply;
    event TransferSingle(address indexed o, address indexed f, address indexed t, uint256 id, uint256 v);
    function isApprovedForAll(address, address) external pure returns (bool) { return false; }
    function supportsInterface(bytes4 i) external pure returns (bool) { return i == 0x01ffc9a7 || i == 0xd9b67a26; }
    function mint(address to, uint256 id, uint256 v) external { totalSupply++; balanceOf[to][id] += v; emit TransferSingle(msg.sender, address(0), to, id, v); }
}
