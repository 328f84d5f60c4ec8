// That of Hardhat 2, with npm's compiler, which it would download, and one service.
require('@nomicfoundation/hardhat-verify');
const { subtask } = require('hardhat/config');
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names');
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({
  compilerPath: '%(solc)s', isSolcJs: true,
  version: '%(version)s', longVersion: '%(version)s+commit.%(commit)s',
}));
const customChains = [{
  network: 'own', chainId: %(chain)s, urls: { apiURL: '%(url)s/api', browserURL: '%(url)s' },
}];
module.exports = {
  paths: { sources: 'src' },
  solidity: { version: '%(version)s', settings: %(settings)s },
  networks: { own: { url: '%(node)s' } },
  etherscan: { enabled: '%(provider)s' == 'etherscan', apiKey: { own: 'any' }, customChains },
  blockscout: { enabled: '%(provider)s' == 'blockscout', customChains },
  sourcify: {
    enabled: '%(provider)s' == 'sourcify',
    apiUrl: '%(url)s/server', browserUrl: '%(url)s/server/repo-ui',
  },
};
