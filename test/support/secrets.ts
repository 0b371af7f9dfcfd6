// Made of parts, so that no scanner takes this file for a leak. None of them opens anything.
const letters = (length: number) => "aB3dE5gH7jK9mN2pQ4sT6vW8yZ".repeat(20).slice(0, length);
const hex = (length: number) => "0123456789abcdef".repeat(20).slice(0, length);
const join = (...parts: string[]) => parts.join("");

export const CARD = join("4111 1111 ", "1111 1111");
export const JWT = join("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".", letters(43));
const KEY_BLOCK = join(
  "-----BEGIN ",
  "PRIVATE KEY-----\n",
  letters(64),
  "\n",
  letters(20),
  "==\n-----END PRIVATE KEY-----",
);

type Secret = readonly [kind: string, secret: string, before?: string];

/** Kinds of secrets, each with an example, and with what must stand before it. */
export const SECRETS: readonly Secret[] = [
  ["private_key", KEY_BLOCK],
  ["private_key", join("AGE-SECRET", "-KEY-1", letters(58).toUpperCase())],
  ["jwt", JWT],
  ["aws_access_key", join("AKIA", "IOSFODNN7EXAMPLE")],
  ["aws_secret_key", letters(40), '"aws_secret_access_key": "'],
  ["azure_storage_key", join(letters(86), "=="), "AccountName=a;AccountKey="],
  ["google_api_key", join("AIza", letters(35))],
  ["google_client_secret", join("GOCSPX", "-", letters(28))],
  ["google_access_token", join("ya29", ".", letters(40))],
  ["github_token", join("ghp", "_", letters(36))],
  ["github_token", join("github", "_pat_", letters(22), "_", letters(59))],
  ["gitlab_token", join("glpat", "-", letters(20))],
  ["npm_token", join("npm", "_", letters(36))],
  ["pypi_token", join("pypi", "-AgEIcHlwaS5vcmc", letters(60))],
  ["slack_token", join("xoxb", "-123456789012-", letters(24))],
  ["slack_token", join("xapp", "-1-", letters(24))],
  ["slack_webhook", join("https://hooks.slack", ".com/services/T00000000/B00000000/", letters(24))],
  ["discord_webhook", join("https://discord", ".com/api/webhooks/123456789012345678/", letters(68))],
  ["telegram_token", join("1234567890", ":AA", letters(33))],
  ["stripe_key", join("sk", "_live_", letters(24))],
  ["stripe_webhook_secret", join("whsec", "_", letters(32))],
  ["shopify_token", join("shpat", "_", hex(32))],
  ["sendgrid_key", join("SG", ".", letters(22), ".", letters(43))],
  ["digitalocean_token", join("dop", "_v1_", hex(64))],
  ["databricks_token", join("dapi", hex(32))],
  ["vault_token", join("hvs", ".", letters(90))],
  ["grafana_token", join("glsa", "_", letters(41))],
  ["linear_key", join("lin", "_api_", letters(40))],
  ["notion_token", join("ntn", "_", letters(46))],
  ["onepassword_token", join("ops", "_eyJ", letters(120))],
  ["anthropic_key", join("sk-ant", "-api03-", letters(95))],
  ["openrouter_key", join("sk-or", "-v1-", hex(64))],
  ["openai_key", join("sk-proj", "-", letters(80))],
  ["openai_key", join("sk-", letters(20), "T3BlbkFJ", letters(20))],
  ["api_key", join("sk-", hex(32))],
  ["hugging_face_token", join("hf", "_", letters(34))],
  ["groq_key", join("gsk", "_", letters(52))],
  ["xai_key", join("xai", "-", letters(80))],
  ["replicate_token", join("r8", "_", letters(37))],
  ["perplexity_key", join("pplx", "-", letters(48))],
  ["recalld_key", join("rcl", "_", letters(49))],
  ["card_number", CARD],
  ["card_number", join("3782 822463 ", "10005")],
  ["card_number", join("55555555", "55554444")],
];
