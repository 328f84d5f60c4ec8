// Sixty calls as a client in TypeScript writes them, with the types of the document.
// tests/api/test_typescript_client.py compiles them, and runs those that only read.
import createClient from 'openapi-fetch';
import type { components, paths } from './scan.js';

const server = process.argv[2] ?? 'http://127.0.0.1:8000';
// The type of the answers: lists are files as well.
const api = createClient<paths, 'application/json'>({ baseUrl: server });
const address = process.argv[3] ?? '0x5fbdb2315678afecb367f032d93f642f64180aa3';
const hash = '0x' + '00'.repeat(32);
const at = { params: { path: { address } } };
const page = { params: { query: { limit: 2 } } };
const of = { params: { path: { address }, query: { limit: 2 } } };

export async function read(): Promise<string[]> {
  const found: (string | number | undefined)[] = [];
  const blocks = await api.GET('/api/v1/blocks', { params: { query: { limit: 2, orderBy: 'asc' } } });
  if (blocks.data && 'blocks' in blocks.data) {
    found.push(blocks.data.blocks[0].hash, blocks.data.total, blocks.data.next ?? '');
  }
  const csv = await api.GET('/api/v1/transactions', { params: { query: { format: 'csv' } }, parseAs: 'text' });
  const text: string | undefined = csv.data;
  found.push(text?.length);
  const lines = await api.GET('/api/v1/tokens', { params: { query: { format: 'ndjson' } }, parseAs: 'text' });
  found.push(lines.data?.length);
  found.push((await api.GET('/api/v1/stats')).data?.latestBlock);
  found.push((await api.GET('/api/v1/stats/finality')).data?.finalizedBlock ?? 0);
  found.push((await api.GET('/api/v1/blocks/{block}', { params: { path: { block: '1' } } })).data?.gasUsed);
  found.push((await api.GET('/api/v1/transactions', page)).data?.transactions[0].value);
  found.push((await api.GET('/api/v1/tokens', page)).data?.tokens[0].symbol);
  found.push((await api.GET('/api/v1/tokens/{address}', at)).data?.holderCount);
  found.push((await api.GET('/api/v1/tokens/{address}/holders', of)).data?.holders.length);
  found.push((await api.GET('/api/v1/tokens/{address}/transfers', of)).data?.transfers[0].value);
  found.push((await api.GET('/api/v1/addresses/{address}', at)).data?.balance);
  found.push((await api.GET('/api/v1/addresses/{address}/tokens', of)).data?.tokens.length);
  found.push((await api.GET('/api/v1/addresses/{address}/transactions', of)).data?.transactions[0].status ? 1 : 0);
  found.push((await api.GET('/api/v1/addresses/{address}/transfers', of)).data?.total ?? 0);
  found.push((await api.GET('/api/v1/addresses/{address}/token-transfers', of)).data?.transfers.length);
  found.push((await api.GET('/api/v1/addresses/{address}/trades', of)).data?.trades.length);
  found.push((await api.GET('/api/v1/addresses/{address}/dex-trades', of)).data?.trades.length);
  found.push((await api.GET('/api/v1/addresses/{address}/internal-transfers', of)).data?.internalTransfers.length);
  found.push((await api.GET('/api/v1/addresses/{address}/history', of)).data?.history.length);
  found.push((await api.GET('/api/v1/addresses/{address}/balances', at)).data?.balances.length);
  found.push((await api.GET('/api/v1/addresses/{address}/approvals', of)).data?.approvals.length);
  found.push((await api.GET('/api/v1/addresses/{address}/items', of)).data?.items.length);
  found.push((await api.GET('/api/v1/addresses/{address}/transactions/sums', at)).data?.sums.length);
  found.push((await api.GET('/api/v1/token-transfers', page)).data?.transfers[0].tokenType);
  found.push((await api.GET('/api/v1/dex-trades', page)).data?.trades.length);
  found.push((await api.GET('/api/v1/internal-transfers', page)).data?.internalTransfers.length);
  found.push((await api.GET('/api/v1/logs', page)).data?.logs[0].topics.length);
  found.push((await api.GET('/api/v1/accounts', page)).data?.accounts[0].address);
  found.push((await api.GET('/api/v1/contracts', page)).data?.contracts.length);
  found.push((await api.GET('/api/v1/contract-creations', page)).data?.contractCreations.length);
  found.push((await api.GET('/api/v1/pools', page)).data?.pools.length);
  found.push((await api.GET('/api/v1/blobs', page)).data?.blobs.length);
  found.push((await api.GET('/api/v1/authorizations', page)).data?.authorizations.length);
  found.push((await api.GET('/api/v1/user-operations', page)).data?.userOperations.length);
  found.push((await api.GET('/api/v1/execution-requests', page)).data?.requests.length);
  found.push((await api.GET('/api/v1/compilers')).data?.solidity.length);
  found.push((await api.GET('/api/v1/search', { params: { query: { q: address } } })).data?.results.length);
  found.push((await api.GET('/api/v1/openapi.json')).data ? 1 : 0);
  const query = await api.POST('/api/v1/query', { body: { entity: 'transactions', filter: { address } } });
  found.push(query.data?.count, query.data?.entity);
  const encoded = await api.POST('/api/v1/encode', { body: { functionName: 'totalSupply()' } });
  found.push(encoded.data?.data);
  const decoded = await api.POST('/api/v1/decode', { body: { data: '0x18160ddd' } });
  found.push(decoded.data?.candidates.length);
  const refused = await api.POST('/api/v1/query', { body: { entity: 'blocks', limit: 0, offset: -1 } });
  const error: components['schemas']['Error'] | undefined = refused.error;
  found.push(error?.code, error?.errors?.length, error?.errors?.[1].field);
  return found.map((value) => JSON.stringify(value ?? null));
}

