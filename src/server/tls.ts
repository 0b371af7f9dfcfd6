import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { MemoryError } from "../errors.js";

/** A certificate (its chain with it) and its key, in PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Reads what HTTPS needs and makes sure that it belongs together, so that a mistake is found at the
 * start and not by the first visitor.
 *
 * @throws MemoryError `failed_precondition`, naming the setting.
 */
export async function readTls(files: { certFile: string; keyFile: string }): Promise<TlsFiles> {
  const cert = await read("TLS_CERT", files.certFile);
  const key = await read("TLS_KEY", files.keyFile);
  parse(`TLS_CERT ${files.certFile} does not hold a certificate in PEM`, () => new X509Certificate(cert));
  parse(`TLS_KEY ${files.keyFile} does not hold a key without a passphrase in PEM`, () =>
    createPrivateKey(key),
  );
  const mismatch = `TLS_KEY ${files.keyFile} is not the key of TLS_CERT's certificate`;
  parse(mismatch, () => createSecureContext({ cert, key }));
  return { cert, key };
}

async function read(setting: string, file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    const reasons: Record<string, string> = {
      ENOENT: "there is no such file",
      EACCES: "this user may not read it",
      EISDIR: "it is a folder",
    };
    throw wrong(`${setting} ${file} cannot be read: ${reasons[error.code ?? ""] ?? error.message}`);
  });
}

function parse(otherwise: string, make: () => unknown): void {
  try {
    make();
  } catch (error) {
    throw wrong(otherwise, error);
  }
}

function wrong(message: string, cause?: unknown): MemoryError {
  return new MemoryError("failed_precondition", message, { cause });
}
