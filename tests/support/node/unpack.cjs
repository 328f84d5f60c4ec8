// Writes npm's compiler, soljson.js, as two files: the script, and the WebAssembly that it holds as
// compressed base64. Unpacking takes more than half of a start.
const fs = require('node:fs');
const path = require('node:path');

const [source, folder] = process.argv.slice(2);
const text = fs.readFileSync(source, 'utf8');
const packed = /^.+?\n}\)\("[A-Za-z0-9+/=]+", *\d+\);/s.exec(text)[0];
fs.writeFileSync(path.join(folder, 'soljson.wasm'), new Function(`${packed} return Module.wasmBinary;`)());
const binary = 'require("fs").readFileSync(require("path").join(__dirname, "soljson.wasm"))';
fs.writeFileSync(path.join(folder, 'soljson.js'), `var Module = { wasmBinary: ${binary} };${text.slice(packed.length)}`);
