/** What secrets are called in a sentence, by their kind; kinds never change their meaning. */
export const SECRET_KINDS = {
  aws_access_key: "an AWS access key",
  aws_secret_key: "an AWS secret key",
  github_token: "a GitHub token",
  gitlab_token: "a GitLab token",
  slack_token: "a Slack token",
  stripe_key: "a Stripe key",
  openai_key: "an OpenAI key",
  anthropic_key: "an Anthropic key",
  google_key: "a Google key",
  jwt: "a JSON web token",
  api_token: "an API key or token",
  webhook_url: "a webhook address",
  connection_string: "a connection string with a password",
  private_key: "a private key",
  seed_phrase: "a seed phrase",
  payment_card: "a payment card number",
  password: "a password",
} as const satisfies Readonly<Record<string, string>>;

/** Kind of a secret. */
export type SecretKind = keyof typeof SECRET_KINDS;

/** A secret in a text, in UTF-16 units: from `start` to before `end`. */
export interface Finding {
  readonly kind: SecretKind;
  readonly start: number;
  readonly end: number;
}
