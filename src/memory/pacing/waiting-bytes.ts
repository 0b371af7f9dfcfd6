/** Maximum bytes of waiting entries in all namespaces of a process. */
const ALL_WAITING_BYTES_MAX = 134_217_728;

/** Bytes of the waiting entries in all namespaces of a process. */
export class WaitingBytes {
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes >= ALL_WAITING_BYTES_MAX;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }
}
