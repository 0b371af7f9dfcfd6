/** Returns the connection string with another database in it. */
export function withDatabase(uri: string, name: string): string {
  return uri.replace(/^([^:]+:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`);
}
