import type { FastifyInstance } from "fastify";
import { MemoryError } from "../../errors.js";

/**
 * Begins to listen and returns the address. @throws MemoryError `failed_precondition`, naming the setting.
 */
export async function listen(
  app: FastifyInstance,
  { host, port, tls, setting = "PORT" }: { host: string; port: number; tls?: unknown; setting?: string },
): Promise<string> {
  try {
    const address = await app.listen({ host, port });
    // Fastify did not make the server, and so does not know of its TLS.
    return tls === undefined ? address : address.replace(/^http:/, "https:");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new MemoryError("failed_precondition", `${setting} ${port} on ${host} is in use`);
    if (code === "EACCES")
      throw new MemoryError("failed_precondition", `${setting} ${port} on ${host} needs privileges`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
      throw new MemoryError("failed_precondition", `HOST ${host} is not an address of this machine`);
    }
    throw error;
  }
}
