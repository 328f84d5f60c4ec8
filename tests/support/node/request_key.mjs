// Requests an API key with each library as a page in a browser would: node request_key.mjs <server> <private key>
import { Signature, Wallet } from 'ethers';
import { parseSignature, serializeCompactSignature, signatureToCompactSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const [server, privateKey] = process.argv.slice(2);

const wallets = {
  ethers() {
    const wallet = new Wallet(privateKey);
    return { address: wallet.address, sign: (message) => wallet.signMessage(message) };
  },
  'ethers-compact'() {
    const { address, sign } = wallets.ethers();
    return { address, sign: async (message) => Signature.from(await sign(message)).compactSerialized };
  },
  viem() {
    const account = privateKeyToAccount(privateKey);
    return { address: account.address, sign: (message) => account.signMessage({ message }) };
  },
  'viem-compact'() {
    const { address, sign } = wallets.viem();
    const compact = (signature) =>
      serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));
    return { address, sign: async (message) => compact(await sign(message)) };
  },
};

async function requestKey(library, timestamp) {
  const { address, sign } = wallets[library]();
  const message = [
    'Scan API Key Request',
    `Address: ${address.toLowerCase()}`,
    `Timestamp: ${timestamp}`,
  ].join('\n');
  const response = await fetch(`${server}/api/v1/keys`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ownerAddress: address, label: library, signature: await sign(message), timestamp }),
  });
  return { status: response.status, address, body: await response.json() };
}

const answers = [];
for (const library of Object.keys(wallets)) answers.push(await requestKey(library, Date.now() + answers.length));
process.stdout.write(JSON.stringify(answers));
