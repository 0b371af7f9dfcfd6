/** Opens an account on a server. Returns its key. */
export async function signUp(url: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/signup`, { method: "POST", headers, body: "{}" });
  if (!answer.ok) throw new Error(`no account: HTTP ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { api_key: string }).api_key;
}
