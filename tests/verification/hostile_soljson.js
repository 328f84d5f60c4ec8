
const fs = require("fs");
const limits = fs.readFileSync("/proc/self/limits", "utf8");
const seen = { folder: process.cwd(), variables: Object.keys(process.env), limits };
fs.writeFileSync(SEEN, JSON.stringify(seen));
exports.cwrap = () => () => "0.8.28";
exports._solidity_version = () => {};
