// The configuration of Hardhat 3; test_hardhat_tasks.py fills it in.
import verify from '@nomicfoundation/hardhat-verify';
const explorer = { name: 'own', url: '%(url)s', apiUrl: '%(url)s/api' };
const solc = { version: '%(version)s', path: '%(solc)s', settings: %(settings)s };
export default {
  plugins: [verify],
  paths: { sources: 'src' },
  solidity: { profiles: { default: solc, production: solc } },
  networks: { own: { type: 'http', chainType: 'l1', url: '%(node)s' } },
  chainDescriptors: { %(chain)s: {
    name: 'own', chainType: 'l1', blockExplorers: { etherscan: explorer, blockscout: explorer },
  } },
  verify: {
    etherscan: { apiKey: 'any' }, blockscout: { enabled: true },
    sourcify: { enabled: true, apiUrl: '%(url)s/server', repoUrl: '%(url)s/server/repo-ui' },
  },
};
