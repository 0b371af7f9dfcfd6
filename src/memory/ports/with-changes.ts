/** Wraps a port and replaces some of its methods. */
export function withChanges<T extends object>(port: T, changes: Partial<T>): T {
  return new Proxy(port, {
    get: (_, name) => {
      const method = changes[name as keyof T] ?? port[name as keyof T];
      return typeof method === "function" ? method.bind(port) : method;
    },
  });
}
