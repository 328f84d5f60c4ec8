// A module of Hardhat Ignition: contracts of LinkedVault.sol, and Stored.
import { buildModule } from '@nomicfoundation/hardhat-ignition/modules';
export default buildModule('Vaults', (m) => {
  const rates = m.library('Rates');
  const libraries = { Rates: rates };
  const first = m.contract('Vault', [m.getParameter('limit', 5)], { libraries });
  const second = m.contract('Vault', [7], { id: 'Second', libraries, after: [first] });
  const stored = m.contract('Stored', [3]);
  m.call(first, 'setLimit', [9]);
  return { first, second, stored };
});
