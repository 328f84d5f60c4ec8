// Verifies as `hardhat verify sourcify` does, by hardhat-verify's own class, which Hardhat itself
// would call with what it compiled, one request after the other:
// `node hardhat_sourcify.mjs API CHAIN POLLING-SECONDS < requests`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('@nomicfoundation/hardhat-verify/package.json'));
const { Sourcify } = await import(join(folder, 'dist/src/internal/sourcify.js'));

const [apiUrl, chainId, pollingSeconds] = process.argv.slice(2);
const sourcify = new Sourcify({ chainId: Number(chainId), apiUrl });
sourcify.pollingIntervalMs = Number(pollingSeconds); // seconds indeed; 3 by default
const results = [];
for (const { contractAddress, ...given } of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    const before = await sourcify.isVerified(contractAddress);
    const guid = await sourcify.verify({ contractAddress, ...given });
    const result = await sourcify.pollVerificationStatus(guid, contractAddress, given.contractName);
    const after = await sourcify.isVerified(contractAddress);
    results.push({ before, after, ...result });
  } catch (error) {
    results.push({ error: error.message });
  }
}
console.log(JSON.stringify(results));
