#!/usr/bin/env node
// A Solidity compiler as npm publishes it (soljson.js beside this file) behind the two calls that a
// native solc answers here: `--version`, and `--standard-json` with the input on stdin.
// No import callback is given, so a source can read no file.
"use strict";
const fs = require("fs");
const path = require("path");
const v8 = require("v8");

// V8's second compiler, which makes the code faster while it runs, is to come where that pays: with V8's
// own budget of 1,800,000 an OpenZeppelin token took 1.6 s of CPU time, 0.85 s so.
v8.setFlagsFromString("--wasm-tiering-budget=200000000");
// A source needs few of the compiler's 30,000 functions: validating each when it is first called takes 0.1 s
// less of the 0.75 s of CPU time that a small contract takes.
v8.setFlagsFromString("--wasm-lazy-validation");
const soljson = require(path.join(__dirname, "soljson.js"));
process.removeAllListeners("uncaughtException"); // Emscripten's; it would hide our exit codes

function bind(names, result, types) {
  const name = names.find((each) => typeof soljson["_" + each] === "function");
  return name && soljson.cwrap(name, result, types);
}

// Strings that cwrap passes lie on the compiler's stack, which holds some 1.2 MB of them.
function allocate(bytes) {
  const address = soljson._malloc(bytes.length + 1);
  soljson.HEAPU8.set(bytes, address);
  soljson.HEAPU8[address + bytes.length] = 0;
  return address;
}

function compile(bytes) {
  const input = allocate(bytes);
  const current = bind(["solidity_compile"], "string", ["number", "number", "number"]);
  if (current) return current(input, 0, 0);
  const early = bind(["compileStandard"], "string", ["number", "number"]); // before 0.5.0
  return early(input, 0);
}

function main() {
  if (process.argv[2] === "--version") {
    const version = bind(["solidity_version", "version"], "string", []);
    process.stdout.write(`solc, the solidity compiler\nVersion: ${version()}\n`);
    return;
  }
  if (process.argv[2] !== "--standard-json") {
    process.stderr.write("usage: --version | --standard-json\n");
    process.exit(2);
  }
  const output = compile(fs.readFileSync(0));
  let bytes = Buffer.from(output);
  while (bytes.length) bytes = bytes.subarray(fs.writeSync(1, bytes));
}

if (require.main === module) main();
else module.exports = compile;
