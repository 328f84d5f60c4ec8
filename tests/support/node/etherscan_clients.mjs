// What ethers' EtherscanProvider and whatsabi's EtherscanV1ABILoader read:
// `node etherscan_clients.mjs API < {address, token, holder, reverting, transaction}`.
import { readFileSync } from 'node:fs';
import { EtherscanProvider, Network } from 'ethers';
import { loaders } from '@shazow/whatsabi';

const [api] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(0, 'utf8'));

// It knows the chains of Etherscan alone; only where it asks is overridden.
class Provider extends EtherscanProvider {
  getUrl(module, params) {
    return `${api}?${new URLSearchParams({ module, ...params })}`;
  }
  getPostUrl() {
    return api;
  }
  getPostData(module, params) {
    const { chainid, ...rest } = super.getPostData(module, params);
    return rest;
  }
}

const provider = new Provider(Network.from('mainnet'), 'any');
const found = {};
const record = async (name, read) => {
  try {
    found[name] = await read();
  } catch (error) {
    found[name] = { error: error.code ?? error.message, data: error.data, reason: error.reason };
  }
};
const text = (value) => JSON.parse(JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? v.toString() : v)));

await record('blockNumber', () => provider.getBlockNumber());
await record('balance', async () => String(await provider.getBalance(asked.holder)));
await record('nonce', () => provider.getTransactionCount(asked.holder));
await record('code', () => provider.getCode(asked.token));
await record('block', async () => (await provider.getBlock(1)).hash);
await record('transaction', async () => (await provider.getTransaction(asked.transaction)).from);
await record('receipt', async () => (await provider.getTransactionReceipt(asked.transaction)).status);
await record('call', () => provider.call({ to: asked.token, data: asked.balanceOf }));
await record('revert', () => provider.call({ to: asked.token, data: asked.reverting }));
await record('contract', async () => {
  const contract = await provider.getContract(asked.address);
  const functions = contract.interface.fragments.filter((each) => each.type === 'function');
  return functions.map((each) => each.format('sighash'));
});
await record('unverified', () => provider.getContract(asked.token));

const loader = new loaders.EtherscanV1ABILoader({ apiKey: 'any', baseURL: api });
await record('abi', () => loader.loadABI(asked.address));
await record('whatsabi', async () => {
  const contract = await loader.getContract(asked.address);
  const sources = contract.getSources ? await contract.getSources() : null;
  return { ok: contract.ok, name: contract.name, compilerVersion: contract.compilerVersion, sources };
});
await record('whatsabi_unverified', async () => (await loader.getContract(asked.token)).ok);
console.log(JSON.stringify(text(found)));
