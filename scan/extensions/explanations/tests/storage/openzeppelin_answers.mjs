// Writes what OpenZeppelin's upgrades-core says of the pairs of layout_pairs.json to
// openzeppelin_answers.json. It is not among the packages of the tests:
//   npm install --prefix FOLDER @openzeppelin/upgrades-core@1.46.0 solc@0.8.28
//   NODE_FOLDER=FOLDER node openzeppelin_answers.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_FOLDER}/node_modules/`);
const core = require("@openzeppelin/upgrades-core");
const solc = require("solc");
const own = (name) => new URL(name, import.meta.url);

function layout(text) {
  const contract = /\bcontract C\b/.test(text) ? text : `contract C { ${text} }`;
  const content = `pragma solidity 0.8.28;\ninterface IT {}\ninterface IU {}\n${contract}`;
  const input = {
    language: "Solidity",
    sources: { "C.sol": { content } },
    settings: { outputSelection: { "*": { "*": ["storageLayout", "evm.bytecode", "evm.methodIdentifiers"], "": ["ast"] } } },
  };
  const compile = (given) => {
    const output = JSON.parse(solc.compile(JSON.stringify(given)));
    const faults = (output.errors ?? []).filter((error) => error.severity === "error");
    if (faults.length) throw new Error(faults[0].formattedMessage);
    return output;
  };
  const output = compile(input);
  const namespaced = compile(core.makeNamespacedInput(input, output, "0.8.28"));
  const decode = core.solcInputOutputDecoder(input, output);
  const run = core.validate(output, decode, "0.8.28", input, namespaced);
  const [name] = Object.keys(run).filter((key) => /(^|:)C$/.test(key));
  return core.getStorageLayout({ version: "3.4", log: [run] }, run[name].version);
}

const accepts = {};
for (const { name, before, after } of JSON.parse(readFileSync(own("layout_pairs.json"), "utf-8"))) {
  const options = core.withValidationDefaults({});
  try {
    accepts[name] = core.getStorageUpgradeReport(layout(before), layout(after), options).pass;
  } catch (error) {
    if (!(error instanceof core.UpgradesError)) throw error;
    accepts[name] = null; // it compares no types that have themselves
  }
}
const { version } = require("@openzeppelin/upgrades-core/package.json");
writeFileSync(own("openzeppelin_answers.json"), JSON.stringify({ version, accepts }, null, 1) + "\n");
