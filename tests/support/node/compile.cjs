// Compiles Solidity standard JSON from stdin with the npm alias and the soljson.js given,
// imports from node_modules.
const fs = require('node:fs');
const v8 = require('node:v8');

v8.setFlagsFromString('--wasm-tiering-budget=200000000'); // see scan/verification/solc.js
v8.setFlagsFromString('--wasm-lazy-validation');
const solc = require(`${process.argv[2]}/wrapper`)(require(process.argv[3]));

function findImport(path) {
  try {
    return { contents: fs.readFileSync(require.resolve(path), 'utf8') };
  } catch (error) {
    return { error: String(error) };
  }
}

const input = fs.readFileSync(0, 'utf8');
const early = /^0\.[45]\./.test(solc.version()); // their callback is a bare function
const compile = solc.compileStandardWrapper ?? solc.compile; // 0.4's compile is another thing
process.stdout.write(compile(input, early ? findImport : { import: findImport }));
