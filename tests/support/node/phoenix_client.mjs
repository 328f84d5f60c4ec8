// Joins topics as Blockscout's frontend does, by Phoenix's own client, and prints what comes as lines of JSON.
// node phoenix_client.mjs URL TOPIC...
import {Socket} from "phoenix";
import WebSocket from "ws";

const [url, ...topics] = process.argv.slice(2);
const say = (...values) => console.log(JSON.stringify(values));
const socket = new Socket(url, {transport: WebSocket, heartbeatIntervalMs: 500});
socket.onOpen(() => say("open"));
socket.onError(() => say("error"));
socket.onClose(() => say("close"));
socket.onMessage(({topic, event, payload}) => {
  if (event !== "phx_reply" || topic === "phoenix") say("message", topic, event, payload);
});
socket.connect();
for (const topic of topics) {
  const channel = socket.channel(topic);
  channel.join()
    .receive("ok", () => say("joined", topic))
    .receive("error", (reason) => { say("refused", topic, reason); channel.leave(); });
}
process.stdin.on("end", () => process.exit()).resume();