export async function write(id: number): Promise<unknown[]> {
  const hook = { params: { path: { webhook_id: id }, header: { 'X-Webhook-Secret': 'secret' } } };
  const once = { params: { header: { 'Idempotency-Key': 'random' } } };
  const made = await api.POST('/api/v1/webhooks', {
    ...once,
    body: { ownerAddress: address, url: 'https://hooks.example.com/' },
  });
  const secret: string | undefined = made.data?.secret;
  return [
    secret,
    await api.POST('/api/v1/webhooks', { body: { ownerAddress: address, url: 'x', eventTypes: ['tx', 'log'] } }),
    (await api.GET('/api/v1/webhooks', { params: { query: { owner: address } } })).data?.webhooks[0].active,
    (await api.GET('/api/v1/webhooks/{webhook_id}', hook)).data?.eventTypes[0],
    (await api.PATCH('/api/v1/webhooks/{webhook_id}', { ...hook, body: { active: true } })).data?.url,
    await api.PATCH('/api/v1/webhooks/{webhook_id}', { ...hook, body: { url: 'x', topics: [null, hash] } }),
    (await api.POST('/api/v1/webhooks/{webhook_id}/rotate-secret', hook)).data?.formerSecretUntil,
    (await api.POST('/api/v1/webhooks/{webhook_id}/replay', { ...hook, body: { timeFrom: 0 } })).data?.more,
    (await api.POST('/api/v1/webhooks/{webhook_id}/test', hook)).data?.deliveryId,
    (await api.POST('/api/v1/webhooks/{webhook_id}/addresses', { ...hook, body: { add: [address] } })).data?.added,
    (await api.GET('/api/v1/webhooks/{webhook_id}/addresses', hook)).data?.addresses[0],
    (await api.GET('/api/v1/webhooks/{webhook_id}/deliveries', hook)).data?.deliveries[0].status,
    (await api.DELETE('/api/v1/webhooks/{webhook_id}', hook)).data?.success,
    (await api.GET('/api/v1/keys', { params: { query: { owner: address } } })).data?.keys[0].keyPrefix,
    (await api.POST('/api/v1/keys', { body: { ownerAddress: address, signature: '0x', timestamp: 1 } })).data?.key,
    (await api.POST('/api/v1/contracts/{address}/call', { ...at, body: { functionName: 'name' } })).data?.result,
    (await api.POST('/api/v1/contracts/{address}/encode', { ...at, body: { functionName: 'f' } })).data?.data,
    (await api.POST('/api/v1/simulate', { body: { calls: [{ to: address }] } })).data?.calls.length,
    (await api.POST('/api/v1/verify', { body: { address, sourceCode: 's', compilerVersion: '0.8.26' } })).data?.match,
  ];
}

export async function mistaken(): Promise<void> {
  // @ts-expect-error: there is no such path
  await api.GET('/api/v1/block');
  // @ts-expect-error: nor such a parameter
  await api.GET('/api/v1/tokens', { params: { query: { limits: 2 } } });
  // @ts-expect-error: the url is missing
  await api.POST('/api/v1/webhooks', { body: { ownerAddress: address } });
  // @ts-expect-error: nor such an event type
  await api.POST('/api/v1/webhooks', { body: { ownerAddress: address, url: 'x', eventTypes: ['block'] } });
  // @ts-expect-error: amounts are text
  const supply: number | undefined = (await api.GET('/api/v1/tokens/{address}', at)).data?.totalSupply;
}

console.log(`[${(await read()).join(',')}]`);
