// What Hardhat prints of calls of console.log: their data as hex in a JSON array on stdin.
import { readFileSync } from "node:fs";

const folder = "./node_modules/hardhat/dist/src/internal/builtin-plugins/network-manager/edr/utils/";
const { ConsoleLogger } = await import(`${folder}console-logger.js`);
const texts = JSON.parse(readFileSync(0, "utf8")).map(
  (data) => ConsoleLogger.getDecodedLogs([Buffer.from(data, "hex")])[0] ?? null,
);
process.stdout.write(JSON.stringify(texts));
