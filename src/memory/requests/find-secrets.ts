/** How one kind of secret is found. */
interface SecretRule {
  readonly kind: string;
  /**
   * Finds candidates. Its last group, if it has one, ends the match and is the secret alone. A pattern begins with
   * fixed characters, and what may repeat without a bound ends it or is followed by a character that it cannot
   * hold: so a search takes time in proportion to the text, whatever the text is.
   */
  readonly pattern: RegExp;
  /** True if a candidate is one. */
  isSecret?(candidate: string): boolean;
}

/**
 * Kinds of secrets, each with what its issuer documents of its form. A library would be kept up by others, but
 * secretlint needs Node 22 and promises no bound of its time, and what else npm has is older or looks for personal data.
 */
export const SECRET_RULES: readonly SecretRule[] = [
  // RFC 7468, RFC 4880 (PGP): the body has no hyphens but in PGP's and PEM's old header lines. A key that was cut off
  // ends with its last line of Base64. In JSON the line ends are written as \n.
  {
    kind: "private_key",
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-\0]+(?:-[^-\0]+){0,6}-----END [A-Z0-9 ]{1,64}-----|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})+)/g,
    isSecret: (candidate) => /[A-Za-z0-9+/]{40}/.test(candidate),
  },
  { kind: "private_key", pattern: /AGE-SECRET-KEY-1[0-9A-Z]{58}/g },
  // RFC 7519: three parts in Base64url, of which the first two are objects of JSON, and so begin with eyJ.
  { kind: "jwt", pattern: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}/g },
  // docs.aws.amazon.com/IAM: reference_identifiers (AKIA, ASIA) and the names of its settings.
  { kind: "aws_access_key", pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/g },
  {
    kind: "aws_secret_key",
    pattern:
      /aws_?secret(?:_?access)?_?key["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
  },
  // learn.microsoft.com: connection strings of Azure Storage; 64 bytes in Base64.
  { kind: "azure_storage_key", pattern: /AccountKey=([A-Za-z0-9+/]{86}==)/g },
  // cloud.google.com: API keys; OAuth client secrets; access tokens.
  { kind: "google_api_key", pattern: /(?<![\w-])AIza[\w-]{35}(?![\w-])/g },
  { kind: "google_client_secret", pattern: /GOCSPX-[\w-]{28}(?![\w-])/g },
  { kind: "google_access_token", pattern: /(?<![\w-])ya29\.[\w-]{30,}/g },
  // docs.github.com: about-authentication-to-github, GitHub's token formats.
  { kind: "github_token", pattern: /(?<![A-Za-z0-9])gh[opsur]_[A-Za-z0-9]{36}[\w-]*(?:\.[\w-]+)*/g },
  { kind: "github_token", pattern: /github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}/g },
  // docs.gitlab.com/security/tokens: token prefixes.
  {
    kind: "gitlab_token",
    pattern: /(?<![A-Za-z0-9])gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[\w-]{20,}(?:\.[\w-]+)*/g,
  },
  // docs.npmjs.com and docs.pypi.org (a macaroon whose location is pypi.org).
  { kind: "npm_token", pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g },
  { kind: "pypi_token", pattern: /pypi-AgEIcHlwaS5vcmc[\w-]{50,}/g },
  // api.slack.com: token types and incoming webhooks.
  { kind: "slack_token", pattern: /(?<![A-Za-z0-9])xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{16,}/g },
  { kind: "slack_token", pattern: /(?<![A-Za-z0-9])xapp-\d-[A-Za-z0-9-]{16,}/g },
  {
    kind: "slack_webhook",
    pattern:
      /https:\/\/hooks\.slack\.com\/(?:services|workflows)\/[A-Z0-9]{8,16}\/[A-Z0-9]{8,20}\/[\w/]{16,}/g,
  },
  {
    kind: "discord_webhook",
    pattern: /https:\/\/discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,}/g,
  },
  // core.telegram.org/bots: the bot's id and 35 characters.
  { kind: "telegram_token", pattern: /(?<!\w)\d{8,10}:AA[\w-]{33}(?![\w-])/g },
  // docs.stripe.com/keys: secret and restricted keys; secrets of webhooks.
  { kind: "stripe_key", pattern: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g },
  { kind: "stripe_webhook_secret", pattern: /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{32,}/g },
  // shopify.dev, sendgrid.com, digitalocean.com, docs.databricks.com, developer.hashicorp.com/vault,
  // grafana.com, linear.app, developers.notion.com, developer.1password.com.
  { kind: "shopify_token", pattern: /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g },
  { kind: "sendgrid_key", pattern: /(?<![\w-])SG\.[\w-]{22}\.[\w-]{43}(?![\w-])/g },
  { kind: "digitalocean_token", pattern: /(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}/g },
  { kind: "databricks_token", pattern: /(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?![A-Za-z0-9])/g },
  { kind: "vault_token", pattern: /(?<![A-Za-z0-9])hv[bsr]\.[\w-]{24,}/g },
  { kind: "grafana_token", pattern: /(?<![A-Za-z0-9])gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}/g },
  { kind: "linear_key", pattern: /(?<![A-Za-z0-9])lin_(?:api|oauth)_[A-Za-z0-9]{32,}/g },
  { kind: "notion_token", pattern: /(?<![A-Za-z0-9])ntn_[A-Za-z0-9]{40,}/g },
  { kind: "onepassword_token", pattern: /(?<![A-Za-z0-9])ops_eyJ[\w+/=-]{100,}/g },
  // Keys of models' services, as their consoles make them.
  { kind: "anthropic_key", pattern: /(?<![A-Za-z0-9])sk-ant-[\w-]{20,}/g },
  { kind: "openrouter_key", pattern: /(?<![A-Za-z0-9])sk-or-v1-[0-9a-f]{64}/g },
  { kind: "openai_key", pattern: /(?<![A-Za-z0-9])sk-(?:proj|svcacct|admin)-[\w-]{20,}/g },
  { kind: "openai_key", pattern: /(?<![A-Za-z0-9])sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}/g },
  // The form that other services took over from OpenAI.
  { kind: "api_key", pattern: /(?<![A-Za-z0-9])sk-[A-Za-z0-9]{32,}/g },
  { kind: "hugging_face_token", pattern: /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{34,}/g },
  { kind: "groq_key", pattern: /(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{48,}/g },
  { kind: "xai_key", pattern: /(?<![A-Za-z0-9])xai-[A-Za-z0-9]{60,}/g },
  { kind: "replicate_token", pattern: /(?<![A-Za-z0-9])r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])/g },
  { kind: "perplexity_key", pattern: /(?<![A-Za-z0-9])pplx-[A-Za-z0-9]{40,}/g },
  // src/accounts/key.ts: our own keys, sessions and codes.
  { kind: "recalld_key", pattern: /(?<![A-Za-z0-9])rc[los]_[A-Za-z0-9]{49}(?![A-Za-z0-9])/g },
  // ISO/IEC 7812: 14 to 19 digits, in one piece or in groups as they are printed on cards, with a check digit.
  {
    kind: "card_number",
    pattern:
      /(?<!\w|\d[.,])(?:\d{14,19}|\d{4}(?:[ \u00a0-]\d{4}){3}(?:[ \u00a0-]\d{3})?|3\d{3}[ \u00a0-]\d{6}[ \u00a0-]\d{4,5})(?![\w]|[.,]\d)/g,
    isSecret: isCardNumber,
  },
];

