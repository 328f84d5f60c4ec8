import ignition from '@nomicfoundation/hardhat-ignition';
const solc = { version: '0.8.28', path: process.env.SOLC, settings: JSON.parse(process.env.SETTINGS) };
export default {
  plugins: [ignition],
  paths: { sources: 'src' },
  solidity: { profiles: { default: solc, production: solc } },
  networks: { own: { type: 'http', chainType: 'l1', url: process.env.NODE } },
};
