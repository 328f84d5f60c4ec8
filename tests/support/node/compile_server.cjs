// Compiles for the tests of a run until that ends: a compiler that has compiled before takes 15 ms of
// processor for a small contract, a new one 300. Each input is compiled once, and its output kept.
//
// A request is a line in the named pipe given: the npm alias of a compiler, or the project's own
// script around one; its soljson.js; the file of the standard JSON; and a named pipe that gets the line
// `compiled FILE`, or `failed` where the compiler threw, or is asked for what may never end.
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const v8 = require('node:v8');

v8.setFlagsFromString('--wasm-tiering-budget=200000000'); // see scan/verification/solc.js
v8.setFlagsFromString('--wasm-lazy-validation');
const [requests, outputs] = process.argv.slice(2);
const packages = digest(fs.readFileSync(path.join(__dirname, 'package-lock.json')));
let compilers = {};
let hasImports; // whether the compilation under way has looked for a file in node_modules

function digest(text) {
  return createHash('sha256').update(text).digest('hex');
}

function ordered(_, value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function findImport(name) {
  hasImports = true;
  try {
    return { contents: fs.readFileSync(require.resolve(name), 'utf8') };
  } catch (error) {
    return { error: String(error) };
  }
}

function load(name, soljson) {
  if (name.startsWith('/')) return require(name);
  const solc = require(`${name}/wrapper`)(require(soljson));
  const early = /^0\.[45]\./.test(solc.version()); // their callback is a bare function
  const compile = solc.compileStandardWrapper ?? solc.compile; // 0.4's compile is another thing
  return (input) => compile(String(input), early ? findImport : { import: findImport });
}

function compile(name, soljson, input) {
  const text = fs.readFileSync(input);
  if (text.includes('SMTChecker')) return 'failed';
  try {
    const key = digest(JSON.stringify(JSON.parse(text), ordered));
    const output = path.join(outputs, `${path.basename(name)}-${key}`);
    const imported = `${output}-${packages}`;
    const kept = name.startsWith('/') ? [output] : [output, imported];
    let file = kept.find(fs.existsSync);
    if (!file) {
      compilers[name] ??= load(name, soljson);
      hasImports = false;
      const compiled = compilers[name](text);
      file = hasImports ? imported : output;
      fs.writeFileSync(`${file}.${process.pid}`, compiled);
      fs.renameSync(`${file}.${process.pid}`, file);
    }
    return `compiled ${file}`;
  } catch {
    compilers = {}; // which are not to be trusted after that
    for (const file of Object.keys(require.cache)) delete require.cache[file];
    return 'failed';
  }
}

function answer(reply, text) {
  try {
    const pipe = fs.openSync(reply, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    fs.writeSync(pipe, `${text}\n`);
    fs.closeSync(pipe);
  } catch {
    // The process that asked was killed.
  }
}

const pipe = fs.openSync(requests, 'r');
const bytes = Buffer.alloc(1 << 16);
let text = '';
for (let count; (count = fs.readSync(pipe, bytes)); ) {
  const lines = (text + bytes.toString('utf8', 0, count)).split('\n');
  text = lines.pop();
  for (const line of lines) {
    const [name, soljson, input, reply] = line.split(' ');
    answer(reply, compile(name, soljson, input));
  }
}
