// A webhook receiver in Node: no packages.
//
// SECRET=... node receiver.mjs PORT [CERTIFICATE KEY]

import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";

const secret = process.env.SECRET;
const mostBytes = 1_000_000;
const seen = new Set(); // in a real receiver: a unique column in your database

// The HMAC of the bytes as they came: parse them only afterwards.
function isGenuine(body, signature = "") {
  const expected = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function receive(request, response) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > mostBytes) return response.writeHead(413, { Connection: "close" }).end();
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!isGenuine(body, request.headers["x-scan-signature"])) return response.writeHead(401).end();

  const delivery = request.headers["x-scan-delivery"];
  if (!seen.has(delivery)) { // the same delivery may come more than once
    seen.add(delivery);
    handle(JSON.parse(body));
  }
  response.writeHead(204).end();
}

function handle({ event, data }) {
  console.log(data.removed ? "undo" : "note", event, data.hash, data.value);
}

const [port, certificate, key] = process.argv.slice(2);
const server = certificate // behind a proxy that speaks TLS, leave them out
  ? createHttpsServer({ cert: readFileSync(certificate), key: readFileSync(key) })
  : createHttpServer();
server.on("request", (request, response) => receive(request, response).catch(() => request.destroy()));
server.listen(Number(port), "127.0.0.1", () => console.log("listening on", server.address().port));
