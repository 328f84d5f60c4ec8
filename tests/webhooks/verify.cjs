const { Webhook } = require("standardwebhooks");
const { secret, body, headers } = JSON.parse(require("fs").readFileSync(0));
const whsec = "whsec_" + Buffer.from(secret).toString("base64");
console.log(JSON.stringify(new Webhook(whsec).verify(body, headers)));
