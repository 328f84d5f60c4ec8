// Verifies as `hardhat verify sourcify` does, by hardhat-verify's own class, which Hardhat itself
// would call with what it compiled: `node hardhat_sourcify.mjs API CHAIN ADDRESS < request`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('@nomicfoundation/hardhat-verify/package.json'));
const { Sourcify } = await import(join(folder, 'dist/src/internal/sourcify.js'));

const [apiUrl, chainId, contractAddress] = process.argv.slice(2);
const given = JSON.parse(readFileSync(0, 'utf8'));
const sourcify = new Sourcify({ chainId: Number(chainId), apiUrl });
try {
  const before = await sourcify.isVerified(contractAddress);
  const guid = await sourcify.verify({ contractAddress, ...given });
  const result = await sourcify.pollVerificationStatus(guid, contractAddress, given.contractName);
  const after = await sourcify.isVerified(contractAddress);
  console.log(JSON.stringify({ before, after, ...result }));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
