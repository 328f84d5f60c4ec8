// What test_clients.py has @wagmi/cli generate: of a URL, contracts.
import { blockExplorer } from '@wagmi/cli/plugins'
export default {
  out: 'generated.js',
  contracts: [],
  plugins: [blockExplorer({ baseUrl: '%s', chainId: 31337, contracts: %s })],
}
