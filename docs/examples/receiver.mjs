// A webhook receiver in Node: no packages.
//
// SECRET=... node receiver.mjs PORT [CERTIFICATE KEY]

import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";

const secret = process.env.SECRET;
const mostBytes = 1_000_000;
const handled = new Set(); // in production: a unique column, written in the transaction of what you store

// Compares the HMAC of the received bytes; parse them only afterwards.
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
  if (!handled.has(delivery)) { // a delivery may arrive more than once
    try {
      handle(JSON.parse(body));
    } catch (error) {
      console.error(error);
      return response.writeHead(500, { Connection: "close" }).end(); // Scan will retry
    }
    handled.add(delivery);
  }
  response.writeHead(204).end();
}

function handle({ event, data }) {
  // Sent by POST /api/v1/webhooks/:id/test: nothing happened on the chain.
  if (data.test) return console.log("test", event);
  if (!data.hash) throw new Error("an event without a transaction");
  const subjects = { log: data.topics?.[0] ?? "anonymous", dex_trade: data.amountIn };
  const subject = subjects[event] ?? data.value; // tx, token_transfer, internal_transfer
  console.log(data.removed ? "undo" : "note", event, data.hash, subject);
}

const [port, certificate, key] = process.argv.slice(2);
const server = certificate // omit them behind a TLS proxy
  ? createHttpsServer({ cert: readFileSync(certificate), key: readFileSync(key) })
  : createHttpServer();
server.on("request", (request, response) => receive(request, response).catch(() => request.destroy()));
server.listen(Number(port), "127.0.0.1", () => console.log("listening on", server.address().port));
