// What ethers decodes. In: {standards: [[name, [fragment]]], items: [{abis, standard, input, logs}]},
// where `abis` come first and `standard` is the one preferred among the standards. Out: for each item
// its method and its events, as Scan's JSON has them; null where nothing fits.
import { readFileSync } from 'node:fs';
import { Interface } from 'ethers';

const { standards, items } = JSON.parse(readFileSync(0, 'utf8'));
const parsed = standards.map(([name, fragments]) => [name, each(fragments)]);

// An interface for each fragment: of those with one signature ethers would keep the first.
function each(fragments) {
  return fragments.map((fragment) => new Interface([fragment]));
}

function candidates(item) {
  const own = item.abis.flatMap((abi) =>
    each(abi.filter(({ type }) => ['function', 'event', 'error'].includes(type))).map((i) => [i, 'verified']));
  const preferred = ([name]) => (name === item.standard ? 0 : 1);
  const sorted = [...parsed].sort((a, b) => preferred(a) - preferred(b));
  return [...own, ...sorted.flatMap(([, all]) => all.map((i) => [i, 'standard']))];
}

function plain(type, value) {
  if (value !== null && typeof value === 'object' && value._isIndexed) return value.hash;
  if (type.baseType === 'array') return [...value].map((item) => plain(type.arrayChildren, item));
  if (type.baseType === 'tuple') {
    const names = type.components.map(({ name }) => name);
    const members = type.components.map((member, n) => plain(member, value[n]));
    const named = names.every(Boolean) && new Set(names).size === names.length && names.length;
    return named ? Object.fromEntries(names.map((name, n) => [name, members[n]])) : members;
  }
  if (typeof value === 'bigint') return value.toString();
  if (type.type === 'address' || type.type.startsWith('bytes')) return value.toLowerCase();
  return value;
}

function described(fragment, args, source) {
  return {
    name: fragment.name,
    signature: fragment.format('sighash'),
    arguments: fragment.inputs.map((type, n) => {
      const hashed = args[n] !== null && typeof args[n] === 'object' && args[n]._isIndexed === true;
      const shown = { name: type.name, type: type.format('sighash'), value: plain(type, args[n]) };
      return hashed ? { ...shown, hashed } : shown;
    }),
    source,
  };
}

function first(all, decode) {
  for (const [abi, source] of all) {
    try {
      const found = decode(abi, source);
      if (found) return found;
    } catch {} // it has another form
  }
  return null;
}

const method = (item, all) => first(all, (abi, source) => {
  const found = abi.parseTransaction({ data: item.input });
  return found && described(found.fragment, found.args, source);
});

// Error(string) and Panic(uint256) are in every interface, whatever its ABI.
const error = (data, all) => first(all, (abi, source) => {
  const found = abi.parseError(data);
  const builtIn = ['Error', 'Panic'].includes(found?.name);
  return found && described(found.fragment, found.args, builtIn ? 'standard' : source);
});

const event = (log, all) => first(all, (abi, source) => {
  const found = abi.parseLog(log);
  const indexed = found?.fragment.inputs.filter(({ indexed }) => indexed).length;
  if (indexed !== log.topics.length - 1) return null;
  return described(found.fragment, found.args, source);
});

const answers = items.map((item) => ({
  method: item.input === null ? null : method(item, candidates(item)),
  events: item.logs.map((log) => event(log, candidates(log))),
  error: item.error ? error(item.error, candidates(item)) : null,
}));
console.log(JSON.stringify(answers));