/** Lengths of card numbers by how they begin, as their networks have published them. */
const CARDS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:30[0-5]|3[689])/, [14]],
  [/^(?:6011|64[4-9]|65)/, [16, 19]],
  [/^(?:352[89]|35[3-8])/, [16]],
  [/^62/, [16, 17, 18, 19]],
];

function isCardNumber(candidate: string): boolean {
  const digits = candidate.replace(/\D/g, "");
  return (
    CARDS.some(([start, lengths]) => lengths.includes(digits.length) && start.test(digits)) && luhn(digits)
  );
}

/** True if the last digit is the check digit of the others (ISO/IEC 7812-1, annex B). */
function luhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** A secret in a string; places are UTF-16 units. */
export interface SecretSpan {
  readonly kind: string;
  readonly start: number;
  /** Behind its last unit. */
  readonly end: number;
}

/** Finds what looks like secrets, in order and without overlaps. The time is in proportion to the string. */
export function findSecrets(text: string): SecretSpan[] {
  const spans = SECRET_RULES.flatMap(({ kind, pattern, isSecret = () => true }) =>
    [...text.matchAll(pattern)].flatMap(({ index, 0: match, 1: secret = match }) => {
      const end = index + match.length;
      return isSecret(secret) ? [{ kind, start: end - secret.length, end }] : [];
    }),
  );
  return withoutOverlaps(spans.sort((a, b) => a.start - b.start));
}

/** Joins spans that overlap: the first one names the kind. */
function withoutOverlaps(spans: readonly SecretSpan[]): SecretSpan[] {
  const apart: SecretSpan[] = [];
  for (const span of spans) {
    const last = apart.at(-1);
    if (last === undefined || span.start >= last.end) apart.push(span);
    else if (span.end > last.end) apart[apart.length - 1] = { ...last, end: span.end };
  }
  return apart;
}
