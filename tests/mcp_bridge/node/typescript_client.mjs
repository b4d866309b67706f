// The TypeScript SDK as a client, v1 (handshake eras) or v2 (2026-07-28): list, call, read, prompt, subscribe, sample.
// Arguments: one JSON object {sdk, packages, url?, token?, command?, args?, env?, document}. Prints one JSON object.
import { createRequire } from "node:module";

const given = JSON.parse(process.argv[2]);
const require = createRequire(given.packages + "/package.json");
const isNew = given.sdk === "v2";

function parts() {
  if (isNew) {
    return { ...require("@modelcontextprotocol/client"), ...require("@modelcontextprotocol/client/stdio") };
  }
  const at = (path) => require("@modelcontextprotocol/sdk/" + path);
  return { ...at("client/index.js"), ...at("client/streamableHttp.js"), ...at("client/stdio.js"), ...at("types.js") };
}

const sdk = parts();

function transport() {
  if (given.url) {
    const headers = { Authorization: "Bearer " + given.token };
    return new sdk.StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers } });
  }
  return new sdk.StdioClientTransport({ command: given.command, args: given.args, env: given.env, stderr: "ignore" });
}

const options = { capabilities: { sampling: {} } };
if (isNew) options.versionNegotiation = { mode: "auto" };
const client = new sdk.Client({ name: "typescript-" + given.sdk, version: "1.0.0" }, options);
const updated = [];
let samples = 0;

const judgement = {
  reason: "本文に定めがある。",
  grounds: [{ passage: "p1", quote: "利用者検索の応答時間は3秒以内とする。" }],
  findings: [],
  score: 90,
  verdict: "pass",
};
client.setRequestHandler(isNew ? "sampling/createMessage" : sdk.CreateMessageRequestSchema, async () => {
  samples += 1;
  const content = { type: "text", text: JSON.stringify(judgement) };
  return { role: "assistant", model: "test", stopReason: "endTurn", content };
});
const onUpdate = (message) => updated.push(message.params.uri);
client.setNotificationHandler(
  isNew ? "notifications/resources/updated" : sdk.ResourceUpdatedNotificationSchema,
  onUpdate,
);

async function upload(content) {
  const asked = { content, filename: given.filename, document_type: "basic_design", wait_seconds: 100 };
  const result = await client.callTool({ name: "upload_document", arguments: asked }, ...patient);
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

const patience = { timeout: 180_000 };
const patient = isNew ? [patience] : [undefined, patience];

async function until(isDone) {
  const ends = Date.now() + 60_000;
  while (!isDone() && Date.now() < ends) await new Promise((resolve) => setTimeout(resolve, 50));
}

await client.connect(transport());
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const document = await upload(given.document);
if (isNew) await client.listen({ resourceSubscriptions: [document.resource_uri] });
else await client.subscribeResource({ uri: document.resource_uri });
await upload(given.document + "\n改版した。\n");
await until(() => updated.length);
const review = await client.callTool(
  {
    name: "review_document",
    arguments: {
      document_id: document.document_id,
      check_items: ["BD-C01"],
      options: { judge: "sampling", wait_seconds: 100 },
    },
  },
  ...patient,
);
const items = await client.readResource({ uri: "smartreviewer://check-items" });
const prompt = await client.getPrompt({
  name: "review_document_template",
  arguments: { document_type: "基本設計書" },
});
const facts = {
  tools,
  updated: updated.includes(document.resource_uri),
  samples,
  results: review.structuredContent?.results?.map((one) => [one.verdict, one.method]),
  items: JSON.parse(items.contents[0].text).items.length,
  prompt: prompt.messages[0].content.text,
};
process.stdout.write(JSON.stringify(facts) + "\n");
await client.close();
process.exit(0);
