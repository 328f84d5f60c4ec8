// Compiles for the tests of one process until that process ends: a compiler that has compiled before
// takes 15 ms of processor for a small contract, a new one 300.
//
// A request is a line in the named pipe given: the npm alias of a compiler, or the project's own
// script around one; its soljson.js; the files of the standard JSON and of the output; and a named
// pipe that gets the line `compiled`, or `failed` where the compiler threw.
const fs = require('node:fs');
const v8 = require('node:v8');

v8.setFlagsFromString('--wasm-tiering-budget=200000000'); // see scan/verification/solc.js
v8.setFlagsFromString('--wasm-lazy-validation');
let compilers = {};

function findImport(path) {
  try {
    return { contents: fs.readFileSync(require.resolve(path), 'utf8') };
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

function compile(name, soljson, input, output) {
  try {
    compilers[name] ??= load(name, soljson);
    fs.writeFileSync(output, compilers[name](fs.readFileSync(input)));
    return 'compiled';
  } catch (error) {
    fs.writeFileSync(output, String(error));
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

const requests = fs.openSync(process.argv[2], 'r');
const bytes = Buffer.alloc(1 << 16);
let text = '';
for (let count; (count = fs.readSync(requests, bytes)); ) {
  const lines = (text + bytes.toString('utf8', 0, count)).split('\n');
  text = lines.pop();
  for (const line of lines) {
    const [name, soljson, input, output, reply] = line.split(' ');
    answer(reply, compile(name, soljson, input, output));
  }
}
