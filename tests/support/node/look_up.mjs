// What whatsabi finds of a contract: `node look_up.mjs BASE CHAIN ADDRESS`. Its Sourcify loader has a
// fixed host, so fetch() is given another one; everything else is its own.
import { loaders } from '@shazow/whatsabi';

const [base, chain, address] = process.argv.slice(2);
const { fetch } = globalThis;
globalThis.fetch = (url, ...rest) =>
  fetch(String(url).replace('https://sourcify.dev', base), ...rest);

const loader = new loaders.SourcifyABILoader({ chainId: Number(chain) });
const found = await loader.getContract(address);
const sources = found.ok ? await found.getSources() : [];
const abi = await loader.loadABI(address);
const { ok, name, compilerVersion, runs } = found;
console.log(JSON.stringify({ ok, name, compilerVersion, runs, sources, abi }));
