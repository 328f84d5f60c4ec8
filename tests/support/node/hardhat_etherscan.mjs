// Verifies as `hardhat verify etherscan` and `hardhat verify blockscout` do, by hardhat-verify's own
// classes, which Hardhat itself would call with what it compiled, one request after the other:
// `node hardhat_etherscan.mjs etherscan|blockscout API CHAIN < requests`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('@nomicfoundation/hardhat-verify/package.json'));
const [name, apiUrl, chainId] = process.argv.slice(2);
const { [name === 'etherscan' ? 'Etherscan' : 'Blockscout']: Explorer } = await import(
  join(folder, `dist/src/internal/${name}.js`)
);

const explorer = new Explorer({ chainId: Number(chainId), url: apiUrl, apiUrl, apiKey: 'any' });
explorer.pollingIntervalMs = 0.3; // seconds; 3 by default
const results = [];
for (const { contractAddress, ...given } of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    const before = await explorer.isVerified(contractAddress);
    const guid = await explorer.verify({ contractAddress, ...given });
    const result = await explorer.pollVerificationStatus(guid, contractAddress, given.contractName);
    const after = await explorer.isVerified(contractAddress);
    results.push({ before, after, ...result });
  } catch (error) {
    results.push({ error: error.message });
  }
}
console.log(JSON.stringify(results));
